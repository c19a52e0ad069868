"""How large the base and the packs of a compacted site are, and filling them. Pure.

Reading a page decompresses the base and one pack, so what the one gets the other has not. Pages that resemble their
neighbours want large packs, pages of one large template want a large base: which is better differs between sites by
up to a factor of two, and not steadily, so several shapes are tried with fast compression.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from blocks.model import Capture
from store.packing.building import IN_COMPACTION, Builder, Make, NewPack
from store.packing.known import Known
from store.packing.layout import Layout, choose_base
from store.packing.packs import MAX_READ_BYTES

HEAD_BYTES = 64 << 10
"""Room for the heads of base and pack; where theirs are larger, packs are smaller."""

READ_BYTES = MAX_READ_BYTES - HEAD_BYTES
"""Base and pack together."""

BASE_SHARES = (1 / 4, 3 / 8, 1 / 2, 2 / 3, 5 / 6)
"""What the base may have of READ_BYTES; a pack has the rest."""

FIRST_SHARE = 1 / 2

GAIN = 0.98
"""What a smaller base must bring the bytes down to: strong compression takes back smaller gains (books: 0.995 tried
with a quarter, 1.011 when it was done). It keeps those of larger bases (forum: 0.996 tried with two thirds, 0.991)."""

TRIAL_LEVEL = 3

Captures = Callable[[], Iterable[Capture]]
"""A site's captures in order, from the beginning each time, and the same each time."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a site is compacted: its base and the tokens to replace, and how its packs are made."""

    layout: Layout
    make: Make


def choose_shape(captures: Captures, n_captures: int, *, read_bytes: int = READ_BYTES) -> Shape:
    """Return the shape that takes least of those tried, the first when that fits into a base and one pack."""
    best = shaped(captures, n_captures, FIRST_SHARE, read_bytes)
    n_packs, first = _tried(captures, n_captures, best)
    least = first
    for share in BASE_SHARES if n_packs > 2 else ():
        if share == FIRST_SHARE:
            continue
        shape = shaped(captures, n_captures, share, read_bytes)
        _, size = _tried(captures, n_captures, shape)
        if size < (min(least, GAIN * first) if share < FIRST_SHARE else least):
            best, least = shape, size
    return best


def shaped(captures: Captures, n_captures: int, base_share: float, read_bytes: int = READ_BYTES) -> Shape:
    """Return the shape whose base has this share of what reading a page may decompress."""
    base_bytes = int(read_bytes * base_share) >> 10 << 10
    make = beside(base_bytes, read_bytes)
    return Shape(choose_base(captures, n_captures, base_bytes, make.pack_bytes), make)


def beside(base_bytes: int, read_bytes: int = READ_BYTES) -> Make:
    """Return how packs are made beside a base of so many bytes."""
    return replace(IN_COMPACTION, pack_bytes=read_bytes - base_bytes, read_bytes=read_bytes + HEAD_BYTES)


def share_of(raw: int) -> float:
    """Return the share that a base of so many bytes was made with, about."""
    return next((share for share in BASE_SHARES if raw <= share * READ_BYTES), BASE_SHARES[-1])


def _tried(captures: Captures, n_captures: int, shape: Shape) -> tuple[int, int]:
    """Return into how many packs a site goes, and their bytes with fast compression."""
    known = Known(0, "", lambda pack: b"")
    builder = Builder(known, count(1), replace(shape.make, level=TRIAL_LEVEL))
    sizes = [len(pack.head) + len(pack.body) for pack in fill(builder, shape.layout, captures, n_captures)]
    return len(sizes), sum(sizes)


def fill(builder: Builder, layout: Layout, captures: Captures, n_captures: int) -> Iterator[NewPack]:
    """Yield the packs of a site as they are closed: first the base, with the captures that are in it whole."""
    whole: set[int] = set()
    if n_captures > 1:
        builder.base(layout.base)
        for number, capture in enumerate(captures()):
            if number in layout.whole and builder.sample(capture, layout.pairs[number]):
                whole.add(number)
        builder.flush()
        yield from builder.take()
    for number, capture in enumerate(captures()):
        if number not in whole:
            builder.add(capture, layout.pairs[number])
            yield from builder.take()
    builder.flush()
    yield from builder.take()
