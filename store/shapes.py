"""How large the base and the packs of a compacted site are, and filling them. Pure.

Reading a page decompresses the base and one pack, so what the one gets the other has not. Pages that resemble their
neighbours want large packs, pages of one large template want a large base: which is better differs between sites by
up to a factor of two, so shapes are tried with fast compression, the base larger each time while that pays.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from blocks.model import Capture
from store.building import IN_COMPACTION, Builder, Make, NewPack
from store.known import Known
from store.layout import Layout, choose_base

READ_BYTES = 960 << 10
"""Base and pack together: with their heads, what reading a page decompresses stays below MAX_READ_BYTES."""

BASE_SHARES = (1 / 2, 2 / 3, 3 / 4)
"""What the base may have of READ_BYTES; a pack has the rest."""

TRIAL_LEVEL = 3

Captures = Callable[[], Iterable[Capture]]
"""A site's captures in order, from the beginning each time, and the same each time."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a site is compacted: its base and the tokens to replace, and how its packs are made."""

    layout: Layout
    make: Make


def choose_shape(captures: Captures, n_captures: int, *, read_bytes: int = READ_BYTES) -> Shape:
    """Return the shape that takes least of those tried; the first when that fits into a base and one pack."""
    best = shaped(captures, n_captures, BASE_SHARES[0], read_bytes)
    n_packs, least = _tried(captures, n_captures, best)
    for share in BASE_SHARES[1:] if n_packs > 2 else ():
        shape = shaped(captures, n_captures, share, read_bytes)
        _, size = _tried(captures, n_captures, shape)
        if size >= least:
            break
        best, least = shape, size
    return best


def shaped(captures: Captures, n_captures: int, base_share: float, read_bytes: int = READ_BYTES) -> Shape:
    """Return the shape whose base has this share of what reading a page may decompress."""
    base_bytes = int(read_bytes * base_share) >> 10 << 10
    make = replace(IN_COMPACTION, pack_bytes=read_bytes - base_bytes)
    return Shape(choose_base(captures, n_captures, base_bytes, make.pack_bytes), make)


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
    whole = layout.whole if n_captures > 1 else frozenset()
    if n_captures > 1:
        builder.base(layout.base)
    for is_first in (True, False):
        for number, capture in enumerate(captures()):
            if (number in whole) == is_first:
                builder.add(capture, layout.pairs[number])
                yield from builder.take()
        builder.flush()
        yield from builder.take()
