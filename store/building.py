"""Captures into packs: known blocks become runs, new ones are appended to the open pack. Pure."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import zstandard

from blocks.model import Capture, body_digest
from blocks.partition import partition
from store import recipes
from store.kinds import is_page
from store.known import LARGE_BYTES, Form, Known, Runs
from store.matching import NEW, SELF, Match, Tail, append, match, restrict
from store.models import ARRIVAL, COMPACTED, PRIVATE
from store.packs import MAX_READ_BYTES, Codec, Head, encode_head
from store.tokens import Pairs, canonical, find_tokens

logger = logging.getLogger(__name__)

PACK_CAPTURES = 200
"""Captures in a pack at the most: bounds what a look at one head costs."""

BASE_BYTES = 1 << 13
"""The first pack of a site with so many bytes becomes the dictionary of those that follow."""

TOKEN_BYTES = 512
"""Tokens are looked for in pages with more new bytes."""

MAX_NEEDS = 16
"""Other packs that one page may need at the most."""

PACK_BODIES = 32 << 20
"""Bytes of bodies that a pack gives back at the most: what a builder holds in memory."""


@dataclass(frozen=True, slots=True)
class Make:
    """How packs are made. `pack_bytes` closes a pack; `remember` lets later packs refer to its blocks; `parameters` are
    those of zstd that are not the level's."""

    kind: int
    level: int
    pack_bytes: int
    join_bytes: int
    remember: bool
    parameters: Mapping[str, int] = field(default_factory=dict)


_LAZY = {"strategy": zstandard.STRATEGY_LAZY, "search_log": 5, "hash_log": 19, "chain_log": 18}

ON_ARRIVAL = Make(ARRIVAL, level=9, pack_bytes=1 << 17, join_bytes=64, remember=True, parameters=_LAZY)
"""Small packs, so that a page may need a compacted base and pack beside its own. Looking one byte ahead instead of two,
but at twice the candidates, in tables that fit the processor's cache: two thirds to nine tenths of level 9's time, for
within 0.3 % of its bytes."""

IN_COMPACTION = Make(COMPACTED, level=22, pack_bytes=480 << 10, join_bytes=128, remember=False)
"""A page needs its pack and the base, and nothing else; `store.shapes` says how large the packs are."""


@dataclass(frozen=True, slots=True)
class NewPack:
    """A pack to be written: its columns, and its captures in the order of their slots."""

    id: int
    kind: int
    base: int | None
    raw: int
    blocks: int
    recipes: int
    """Bytes of its encoded recipes."""
    needs: tuple[int, ...]
    head: bytes
    body: bytes
    captures: tuple[Capture, ...]
    sizes: tuple[int, ...]
    """Bytes of the captures' bodies."""
    exact: int
    """Bytes of bodies that the site did not have yet."""


@dataclass(slots=True)
class _Open:
    """The pack being filled."""

    tail: Tail
    captures: list[Capture] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    needs: set[int] = field(default_factory=set)
    bodies: dict[bytes, Form] = field(default_factory=dict)
    exact: int = 0
    n_bytes: int = 0

    @property
    def id(self) -> int:
        return self.tail.id

    def put(self, capture: Capture, digest: bytes, form: Form) -> None:
        self.captures.append(capture)
        self.digests.append(digest)
        self.forms.append(form)
        self.needs.update(run[0] for run in form[0])
        self.needs.discard(self.id)
        self.n_bytes += len(capture.body)


@dataclass(frozen=True, slots=True)
class _Parts:
    """A body with the site's tokens, the tokens to put back, and what `match` found of it."""

    body: bytes
    pairs: Pairs
    found: Match

    def new_text(self) -> bytes:
        """Return the bytes that the site does not have."""
        return b"".join([self.body[s.start : s.stop] for s in self.found[0] if not s.source])


