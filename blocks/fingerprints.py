"""Fingerprints by which near-equal texts are found across sites: a few 64-bit numbers for each block of prose.

Min-wise hashing of shingles of three terms (Broder 1997), two minima to a fingerprint, as a band in locality-sensitive
hashing: two texts whose shingles have resemblance r share a given fingerprint with probability r**2, and one of four
with 1 - (1 - r**2)**4. With one word of forty changed that is 0.99; texts that share a sentence only rarely meet.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blocks.chains import mixed
from blocks.features import plain_texts
from blocks.terms import Offsets, Words, windows, within

MIN_TERMS = 40
"""Shorter blocks have no fingerprints: what they have in common across sites are set phrases."""

WIDTH = 3
"""Terms of a shingle."""

N_FINGERPRINTS = 4
"""Fingerprints of a block."""

_ROWS = 2
_SEEDS = mixed(np.arange(1, N_FINGERPRINTS * _ROWS + 1, dtype=np.uint64)) | np.uint64(1)
_BASE = np.uint64(0x9E3779B97F4A7C15)
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)


def fingerprints(text: str) -> tuple[int, ...]:
    """Return the fingerprints of a text, each below 2**63; none when it has fewer than MIN_TERMS terms."""
    return _fingerprints(text.replace("\0", " "), 1)[0]


def fingerprints_of(blocks: Sequence[bytes], encoding: str = "utf-8") -> list[tuple[int, ...]]:
    """Return the fingerprints of each block's text. Linear; best called with many at once."""
    found: list[tuple[int, ...]] = [()] * len(blocks)
    long = [row for row, block in enumerate(blocks) if len(block) >= 2 * MIN_TERMS]
    if long:
        texts = plain_texts([blocks[row] for row in long], encoding)
        for row, its in zip(long, _fingerprints(texts, len(long)), strict=True):
            found[row] = its
    return found


def _fingerprints(texts: str, n_blocks: int) -> list[tuple[int, ...]]:
    """Return the fingerprints of texts joined by NUL characters."""
    minima = np.full((len(_SEEDS), n_blocks), _NONE)
    for hashes, n, first in windows(texts, n_blocks):
        long = np.flatnonzero(n >= MIN_TERMS)
        if len(long):
            found = _minima(hashes, (np.cumsum(n) - n)[long], n[long])
            minima[:, first + long] = np.minimum(minima[:, first + long], found)
    bands = minima.reshape(N_FINGERPRINTS, _ROWS, n_blocks)
    numbers = np.arange(N_FINGERPRINTS, dtype=np.uint64)[:, None]
    values = mixed(bands[:, 0] * _BASE + bands[:, 1] + numbers) >> np.uint64(1)
    some = (minima[0] != _NONE).tolist()
    return [tuple(row) if has else () for has, row in zip(some, values.T.tolist(), strict=True)]


def _minima(hashes: Words, starts: Offsets, n: Offsets) -> NDArray[np.uint64]:
    """Return for each block, of n terms from `starts` on, the least of its shingles under each seed."""
    n_shingles = n - (WIDTH - 1)
    at = within(starts, n_shingles)
    shingles = mixed((hashes[at] * _BASE + hashes[at + 1]) * _BASE + hashes[at + 2])
    begins = np.cumsum(n_shingles) - n_shingles
    return np.stack([np.minimum.reduceat(shingles * seed, begins) for seed in _SEEDS])
