"""The distinct terms of many blocks as 32-bit hashes, all blocks in one pass with numpy.

The terms are those of `blocks.text.terms`. A term's hash is a polynomial in its characters modulo 2**64: with running
sums over the whole text, each term costs one subtraction, whatever its length, and no Python object is made of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from blocks.text import SPACELESS, WORD

WINDOW_CHARS = 1 << 17
"""Characters hashed at once: bounds the memory at some 40 bytes for each. Windows end between blocks; a longer
block is cut, and so may be a term of it."""

_BASE = 0x9E3779B97F4A7C15
_MIX = np.uint64(0xD6E8FEB86659FD93)
_U32 = np.uint64(32)
_SEPARATOR, _LETTER, _ALONE = 0, 1, 2

Words = NDArray[np.uint64]
Hashes = NDArray[np.uint32]
Offsets = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TermSets:
    """The distinct terms of blocks: block i has `hashes[starts[i]:starts[i + 1]]`, ascending.

    `starts` has shape (n_blocks + 1,); `n_terms` has shape (n_blocks,), how many terms there are with repetitions.
    """

    hashes: Hashes
    starts: Offsets
    n_terms: Offsets

    def __len__(self) -> int:
        return len(self.n_terms)

    def of(self, block: int) -> Hashes:
        """Return the term hashes of one block, ascending."""
        return self.hashes[self.starts[block] : self.starts[block + 1]]

    def rows(self, rows: Offsets) -> "TermSets":
        """Return the terms of some of the blocks."""
        begins = self.starts[rows]
        n = self.starts[rows + 1] - begins
        starts = np.concatenate(([0], np.cumsum(n)))
        return TermSets(self.hashes[within(begins, n)], starts, self.n_terms[rows])


def term_sets(text: str, n_blocks: int) -> TermSets:
    """Return the distinct terms of blocks whose texts are joined by NUL characters; linear in their length."""
    n_terms = np.zeros(n_blocks, np.int64)
    parts: list[Words] = []
    for found, n, first in windows(text, n_blocks):
        n_terms[first : first + len(n)] += n
        parts.append(keyed(found, n, first))
    hashes, starts = distinct(np.concatenate(parts) if parts else np.empty(0, np.uint64), n_blocks)
    return TermSets(hashes, starts, n_terms)


def windows(text: str, n_blocks: int) -> Iterator[tuple[Words, Offsets, int]]:
    """Yield the hashes of the terms of joined texts in order, how many each block has, and the number of the first.

    A window ends between blocks; only a block longer than a window is cut.
    """
    codes = _codes(text.lower())
    begin = block = 0
    while begin < len(codes):
        window = codes[begin : begin + WINDOW_CHARS]
        ends = np.flatnonzero(window == 0)
        if len(ends) and begin + len(window) < len(codes):
            window = window[: ends[-1] + 1]
        found, at = hashed_terms(window)
        yield found, count_within(at, np.append(ends, len(window)))[: n_blocks - block], block
        block += len(ends)
        begin += len(window)


def count_within(places: Offsets, ends: Offsets) -> Offsets:
    """Return how many of the ascending places lie before each end, and not before the end before it."""
    return np.diff(np.searchsorted(places, ends), prepend=0)


def keyed(hashes: Words | Hashes, n: Offsets, first: int = 0) -> Words:
    """Return row << 32 | hash for hashes below 2**32, the first n[0] of row `first`, the next n[1] of the next row."""
    return np.repeat(np.arange(first, first + len(n), dtype=np.uint64) << _U32, n) | hashes


def distinct(keys: Words, n_rows: int) -> tuple[Hashes, Offsets]:
    """Return the distinct hashes of each row, ascending, and where each row's begin: shape (n_rows + 1,)."""
    keys = np.sort(keys)
    keys = keys[np.diff(keys, prepend=~keys[:1]) != 0]
    starts = np.searchsorted(keys, np.arange(n_rows + 1, dtype=np.uint64) << _U32)
    return keys.astype(np.uint32), starts


def within(starts: Offsets, n: Offsets) -> Offsets:
    """Return the places starts[i], starts[i] + 1, ..., n[i] of them, for each row i in turn."""
    return np.arange(n.sum()) + np.repeat(starts - np.cumsum(n) + n, n)


def _codes(text: str) -> NDArray[np.uint8] | NDArray[np.uint32]:
    """Return the code points of a text: shape (n_characters,)."""
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)


def hashed_terms(codes: NDArray[np.uint8] | NDArray[np.uint32]) -> tuple[Words, Offsets]:
    """Return the hash of each term, below 2**32, and where it starts."""
    if codes.dtype == np.uint8:
        kinds = _ASCII_KINDS[codes]
        edges = np.flatnonzero(np.diff(kinds, prepend=0, append=0))
        starts, ends = edges[::2], edges[1::2]
    else:
        starts, ends = _spans(_kinds()[np.minimum(codes, _N_KINDS - 1)])
    powers, inverses = _powers()
    sums = np.zeros(len(codes) + 1, np.uint64)
    np.cumsum((codes + np.uint64(1)) * powers[: len(codes)], out=sums[1:])
    hashes = (sums[ends] - sums[starts]) * inverses[starts]
    hashes ^= hashes >> _U32
    hashes *= _MIX
    return hashes >> _U32, starts


def _spans(kinds: NDArray[np.uint8]) -> tuple[Offsets, Offsets]:
    """Return where the terms start and end, by the kinds of the characters: words, and pairs of what stands alone."""
    alone = kinds == _ALONE
    padded = np.concatenate(([0], kinds, [0]))
    new = (padded[1:] != padded[:-1]) | np.append(alone, False)
    edges = np.flatnonzero(new)
    starts, ends = edges[:-1], edges[1:].copy()
    kind = kinds[starts]
    single = kind == _ALONE
    follows = single[1:] & single[:-1] & (ends[:-1] == starts[1:])
    ends[:-1][follows] += 1
    keep = kind != _SEPARATOR
    last_of_run = np.append(False, follows) & ~np.append(follows, False)
    keep &= ~last_of_run
    return starts[keep], ends[keep]


def _ascii_kinds() -> NDArray[np.uint8]:
    kinds = np.zeros(256, np.uint8)
    kinds[list(b"0123456789abcdefghijklmnopqrstuvwxyz")] = _LETTER
    return kinds


_ASCII_KINDS = _ascii_kinds()
_N_KINDS = 0x40001


@cache
def _kinds() -> NDArray[np.uint8]:
    """Return the kind of each code point up to U+3FFFF; those above are separators."""
    kinds = np.zeros(_N_KINDS, np.uint8)
    chars = "".join(map(chr, range(_N_KINDS - 1)))
    for pattern, kind in ((WORD, _LETTER), (f"[{SPACELESS}]", _ALONE)):
        for match in re.finditer(f"(?:{pattern})+", chars):
            kinds[match.start() : match.end()] = kind
    return kinds


@cache
def _powers() -> tuple[Words, Words]:
    """Return base**i and base**-i modulo 2**64 for a window: two of shape (WINDOW_CHARS,)."""
    inverse = pow(_BASE, -1, 1 << 64)
    ones = [np.full(WINDOW_CHARS, base, np.uint64) for base in (_BASE, inverse)]
    for powers in ones:
        powers[0] = 1
    return np.cumprod(ones[0]), np.cumprod(ones[1])