class Builder:
    """Turns the captures of one site into packs. `ids` gives the numbers of packs, ascending."""

    def __init__(self, known: Known, ids: Iterable[int], make: Make = ON_ARRIVAL) -> None:
        self.known = known
        self._packs: list[NewPack] = []
        self._raws: dict[int, bytes | bytearray] = {}
        """Raw bodies of packs that the database may not have yet."""
        self._ids = iter(ids)
        self._make = make
        self._open: _Open | None = None
        self._codecs: dict[int, tuple[Codec, Codec]] = {}
        self._had_tokens = False
        """Whether tokens were replaced in the last page."""
        self._is_base = False
        """Whether the open pack is to be the base."""

    def add(self, capture: Capture, pairs: Pairs | None = None) -> None:
        """Take one capture. `pairs` are the tokens to replace in it, found here when they are None."""
        if capture.private:
            self._alone(capture, PRIVATE)
            return
        digest = body_digest(capture.body)
        form = self._body(digest, capture.body)
        if form is not None:
            if len(self._opened().needs | {run[0] for run in form[0]}) > recipes.MAX_SOURCES:
                self.flush()
            self._opened().put(capture, digest, form)
        elif not is_page(capture) and len(capture.body) > LARGE_BYTES:
            self._alone(capture, self._make.kind)
        else:
            self._fit(capture, digest, pairs)
        if self._open and not self._is_base and self._is_full(self._open):
            self.flush()

    def base(self, blocks: list[bytes]) -> None:
        """Make these blocks the site's base: the raw body of the open pack, which only `flush` closes."""
        self._is_base = True
        tail = self._opened().tail
        for block in blocks:
            segments, new = match(block, [block], self.known, tail, 0)
            append(block, segments, new, tail, 0)

    def take(self) -> list[NewPack]:
        """Return the packs that were closed since the last time, to be written before more is added."""
        packs, self._packs = self._packs, []
        self._raws.clear()
        return packs

    def flush(self) -> None:
        """Close the open pack; its blocks are known from now on when the make says so, or it is to be the base."""
        pack, self._open = self._open, None
        is_base, self._is_base = self._is_base, False
        if pack is None or not (pack.captures or (is_base and pack.tail.raw)):
            return
        raw, known = bytes(pack.tail.raw), self.known
        places = {d: (pack.id, offset) for d, offset in pack.tail.places.items() if d not in known.places}
        closed, head = self._closed(pack, raw, self._make.kind, known.base, len(places))
        self._packs.append(closed)
        known.bodies.update(pack.bodies)
        known.sizes[pack.id] = len(raw)
        self._raws[pack.id] = raw
        if not (self._make.remember or is_base):
            return
        known.raws[pack.id] = raw
        known.places.update(places)
        if not known.base and (is_base or len(raw) >= BASE_BYTES):
            known.base, known.base_head = pack.id, head

    def _is_full(self, pack: _Open) -> bool:
        full = len(pack.tail.raw) >= self._make.pack_bytes or len(pack.captures) >= PACK_CAPTURES
        return full or pack.n_bytes >= PACK_BODIES

    def _opened(self) -> _Open:
        if self._open is None:
            self._open = _Open(Tail(next(self._ids)))
        return self._open

    def _alone(self, capture: Capture, kind: int) -> None:
        """Give a capture a pack of its own, without a base, that is not kept in memory."""
        digest = body_digest(capture.body)
        pack = _Open(Tail(next(self._ids)), exact=len(capture.body))
        runs = ((pack.id, 0, len(capture.body)),) if capture.body else ()
        pack.put(capture, digest, (runs, ()))
        self._packs.append(self._closed(pack, capture.body, kind, 0, min(len(runs), 1))[0])
        if kind != PRIVATE:
            self.known.bodies[digest] = runs, ()
            self.known.sizes[pack.id] = len(capture.body)
            self._raws[pack.id] = capture.body

    def _body(self, digest: bytes, body: bytes) -> Form | None:
        """Return how a body that was kept before is kept, compared byte by byte."""
        pack = self._open
        form = self.known.bodies.get(digest) or (pack.bodies.get(digest) if pack else None)
        more = self._raws | ({pack.id: pack.tail.raw} if pack else {})
        return form if form is not None and self.known.holds(form, body, more) else None

    def _fit(self, capture: Capture, digest: bytes, pairs: Pairs | None) -> None:
        """Put a body into the open pack, or into the next one when that gets too full."""
        pack = self._opened()
        parts = self._parts(capture, pack.tail, pairs)
        mark = pack.tail.mark()
        form = self._form(parts, pack.tail)
        needs = pack.needs | {run[0] for run in form[0]}
        too_full = len(pack.tail.raw) > self._make.pack_bytes or len(needs) > recipes.MAX_SOURCES
        if pack.captures and too_full and not self._is_base:
            pack.tail.cut(mark)
            self.flush()
            pack = self._opened()
            if not self._make.remember:  # what it has found is in a pack that no other may need
                parts = self._looked_up(capture, pack.tail, parts.pairs)
            form = self._form(parts, pack.tail)
        if not self.known.holds(form, capture.body, self._raws | {pack.id: pack.tail.raw}):
            logger.error("%s: its recipe does not give the page back; kept whole instead", capture.url)
            form = ((pack.id, len(pack.tail.raw), len(capture.body)),), ()
            pack.tail.raw += capture.body
        pack.exact += len(capture.body)
        pack.bodies[digest] = form
        pack.put(capture, digest, form)

    def _parts(self, capture: Capture, tail: Tail, pairs: Pairs | None) -> _Parts:
        """Cut a body into blocks and look for them; replace its tokens where the site has others of their kind."""
        kinds = self.known.kinds
        look = pairs is None and is_page(capture)
        if look and self._had_tokens:  # then this page has some as well: save a second look at its blocks
            pairs = kinds.pairs(capture.body, find_tokens(capture.body))
        parts = self._looked_up(capture, tail, pairs or ())
        if look:
            text = parts.new_text()
            tokens = find_tokens(text)
            if not pairs and len(text) > TOKEN_BYTES and (pairs := kinds.pairs(capture.body, tokens)):
                parts = self._looked_up(capture, tail, pairs)
                tokens = find_tokens(parts.new_text())
            kinds.learn(tokens)
            self._had_tokens = bool(pairs)
        return parts

    def _looked_up(self, capture: Capture, tail: Tail, pairs: Pairs) -> _Parts:
        body = canonical(capture.body, pairs)
        if not body:
            pieces = []
        else:
            pieces = partition(body).pieces() if is_page(capture) else [body]
        return _Parts(body, pairs, match(body, pieces, self.known, tail, self._make.join_bytes))

    def _form(self, parts: _Parts, tail: Tail) -> Form:
        """Append what of a body is new to the open pack, within the bound on what reading it may cost."""
        segments, new = parts.found
        used: dict[int, int] = {}
        for segment in segments:
            used[segment.source] = used.get(segment.source, 0) + segment.stop - segment.start
        allowed = self._affordable(used, tail, len(parts.body))
        if allowed is not None:
            segments = restrict(segments, allowed)
        return append(parts.body, segments, new, tail, self._make.join_bytes), parts.pairs

    def _affordable(self, used: dict[int, int], tail: Tail, size: int) -> frozenset[int] | None:
        """Return the packs that a page may refer to, those it uses most; None when it may use all it does."""
        sizes, base = self.known.sizes, self.known.base
        others = used.keys() - {NEW, SELF, tail.id}
        budget = max(MAX_READ_BYTES, size) - max(self._make.pack_bytes, len(tail.raw)) - sizes.get(base, 0)
        left = MAX_NEEDS - 1
        chosen = {base}
        for source in sorted(others, key=lambda s: (-used[s], s)):
            if source != base and sizes[source] <= budget and left:
                budget, left = budget - sizes[source], left - 1
                chosen.add(source)
        return None if chosen >= others else frozenset({*chosen, SELF, tail.id})

    def _codecs_of(self, base: int) -> tuple[Codec, Codec]:
        """Return what encodes heads and bodies with a base, 0 for none; a dictionary is digested once."""
        if base not in self._codecs:
            make, known = self._make, self.known
            head, raw = (known.base_head, known.raw(base)) if base else (b"", b"")
            self._codecs[base] = Codec(make.level, head, make.parameters), Codec(make.level, raw, make.parameters)
        return self._codecs[base]

    def _closed(self, pack: _Open, raw: bytes, kind: int, base: int, n_blocks: int) -> tuple[NewPack, bytes]:
        needs = sorted(pack.needs)
        sources = {pack.id: 0, **{need: i + 1 for i, need in enumerate(needs)}}
        runs = [[(sources[run[0]], run[1], run[2]) for run in form[0]] for form in pack.forms]
        encoded = recipes.encode(runs)
        captures = [replace(c, body=b"") for c in pack.captures]
        head = encode_head(Head(needs, captures, pack.digests, tokens=[form[1] for form in pack.forms]), encoded)
        head_codec, body_codec = self._codecs_of(base)
        new = NewPack(
            *(pack.id, kind, base or None, len(raw), n_blocks, len(encoded)),
            tuple(sorted({*needs, *([base] if base else [])})),
            head_codec.encode(head),
            body_codec.encode(raw),
            tuple(pack.captures),
            tuple(_size(form[0]) for form in pack.forms),
            pack.exact,
        )
        return new, head


def _size(runs: Runs) -> int:
    return sum(run[2] for run in runs)
