"""What a writer knows of a site: where its blocks and bodies stand in the site's packs.

Derived from the packs, never stored. Pure but for the function that loads a raw body.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import xxhash

from blocks.model import Capture, Recipe, Run, compose
from store.packing.kinds import is_page, pieces_of
from store.packing.packs import Head
from store.packing.tokens import Kinds, Pairs, canonical, find_tokens

LARGE_BYTES = 1 << 16
"""A body that is no page and larger than this has a pack of its own, which is not kept in memory."""

Place = tuple[int, int]
"""A pack's id and an offset in its raw body."""

Runs = tuple[tuple[int, int, int], ...]
"""A recipe with packs' ids as sources: (pack, offset, length)."""

Form = tuple[Runs, Pairs]
"""How a body is kept: its runs, and the tokens to put back into them."""


@dataclass(slots=True)
class Known:
    """The blocks and bodies of one site, as far as they were loaded.

    `raws` are raw bodies by pack, `base_head` is the base's raw head; `places` tells by xxh3-128 where a block with
    that digest stands; `bodies` has by digest the form of a body; `kinds` the site's tokens. `load` gives the
    raw body of a pack that is not among `raws`.
    """

    site: int
    name: str
    load: Callable[[int], bytes]
    base: int = 0
    base_head: bytes = b""
    writes: int = 0
    raws: dict[int, bytes] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    places: dict[bytes, Place] = field(default_factory=dict)
    bodies: dict[bytes, Form] = field(default_factory=dict)
    canonicals: dict[bytes, Runs] = field(default_factory=dict)
    kinds: Kinds = field(default_factory=Kinds)
    unread: list[int] = field(default_factory=list)
    """Packs whose tokens were not looked for: nobody asks before there is another page."""
    unplaced: dict[int, dict[bytes, int]] = field(default_factory=dict)
    """Packs whose blocks are not among `places` yet, for the same reason: by digest, their offsets."""

    @property
    def n_bytes(self) -> int:
        """An estimate of the memory held: raw bodies, and some 200 bytes for each block and body."""
        n_digests = len(self.places) + len(self.bodies) + len(self.canonicals)
        n_digests += sum(map(len, self.unplaced.values()))
        return sum(map(len, self.raws.values())) + 200 * n_digests

    def raw(self, pack: int) -> bytes:
        """Return the raw body of a pack."""
        found = self.raws.get(pack)
        return self.load(pack) if found is None else found

    def holds(self, form: Form, body: bytes, more: Mapping[int, bytes | bytearray]) -> bool:
        """Tell whether a form gives exactly this body; `more` has raw bodies that are not packs yet."""
        runs, pairs = form
        body = canonical(body, pairs) if pairs else body
        raws = {pack: more[pack] if pack in more else self.raw(pack) for pack in {run[0] for run in runs}}
        return b"".join([raws[pack][offset : offset + length] for pack, offset, length in runs]) == body

    def add_pack(self, pack: int, raw: bytes) -> None:
        """Hold a pack's raw body, without its blocks' places."""
        self.raws[pack] = raw
        self.sizes[pack] = len(raw)
        self.unread.append(pack)

    def place(self) -> None:
        """Put the blocks of packs that are unplaced among `places`."""
        for pack, offsets in self.unplaced.items():
            for digest, offset in offsets.items():
                self.places.setdefault(digest, (pack, offset))
        self.unplaced.clear()

    def read_tokens(self, more: Mapping[int, bytes | bytearray]) -> None:
        """Learn the tokens of packs that are unread; `more` has raw bodies that are not packs yet."""
        for pack in self.unread:
            raw = more.get(pack) or self.raws.get(pack)
            if raw:
                self.kinds.learn(find_tokens(bytes(raw)))
        self.unread.clear()

    def forget(self, packs: Iterable[int]) -> None:
        """Drop all that stands in packs which are gone."""
        gone = set(packs)
        self.place()
        for pack in gone:
            self.raws.pop(pack, None)
            self.sizes.pop(pack, None)
        self.places = {digest: place for digest, place in self.places.items() if place[0] not in gone}
        self.bodies = {d: form for d, form in self.bodies.items() if not any(run[0] in gone for run in form[0])}
        self.canonicals = {d: runs for d, runs in self.canonicals.items() if not any(run[0] in gone for run in runs)}
        if self.base in gone:
            self.base = 0

    def learn(self, pack: int, head: Head, seen: dict[int, list[tuple[int, int]]]) -> None:
        """Find the blocks of a pack's captures again, by partitioning the pages with bytes that were not seen before.

        Packs they need must be among `raws`, or for bodies as a whole `sizes`; captures that need others are passed
        over. `seen` is kept from pack to pack: what of their raw bodies was covered.
        """
        self.place()
        for slot, capture in enumerate(head.captures):
            runs = absolute(pack, head, slot)
            if all(source in self.sizes for source, *_ in runs):
                self.bodies.setdefault(head.digests[slot], (runs, head.tokens[slot]))
            if capture.private or not all(source in self.raws for source, *_ in runs):
                continue
            if any(_is_new(seen, run) for run in runs):
                whole = replace(capture, body=compose(_recipe(runs), self.raws))
                self.canonicals.setdefault(xxhash.xxh3_128_digest(whole.body), runs)
                self._index(whole, runs)

    def _index(self, capture: Capture, runs: Runs) -> None:
        if not is_page(capture):
            if len(capture.body) <= LARGE_BYTES:
                for piece, place in _placed([capture.body], runs):
                    self.places.setdefault(xxhash.xxh3_128_digest(piece), place)
            return
        for piece, place in _placed(pieces_of(capture), runs):
            self.places.setdefault(xxhash.xxh3_128_digest(piece), place)


def absolute(pack: int, head: Head, slot: int) -> Runs:
    """Return a capture's recipe with packs' ids as sources."""
    packs = (pack, *head.needs)
    return tuple((packs[run.source], run.offset, run.length) for run in head.recipes.recipe(slot).runs)


def _recipe(runs: Runs) -> Recipe:
    return Recipe(tuple(Run(*run) for run in runs))


def _is_new(seen: dict[int, list[tuple[int, int]]], run: tuple[int, int, int]) -> bool:
    """Tell whether a run reaches beyond what was seen of its pack, and note it."""
    pack, offset, length = run
    spans = seen.setdefault(pack, [])
    if any(start <= offset and offset + length <= stop for start, stop in spans[-64:]):
        return False
    spans.append((offset, offset + length))
    return True


def _placed(pieces: list[bytes], runs: Runs) -> Iterator[tuple[bytes, Place]]:
    """Yield the pieces that lie within one run, with their places."""
    parts = iter(runs)
    pack, offset, left = next(parts, (0, 0, 0))
    for piece in pieces:
        size = len(piece)
        if size <= left:
            yield piece, (pack, offset)
        while size >= left and size:
            size -= left
            pack, offset, left = next(parts, (0, 0, 0))
            if not left:
                return
        offset, left = offset + size, left - size
