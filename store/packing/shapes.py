"""How large the base and the packs of a compacted site are, and filling them. Pure.

Reading a page decompresses the base and one pack, so what the one gets the other has not. Pages that resemble their
neighbours want large packs, pages of one large template want a large base: which is better differs between sites by
up to a factor of two, and not steadily, so several shapes are tried with fast compression.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, count

from blocks.model import Capture
from store.packing.building import Builder, NewPack
from store.packing.cutting import Cut
from store.packing.known import Known
from store.packing.layout import Layout, Survey, choose_base
from store.packing.making import IN_COMPACTION, Make
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

TRIED_BYTES, STRETCHES = 64 << 20, 4
"""Bodies that shapes are tried with, and in how many stretches of neighbours they are. 8 MiB are too few: of a site of
large pages five packs, with which a shape seemed best that took a tenth more than another."""

Captures = Callable[[], Iterable[Capture]]
"""A site's captures in order, from the beginning each time, and the same each time."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a site is compacted: its base and the tokens to replace, how its packs are made, and what cuts its pages."""

    layout: Layout
    make: Make
    cut: Cut


def choose_shape(captures: Captures, site: Survey, *, read_bytes: int = READ_BYTES) -> Shape:
    """Return the shape that takes least of those tried, the first when that fits into a base and one pack. The captures
    must come as they were surveyed."""
    best = shaped(captures, site, FIRST_SHARE, read_bytes)
    n_packs, first = _tried(captures, site, best)
    least = first
    for share in BASE_SHARES if n_packs > 2 else ():
        if share == FIRST_SHARE:
            continue
        shape = shaped(captures, site, share, read_bytes)
        _, size = _tried(captures, site, shape)
        if size < (min(least, GAIN * first) if share < FIRST_SHARE else least):
            best, least = shape, size
    return best


def shaped(captures: Captures, site: Survey, base_share: float, read_bytes: int = READ_BYTES) -> Shape:
    """Return the shape whose base has this share of what reading a page may decompress."""
    base_bytes = int(read_bytes * base_share) >> 10 << 10
    make = beside(base_bytes, read_bytes)
    return Shape(choose_base(captures(), site, base_bytes, make.pack_bytes), make, site.cut)


def beside(base_bytes: int, read_bytes: int = READ_BYTES) -> Make:
    """Return how packs are made beside a base of so many bytes."""
    return replace(IN_COMPACTION, pack_bytes=read_bytes - base_bytes, read_bytes=read_bytes + HEAD_BYTES)


def share_of(raw: int) -> float:
    """Return the share that a base of so many bytes was made with, about."""
    return next((share for share in BASE_SHARES if raw <= share * READ_BYTES), BASE_SHARES[-1])


def _tried(captures: Captures, site: Survey, shape: Shape) -> tuple[int, float]:
    """Return into how many packs a site goes, and about how many bytes they have with fast compression."""
    builder = Builder(Known(0, "", lambda pack: b""), count(1), replace(shape.make, level=TRIAL_LEVEL), cut=shape.cut)
    layout, tried = shape.layout, _stretches(site.bodies)
    part = replace(
        layout,
        whole=frozenset(at for at, number in enumerate(tried) if number in layout.whole),
        pairs=[layout.pairs[number] for number in tried],
    )
    chosen = set(tried)

    def pages() -> Iterable[Capture]:
        return (capture for number, capture in enumerate(captures()) if number in chosen)

    base, *packs = [len(pack.head) + len(pack.body) for pack in fill(builder, part, pages, len(tried))]
    times = _beside_base(site, layout, range(len(site.bodies))) / max(1, _beside_base(site, layout, tried))
    return 1 + len(packs), base + times * sum(packs)


def _beside_base(site: Survey, layout: Layout, numbers: Iterable[int]) -> int:
    """Return the bytes of those bodies that are not in the base whole."""
    return sum(site.bodies[number] for number in numbers if number not in layout.whole)


def _stretches(bodies: Sequence[int]) -> list[int]:
    """Return the numbers of the captures that shapes are tried with: all, or stretches of neighbours at even distances.
    `bodies` are bytes."""
    total = sum(bodies)
    if total <= TRIED_BYTES:
        return list(range(len(bodies)))
    distance = total / STRETCHES
    return [
        number
        for number, begin in enumerate(accumulate(bodies, initial=0))
        if number < len(bodies) and begin % distance < TRIED_BYTES / STRETCHES
    ]


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
