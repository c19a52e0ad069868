"""Shingles, sketches, resemblance and containment (Broder, On the resemblance and containment of documents, 1997).

A shingle is a window of w neighbouring tokens. Of a document's shingles, hashed, the smallest k are its sketch: a
sample from which the resemblance of two documents is estimated. Departure: the hash is xxh3 of the tokens and a
polynomial over the window, in place of Rabin's fingerprints.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from blocks.chains import mixed
from blocks.terms import Words

WIDTH = 10
"""Tokens of a shingle."""

SIZE = 100
"""Shingles kept in a sketch: the error of an estimated resemblance is at most 0.05 (one standard error)."""

_BASE = np.uint64(0x9E3779B97F4A7C15)


def shingles(tokens: Sequence[bytes], width: int = WIDTH) -> Words:
    """Return the distinct shingles of a sequence of tokens as 64-bit hashes, ascending: shape (n_shingles,).

    Fewer tokens than a window's are one shingle; none are none. Linear in the tokens. ValueError for a width below 1.
    """
    if width < 1:
        raise ValueError(f"width {width}: at least 1 expected")
    if not tokens:
        return np.empty(0, np.uint64)
    hashes = {token: xxhash.xxh3_64_intdigest(token) for token in set(tokens)}
    sequence = np.array([hashes[token] for token in tokens], np.uint64)
    width = min(width, len(sequence))
    powers = np.cumprod(np.full(len(sequence), _BASE))
    inverses = np.cumprod(np.full(len(sequence), pow(int(_BASE), -1, 1 << 64), np.uint64))
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(sequence * powers)))
    return np.unique(mixed((sums[width:] - sums[:-width]) * inverses[: len(sequence) - width + 1]))


@dataclass(frozen=True, slots=True)
class Sketch:
    """The smallest shingles of a set: at most `size` of them, ascending, and how many the set has."""

    smallest: NDArray[np.uint64]
    n_shingles: int
    size: int


def sketch(of: Words, size: int = SIZE) -> Sketch:
    """Return the sketch of a set of shingles, ascending. ValueError for a size below 1."""
    if size < 1:
        raise ValueError(f"size {size}: at least 1 expected")
    return Sketch(of[:size], len(of), size)


def resemblance(a: Sketch, b: Sketch) -> float:
    """Estimate |A ∩ B| / |A ∪ B| of two sets of shingles, 0.0 to 1.0; two empty sets resemble each other fully.

    Broder 1997, section 4: the share of the k smallest of both that is in both. Exact for sets not larger than k.
    The standard error is at most 0.5/sqrt(k). ValueError if the sizes differ.
    """
    if a.size != b.size:
        raise ValueError(f"sketches of {a.size} and of {b.size} shingles")
    both = np.sort(np.concatenate((a.smallest, b.smallest)))
    again = both[1:] == both[:-1]
    smallest = both[np.append(True, ~again)][: a.size] if len(both) else both
    if not len(smallest):
        return 1.0
    return float(np.isin(smallest, both[1:][again], assume_unique=True).mean())


def containment(a: Sketch, b: Sketch) -> float:
    """Estimate |A ∩ B| / |A|, which share of A is in B, 0.0 to 1.0; an empty set is contained in any.

    From the resemblance r and the sizes: |A ∩ B| = r / (1 + r) * (|A| + |B|). ValueError if the sizes differ.
    """
    if not a.n_shingles:
        return 1.0
    r = resemblance(a, b)
    return min(1.0, r / (1 + r) * (a.n_shingles + b.n_shingles) / a.n_shingles)
