"""Separators between visual blocks, their weights, and the blocks that remain when light ones are removed (VIPS).

A horizontal separator is a strip of a region's height in which no block lies, a vertical one a strip of its width.
A region is parted at the heavy separators of one direction, the parts at those of the other, and so on; what only light
separators part is one block, the less coherent the heavier they are.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

from extract.segmenters.boxes import Box

MAX_DOC = 10
"""Degree of coherence of a block without a separator."""

GAPS = ((40.0, 7), (24.0, 5), (12.0, 3))
"""Pixels between two blocks, and the weight of a separator that is at least so wide: paragraphs lie 16 apart."""

COLUMN = 2.0
"""How many times wider a gap between columns counts than one between lines."""

BACKGROUND, LARGER_FONT, OTHER_WEIGHT = 5, 2, 1
"""What a separator weighs more between different backgrounds, before a larger font, between different font weights."""


class Boxed(Protocol):
    """Something with a box."""

    @property
    def box(self) -> Box:
        """Where it is drawn."""
        ...


T = TypeVar("T", bound=Boxed)


def separated(blocks: Sequence[T], join: Callable[[Sequence[T], int], T], pdoc: int) -> list[T]:
    """Return the blocks after those that no heavy separator parts have been joined.

    A separator is heavy when a block with it inside would be less coherent than `pdoc`. `join` gets the blocks to join
    and the degree of coherence that the heaviest separator between them leaves.
    """
    found: list[T] = []
    stack = [list(blocks)] if blocks else []
    while stack:
        region = stack.pop()
        parts = _cut(region, MAX_DOC - pdoc)
        if len(parts) > 1:
            stack.extend(reversed(parts))
        else:
            found.append(join(region, MAX_DOC - _heaviest(region)) if len(region) > 1 else region[0])
    return found


def _cut(region: list[T], heavy: int) -> list[list[T]]:
    """Return a region parted in one direction; itself alone when it cannot be.

    Where nothing heavy runs through, any strip is a cut that lies between parts with and without columns: a footer
    right below columns must not hold them together.
    """
    for vertical in (False, True):
        parts = _parted(region, vertical, heavy)
        if len(parts) > 1:
            return parts
    bands = _parted(region, False, -1)
    columns = [len(_parted(band, True, heavy)) > 1 for band in bands]
    if not any(columns) or len(bands) < 2:
        return [region]
    parts = []
    for band, many, before in zip(bands, columns, [True, *columns], strict=False):
        if many or before:
            parts.append(band)
        else:
            parts[-1] = parts[-1] + band
    return parts


def _parted(blocks: Sequence[T], vertical: bool, heavy: int) -> list[list[T]]:
    """Return the blocks in groups parted by separators of this direction that are heavier than `heavy`."""
    ordered = sorted(blocks, key=lambda block: _extent(block.box, vertical))
    groups = [[ordered[0]]]
    edge = _extent(ordered[0].box, vertical)[1]
    for block in ordered[1:]:
        start, end = _extent(block.box, vertical)
        if (
            start >= edge
            and weight(groups[-1][-1].box, block.box, (start - edge) * (COLUMN if vertical else 1)) > heavy
        ):
            groups.append([block])
        else:
            groups[-1].append(block)
        edge = max(edge, end)
    return groups


def _extent(box: Box, vertical: bool) -> tuple[float, float]:
    return (box.left, box.right) if vertical else (box.top, box.bottom)


def weight(before: Box, after: Box, gap: float) -> int:
    """Return the weight of the separator between two blocks.

    >>> weight(Box(0, 0, 9, 9), Box(0, 26, 9, 9, font_size=20), 17)
    5
    """
    found = next((value for width, value in GAPS if gap >= width), 0)
    found += BACKGROUND * (before.background != after.background)
    found += LARGER_FONT * (after.font_size > before.font_size + 1)
    return found + OTHER_WEIGHT * (before.font_weight != after.font_weight)


def _heaviest(blocks: Sequence[T]) -> int:
    """Return the weight of the heaviest separator between neighbours, at most MAX_DOC - 1."""
    ordered = sorted(blocks, key=lambda block: (block.box.top, block.box.left))
    weights = (
        weight(a.box, b.box, max(0.0, b.box.top - a.box.bottom, b.box.left - a.box.right)) for a, b in pairwise(ordered)
    )
    return min(max(weights, default=0), MAX_DOC - 1)
