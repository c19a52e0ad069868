"""What a compacted site looks like: a base of what many of its pages share, then packs of neighbouring pages. Pure.

Pages come in the order of their URLs, so that neighbours resemble each other. The base holds the blocks that stand
in more than one pack, most widespread first; what room is left shows the packs' dictionary how else pages look:
blocks of pages taken at even distances.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import xxhash

from blocks.model import Capture
from blocks.partition import partition
from store.packing.building import TOKEN_BYTES
from store.packing.kinds import is_page
from store.packing.known import LARGE_BYTES
from store.packing.tokens import Kinds, Pairs, canonical, find_tokens

MAX_SAMPLES = 100
"""Captures that are sampled at the most: those that fit are kept in the base's own pack."""


@dataclass(slots=True)
class _Seen:
    size: int
    n_windows: int
    window: int
    first: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The blocks of a base, in order; the numbers of the captures that are in it whole; each capture's tokens."""

    base: list[bytes]
    whole: frozenset[int]
    pairs: list[Pairs]


def choose_base(captures: Callable[[], Iterable[Capture]], n_captures: int, base_bytes: int, pack_bytes: int) -> Layout:
    """Return how to compact captures, with a base and packs of these sizes. They are gone through twice, and must come
    the same each time."""
    seen, pairs = _survey(captures(), pack_bytes)
    wanted: set[bytes] = set()
    room = base_bytes
    for digest, block in sorted(seen.items(), key=lambda item: (-item[1].n_windows, item[1].first)):
        if block.n_windows < 2:
            break
        if block.size <= room:
            wanted.add(digest)
            room -= block.size
    samples = _samples(seen, room, n_captures)
    base, whole = _collect(zip(captures(), pairs, strict=True), seen, wanted, samples, base_bytes)
    return Layout(base, whole, pairs)


def _survey(captures: Iterable[Capture], pack_bytes: int) -> tuple[dict[bytes, _Seen], list[Pairs]]:
    """Count for each block in how many windows it stands: stretches of pages with a pack's worth of distinct blocks.

    Blocks are those of the pages with the site's tokens in place of their own.
    """
    seen: dict[bytes, _Seen] = {}
    kinds = Kinds()
    all_pairs: list[Pairs] = []
    window, room = 1, pack_bytes
    for number, capture in enumerate(captures):
        blocks, pairs = _canonical(capture, seen, kinds)
        all_pairs.append(pairs)
        for digest, piece in blocks.items():
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
    return seen, all_pairs


def _canonical(capture: Capture, seen: dict[bytes, _Seen], kinds: Kinds) -> tuple[dict[bytes, bytes], Pairs]:
    """Return a capture's blocks by digest, the site's tokens in place of its own."""
    blocks = _blocks(capture, ())
    new = b"".join([piece for digest, piece in blocks.items() if digest not in seen])
    pairs: Pairs = ()
    if is_page(capture):
        tokens = find_tokens(new)
        if len(new) > TOKEN_BYTES and (pairs := kinds.pairs(capture.body, tokens)):
            blocks = _blocks(capture, pairs)
            tokens = find_tokens(b"".join([piece for digest, piece in blocks.items() if digest not in seen]))
        kinds.learn(tokens)
    return blocks, pairs


def _blocks(capture: Capture, pairs: Pairs) -> dict[bytes, bytes]:
    if is_page(capture):
        pieces = partition(canonical(capture.body, pairs)).pieces()
    else:
        pieces = [capture.body] if 0 < len(capture.body) <= LARGE_BYTES else []
    return {xxhash.xxh3_128_digest(piece): piece for piece in pieces if piece}


def _samples(seen: dict[bytes, _Seen], room: int, n_captures: int) -> set[int]:
    """Return numbers of captures, evenly spread, whose blocks would about fill the room that is left."""
    own: dict[int, int] = {}
    for block in seen.values():
        if block.n_windows < 2:
            own[block.first] = own.get(block.first, 0) + block.size
    average = max(1, sum(own.values()) // max(1, len(own)))
    n_samples = min(len(own), MAX_SAMPLES, max(1, 2 * room // average))
    return {int((i + 0.5) * n_captures / n_samples) for i in range(n_samples)}


def _collect(
    captures: Iterable[tuple[Capture, Pairs]],
    seen: dict[bytes, _Seen],
    wanted: set[bytes],
    samples: set[int],
    base_bytes: int,
) -> tuple[list[bytes], frozenset[int]]:
    """Return the blocks of the base, and which sampled captures are in it whole.

    Sampled pages come first, as many as fit, then the wanted blocks that they do not have, in the order of the pages.
    """
    shared: dict[bytes, bytes] = {}
    sampled: dict[int, dict[bytes, bytes]] = {}
    for number, (capture, pairs) in enumerate(captures):
        blocks = _blocks(capture, pairs)
        if number in samples:
            sampled[number] = blocks
        shared.update({digest: piece for digest, piece in blocks.items() if digest in wanted})
    room = base_bytes - sum(map(len, shared.values()))
    base: dict[bytes, bytes] = {}
    whole = set()
    order = sorted(sampled)
    for number in order[::2] + order[1::2]:  # when not all fit, every other one is left out first
        extra = {d: piece for d, piece in sampled[number].items() if d not in base}
        size = sum(len(piece) for digest, piece in extra.items() if digest not in shared)
        if size <= room:
            room -= size
            whole.add(number)
            base.update(extra)
    base.update({digest: piece for digest, piece in shared.items() if digest not in base})
    return list(base.values()), frozenset(whole)
