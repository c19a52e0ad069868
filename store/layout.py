"""What a compacted site looks like: a base of what many of its pages share, then packs of neighbouring pages. Pure.

Pages come in the order of their URLs, so that neighbours resemble each other. The base holds the blocks that stand
in more than one pack, most widespread first; what room is left shows the packs' dictionary how else pages look:
blocks of pages taken at even distances.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import xxhash

from blocks.model import Capture
from store.kinds import is_page, pieces_of
from store.known import LARGE_BYTES

BASE_BYTES = 448 << 10
"""Size of a base at the most: with a pack as large, what reading a page decompresses stays below MAX_READ_BYTES."""


@dataclass(slots=True)
class _Seen:
    size: int
    n_windows: int
    window: int
    first: int


def choose_base(captures: Callable[[], Iterable[Capture]], n_captures: int, pack_bytes: int) -> list[bytes]:
    """Return the blocks of a site's base. `captures` is gone through twice, and must yield the same each time."""
    seen = _survey(captures(), pack_bytes)
    wanted: set[bytes] = set()
    room = BASE_BYTES
    for digest, block in sorted(seen.items(), key=lambda item: (-item[1].n_windows, item[1].first)):
        if block.n_windows < 2:
            break
        if block.size <= room:
            wanted.add(digest)
            room -= block.size
    return _collect(captures(), seen, wanted, _samples(seen, room, n_captures))


def _survey(captures: Iterable[Capture], pack_bytes: int) -> dict[bytes, _Seen]:
    """Count for each block in how many windows it stands: stretches of pages with a pack's worth of distinct blocks."""
    seen: dict[bytes, _Seen] = {}
    window, room = 1, pack_bytes
    for number, capture in enumerate(captures):
        for piece in _pieces(capture):
            digest = xxhash.xxh3_128_digest(piece)
            block = seen.get(digest)
            if block is None:
                seen[digest] = _Seen(len(piece), 1, window, number)
                room -= len(piece)
            elif block.window != window:
                block.n_windows += 1
                block.window = window
                room -= block.size
        if room <= 0:
            window, room = window + 1, pack_bytes
    return seen


def _pieces(capture: Capture) -> list[bytes]:
    if not is_page(capture) and len(capture.body) > LARGE_BYTES:
        return []
    return pieces_of(capture)


def _samples(seen: dict[bytes, _Seen], room: int, n_captures: int) -> set[int]:
    """Return numbers of captures, evenly spread, whose blocks would about fill the room that is left."""
    own: dict[int, int] = {}
    for block in seen.values():
        if block.n_windows < 2:
            own[block.first] = own.get(block.first, 0) + block.size
    average = max(1, sum(own.values()) // max(1, len(own)))
    n_samples = min(len(own), max(1, 2 * room // average))
    return {int((i + 0.5) * n_captures / n_samples) for i in range(n_samples)}


def _collect(
    captures: Iterable[Capture], seen: dict[bytes, _Seen], wanted: set[bytes], samples: set[int]
) -> list[bytes]:
    """Return the wanted blocks in the order of the pages, after as many sampled ones as fit."""
    shared: list[bytes] = []
    sampled: list[list[bytes]] = []
    taken: set[bytes] = set()
    room = BASE_BYTES - sum(seen[digest].size for digest in wanted)
    for number, capture in enumerate(captures):
        extra: list[bytes] = []
        for piece in _pieces(capture):
            digest = xxhash.xxh3_128_digest(piece)
            if digest in taken:
                continue
            if digest in wanted:
                taken.add(digest)
                shared.append(piece)
            elif number in samples:
                taken.add(digest)
                extra.append(piece)
        sampled.append(extra)
    filling = []
    chosen = [blocks for blocks in sampled if blocks]
    for blocks in chosen[::2] + chosen[1::2]:  # when not all fit, every other one is left out first
        for piece in blocks:
            if len(piece) <= room:
                filling.append(piece)
                room -= len(piece)
    return filling + shared
