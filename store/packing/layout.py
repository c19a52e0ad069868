"""What a compacted site looks like: a base of what many of its pages share, then packs of neighbouring pages. Pure.

Pages come in the order of their URLs, so that neighbours resemble each other. The base holds the blocks that stand
in more than one pack, most widespread first; what room is left shows the packs' dictionary how else pages look:
blocks of pages taken at even distances.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import xxhash
from numpy.typing import NDArray

from blocks.model import Capture
from store.packing.cutting import Cut, Cutter
from store.packing.kinds import is_page
from store.packing.known import LARGE_BYTES
from store.packing.lookup import TOKEN_BYTES
from store.packing.tokens import Kinds, Pairs, canonical, find_tokens

MAX_SAMPLES = 100
"""Captures that are sampled at the most: those that fit are kept in the base's own pack."""


@dataclass(slots=True)
class Survey:
    """The distinct blocks of a site, numbered in the order in which they come; those of its pages with the site's
    tokens in place of their own."""

    numbers: dict[bytes, int] = field(default_factory=dict)
    """By the xxh3-128 of a block."""
    sizes: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    """The first capture that each block stands in."""
    blocks: list[NDArray[np.int32]] = field(default_factory=list)
    """Those of each capture."""
    pairs: list[Pairs] = field(default_factory=list)
    bodies: list[int] = field(default_factory=list)
    """Bytes of each capture's body."""
    cut: Cutter = field(default_factory=Cutter)

    def windows(self, pack_bytes: int) -> NDArray[np.int32]:
        """Count for each block in how many windows it stands: stretches of pages with a pack's worth of distinct
        blocks. Shape (n_blocks,)."""
        sizes = np.array(self.sizes, np.int64)
        last = np.zeros(len(sizes), np.int32)
        counts = np.zeros(len(sizes), np.int32)
        window, room = 1, pack_bytes
        for blocks in self.blocks:
            new = blocks[last[blocks] != window]
            counts[new] += 1
            last[new] = window
            room -= int(sizes[new].sum())
            if room <= 0:
                window, room = window + 1, pack_bytes
        return counts


@dataclass(frozen=True, slots=True)
class Layout:
    """The blocks of a base, in order; the numbers of the captures that are in it whole; each capture's tokens."""

    base: list[bytes]
    whole: frozenset[int]
    pairs: list[Pairs]


def survey(captures: Iterable[Capture]) -> Survey:
    """Look at all pages of a site, once for all sizes of base and packs."""
    found = Survey()
    kinds = Kinds()
    for number, capture in enumerate(captures):
        blocks, pairs = _canonical(capture, found, kinds)
        found.pairs.append(pairs)
        found.bodies.append(len(capture.body))
        for digest, piece in blocks.items():
            if digest not in found.numbers:
                found.numbers[digest] = len(found.sizes)
                found.sizes.append(len(piece))
                found.firsts.append(number)
        found.blocks.append(np.array([found.numbers[digest] for digest in blocks], np.int32))
    return found


def choose_base(captures: Iterable[Capture], site: Survey, base_bytes: int, pack_bytes: int) -> Layout:
    """Return how to compact captures, with a base and packs of these sizes. They must come as they were surveyed."""
    windows = site.windows(pack_bytes)
    shared = np.flatnonzero(windows > 1)
    wanted: set[int] = set()
    room = base_bytes
    for block in shared[np.argsort(-windows[shared], kind="stable")].tolist():
        if site.sizes[block] <= room:
            wanted.add(block)
            room -= site.sizes[block]
    samples = _samples(site, windows, room)
    base, whole = _collect(captures, site, wanted, samples, base_bytes)
    return Layout(base, whole, site.pairs)


def _canonical(capture: Capture, site: Survey, kinds: Kinds) -> tuple[dict[bytes, bytes], Pairs]:
    """Return a capture's blocks by digest, the site's tokens in place of its own."""
    blocks = _blocks(capture, (), site.cut)
    new = b"".join([piece for digest, piece in blocks.items() if digest not in site.numbers])
    pairs: Pairs = ()
    if is_page(capture):
        tokens = find_tokens(new)
        if len(new) > TOKEN_BYTES and (pairs := kinds.pairs(capture.body, tokens)):
            blocks = _blocks(capture, pairs, site.cut)
            tokens = find_tokens(b"".join([piece for digest, piece in blocks.items() if digest not in site.numbers]))
        kinds.learn(tokens)
    return blocks, pairs


def _blocks(capture: Capture, pairs: Pairs, cut: Cut) -> dict[bytes, bytes]:
    if is_page(capture):
        pieces = cut(canonical(capture.body, pairs))
    else:
        pieces = [capture.body] if 0 < len(capture.body) <= LARGE_BYTES else []
    return {xxhash.xxh3_128_digest(piece): piece for piece in pieces if piece}


def _samples(site: Survey, windows: NDArray[np.int32], room: int) -> set[int]:
    """Return numbers of captures, evenly spread, whose blocks would about fill the room that is left."""
    single = windows == 1
    own = np.bincount(np.array(site.firsts, np.int64)[single], np.array(site.sizes)[single])
    with_own = int(np.count_nonzero(own))
    average = max(1, int(own.sum()) // max(1, with_own))
    n_captures, n_samples = len(site.blocks), min(with_own, MAX_SAMPLES, max(1, 2 * room // average))
    return {int((i + 0.5) * n_captures / n_samples) for i in range(n_samples)}


def _collect(
    captures: Iterable[Capture], site: Survey, wanted: set[int], samples: set[int], base_bytes: int
) -> tuple[list[bytes], frozenset[int]]:
    """Return the blocks of the base, and which sampled captures are in it whole.

    Sampled pages come first, as many as fit, then the wanted blocks that they do not have, in the order of the pages.
    Only pages that show such blocks first are cut again.
    """
    shared: dict[int, bytes] = {}
    sampled: dict[int, dict[int, bytes]] = {}
    needed = samples | {site.firsts[block] for block in wanted}
    for number, capture in enumerate(captures):
        if number in needed:
            found = _blocks(capture, site.pairs[number], site.cut)
            blocks = {site.numbers[digest]: piece for digest, piece in found.items()}
            if number in samples:
                sampled[number] = blocks
            shared.update({block: piece for block, piece in blocks.items() if block in wanted})
    room = base_bytes - sum(map(len, shared.values()))
    base: dict[int, bytes] = {}
    whole = set()
    order = sorted(sampled)
    for number in order[::2] + order[1::2]:  # when not all fit, every other one is left out first
        extra = {block: piece for block, piece in sampled[number].items() if block not in base}
        size = sum(len(piece) for block, piece in extra.items() if block not in shared)
        if size <= room:
            room -= size
            whole.add(number)
            base.update(extra)
    base.update({block: piece for block, piece in shared.items() if block not in base})
    return list(base.values()), frozenset(whole)
