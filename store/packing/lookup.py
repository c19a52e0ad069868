"""What of a body its site has already: its blocks, looked for once its tokens are those of the site. Pure.

Each page of a forum has a session id of its own in a hundred links; with the site's in its place its blocks are known.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import xxhash

from blocks.model import Capture
from store.packing.cutting import Cut, cut_alike
from store.packing.filling import OpenPack
from store.packing.kinds import is_page
from store.packing.known import Known
from store.packing.making import Make
from store.packing.matching import NEW, Match, Segment, match
from store.packing.tokens import Pairs, canonical, find_tokens

TOKEN_BYTES = 512
"""Tokens are looked for in pages with more new bytes."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A body with the site's tokens, the tokens to put back, its blocks, and what `match` found of it."""

    body: bytes
    pairs: Pairs
    pieces: list[bytes]
    found: Match

    def new_text(self) -> bytes:
        """Return the bytes that the site does not have."""
        return b"".join([self.body[s.start : s.stop] for s in self.found[0] if not s.source])

    def used(self) -> dict[int, int]:
        """Return how many bytes stand in each source."""
        used = {NEW: 0}
        for segment in self.found[0]:
            used[segment.source] = used.get(segment.source, 0) + segment.stop - segment.start
        return used


class Lookup:
    """Looks bodies up among what is `known` of a site, one after the other. `raws` are raw bodies of packs that the
    database may not have yet; `cut` cuts pages."""

    def __init__(self, known: Known, make: Make, raws: Mapping[int, bytes | bytearray], cut: Cut) -> None:
        self._known, self._make, self._raws, self._cut = known, make, raws, cut
        self._had_tokens = False
        """Whether tokens were replaced in the last page."""

    def first(self, capture: Capture, pack: OpenPack, pairs: Pairs | None) -> Parts:
        """Cut a body into blocks and look for them; replace its tokens where the site has others of their kind. `pairs`
        are the tokens to replace, found here when they are None."""
        kinds = self._known.kinds
        look = pairs is None and is_page(capture) and not self.knows_no_tokens()
        if look:
            self._known.read_tokens(self._with(pack))
        if look and self._had_tokens:  # then this page has some as well: save a second look at its blocks
            pairs = kinds.pairs(capture.body, find_tokens(capture.body))
        parts = self._looked_up(capture, pack, pairs or ())
        if look:
            text = parts.new_text()
            tokens = find_tokens(text)
            if not pairs and len(text) > TOKEN_BYTES and (pairs := kinds.pairs(capture.body, tokens)):
                parts = self._looked_up(capture, pack, pairs, parts.pieces)
                tokens = find_tokens(parts.new_text())
            kinds.learn(tokens)
            self._had_tokens = bool(pairs)
        return parts

    def again(self, capture: Capture, pack: OpenPack, before: Parts) -> Parts:
        """Look for the blocks of a body that was looked up beside another open pack."""
        return self._looked_up(capture, pack, before.pairs, before.pieces)

    def knows_no_tokens(self) -> bool:
        """Tell whether nothing is known of the site's tokens: none were looked for, and none can be."""
        return not (self._known.kinds.n_texts or self._known.unread)

    def _looked_up(self, capture: Capture, pack: OpenPack, pairs: Pairs, pieces: list[bytes] | None = None) -> Parts:
        """Look for a body's blocks; `pieces` are those that it has with other tokens, or its own."""
        body = canonical(capture.body, pairs)
        if pairs and (segments := self._same(body, pack)):
            return Parts(body, pairs, [body], (segments, {}))
        if pieces is not None:
            pieces = cut_alike(body, pieces)
        elif body:
            pieces = self._cut(body) if is_page(capture) else [body]
        else:
            pieces = []
        return Parts(body, pairs, pieces, match(body, pieces, self._known, pack.tail, self._make.join_bytes))

    def _same(self, body: bytes, pack: OpenPack) -> list[Segment]:
        """Return the segments of a body that but for its tokens was kept before, compared byte by byte; else none."""
        digest = xxhash.xxh3_128_digest(body)
        runs = self._known.canonicals.get(digest) or pack.canonicals.get(digest)
        if runs is None or not self._make.remember or not self._known.holds((runs, ()), body, self._with(pack)):
            return []
        ends = itertools.accumulate(run[2] for run in runs)
        return [Segment(run[0], run[1], end - run[2], end) for run, end in zip(runs, ends, strict=True)]

    def _with(self, pack: OpenPack) -> dict[int, bytes | bytearray]:
        """Return the raw bodies that the database does not have, that of an open pack among them."""
        return {**self._raws, pack.id: pack.tail.raw}
