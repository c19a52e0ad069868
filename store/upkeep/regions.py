"""Which captures of a site compaction writes anew, and which of them together. Pure.

A region is what one base serves: pages whose URLs follow each other. A large site has several, and only those with
new captures are written anew, so that what is done for a day's captures does not grow with the years' before.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

REGION_BYTES = 256 << 20
"""Bodies that one base serves at the most."""

SMALL_SHARE = 1 / 4
"""A region with less than this share of REGION_BYTES is written anew whenever something of its site is."""


class Placed(NamedTuple):
    """A capture that can be written anew: the `sort_key` of its URL, its pack and slot, and the bytes of its body."""

    key: str
    time: int
    pack: int
    slot: int
    size: int


def regions(
    placed: Iterable[Placed], base_of: Mapping[int, int], new: Collection[int], *, most: int
) -> Iterator[list[Placed]]:
    """Yield the regions to be written anew, each in the order of URLs and times.

    `base_of` tells by pack which base it has, itself when it is one: its region. Captures of `new` packs have none yet
    and join that of the capture before them, as do those of other packs, which alone are no reason to write it anew.
    """
    ordered = sorted(placed)
    groups: dict[int, list[Placed]] = {}
    base = next((base_of[each.pack] for each in ordered if each.pack in base_of), 0)
    for each in ordered:
        base = base_of.get(each.pack, base)
        groups.setdefault(base, []).append(each)
    changed = {base for base, group in groups.items() if any(each.pack in new for each in group)}
    together: list[Placed] = []
    for base, group in groups.items() if changed else ():
        if base in changed or _size(group) < SMALL_SHARE * most:
            together += group
        else:
            yield from _cut(together, most)
            together = []
    yield from _cut(together, most)


def _size(group: Iterable[Placed]) -> int:
    return sum(each.size for each in group)


def _cut(group: list[Placed], most: int) -> Iterator[list[Placed]]:
    """Yield captures in parts of about the same size; each has at most `most` bytes before its last capture."""
    n_parts = max(1, -(-_size(group) // most))
    part = _size(group) / n_parts
    region: list[Placed] = []
    room = part
    for each in sorted(group):
        if region and n_parts > 1 and room <= 0:
            yield region
            region, room = [], room + part
        region.append(each)
        room -= each.size
    if region:
        yield region
