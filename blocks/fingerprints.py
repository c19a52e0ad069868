"""Fingerprints by which near-equal texts are found across sites: a few bytes for each block of prose.

Min-wise hashing of shingles of three terms (Broder 1997), of each minimum eight bits only (Li, König 2010): two texts
whose shingles have resemblance r agree in a given byte with probability r + (1 - r) / 256. Three of six must agree.
With one word of forty changed they do in 99 of 100 cases, unrelated texts do in one of a million.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blocks.chains import mixed
from blocks.features import plain_texts
from blocks.terms import Offsets, Words, windows, within

MIN_TERMS = 40
"""Shorter blocks have no fingerprint: what they have in common across sites are set phrases."""

WIDTH = 3
"""Terms of a shingle."""

FINGERPRINT_BYTES = 6
"""Bytes of a fingerprint, one for each minimum."""

AGREEING = 3
"""Bytes in which two fingerprints agree at least when their texts are said to meet."""

Fingerprints = NDArray[np.uint8]
"""Of n blocks, shape (n, FINGERPRINT_BYTES)."""

_SEEDS = mixed(np.arange(1, FINGERPRINT_BYTES + 1, dtype=np.uint64)) | np.uint64(1)
_BASE = np.uint64(0x9E3779B97F4A7C15)
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)
_TOP_BITS = np.uint64(56)


def fingerprints(texts: Sequence[str]) -> tuple[Offsets, Fingerprints]:
    """Return the numbers, shape (n,), of those texts that have at least MIN_TERMS terms, and their fingerprints."""
    return _fingerprints("\0".join(text.replace("\0", " ") for text in texts), len(texts))


def fingerprints_of(blocks: Sequence[bytes], encoding: str = "utf-8") -> tuple[Offsets, Fingerprints]:
    """Return the numbers of those blocks whose text has fingerprints, and these. Linear; best called with many."""
    long = np.array([row for row, block in enumerate(blocks) if len(block) >= 2 * MIN_TERMS], np.int64)
    if not len(long):
        return long, np.empty((0, FINGERPRINT_BYTES), np.uint8)
    rows, found = _fingerprints(plain_texts([blocks[row] for row in long.tolist()], encoding), len(long))
    return long[rows], found


def meeting(some: Fingerprints, others: Fingerprints) -> NDArray[np.bool_]:
    """Return of each of some fingerprints whether it agrees with one of the others, shape (len(some),).

    Best called with many at once: a million take 2 ms for each of the others, and 9 bytes of memory each.
    """
    columns = np.ascontiguousarray(some.T)
    met = np.zeros(len(some), np.bool_)
    agreeing = np.empty(len(some), np.uint8)
    for other in others:
        agreeing[:] = 0
        for column, byte in zip(columns, other, strict=True):
            agreeing += column == byte
        met |= agreeing >= AGREEING
    return met


def _fingerprints(texts: str, n_blocks: int) -> tuple[Offsets, Fingerprints]:
    """Return the fingerprints of texts joined by NUL characters."""
    minima = np.full((n_blocks, FINGERPRINT_BYTES), _NONE)
    for hashes, n, first in windows(texts, n_blocks):
        long = np.flatnonzero(n >= MIN_TERMS)
        if len(long):
            found = _minima(hashes, (np.cumsum(n) - n)[long], n[long])
            minima[first + long] = np.minimum(minima[first + long], found)
    rows = np.flatnonzero(minima[:, 0] != _NONE)
    return rows, (mixed(minima[rows]) >> _TOP_BITS).astype(np.uint8)


def _minima(hashes: Words, starts: Offsets, n: Offsets) -> Words:
    """Return for each block, of n terms from `starts` on, the least of its shingles under each seed, (n_blocks, 6)."""
    n_shingles = n - (WIDTH - 1)
    at = within(starts, n_shingles)
    shingles = mixed((hashes[at] * _BASE + hashes[at + 1]) * _BASE + hashes[at + 2])
    begins = np.cumsum(n_shingles) - n_shingles
    return np.stack([np.minimum.reduceat(shingles * seed, begins) for seed in _SEEDS], axis=1)
