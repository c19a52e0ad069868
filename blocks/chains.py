"""Rows by key: a hash table whose entries are chained, newest first, as in the window of deflate (RFC 1951).

A look-up walks a bounded way along each chain, so that its time does not depend on how many rows have a key. Rows that
are met under the most keys are the candidates. Everything runs in numpy, over the keys of many rows at once.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from blocks.terms import Hashes, Offsets, Words

_U32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_WEIGHT_BITS, _ROW_BITS = np.uint64(4), np.uint64(36)
_WEIGHT = np.uint64(15)
_VOTES_BITS, _MOST_VOTES = np.uint64(32), np.uint64(255)

Links = NDArray[np.int32]
_Item = TypeVar("_Item", bound=np.generic)


def mixed(words: Words) -> Words:
    """Return words of 64 bits whose bits all depend on all bits of the given ones (a bijection)."""
    words = (words ^ (words >> _U32)) * _SPREAD
    words = (words ^ (words >> np.uint64(29))) * np.uint64(0xD6E8FEB86659FD93)
    return words ^ (words >> _U32)


class Chains:
    """Entries of key and row. Keys are 32 bits: what has an equal one is a candidate, not a find."""

    def __init__(self) -> None:
        self._n = 0
        self._keys = np.empty(64, np.uint32)
        self._rows = np.empty(64, np.uint32)
        self._next = np.full(64, -1, np.int32)  # its last item stays -1
        self._heads = np.full(64, -1, np.int32)

    def __len__(self) -> int:
        return self._n

    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
        return sum(array.nbytes for array in (self._keys, self._rows, self._next, self._heads))

    def add(self, keys: Hashes, rows: Offsets) -> Links:
        """Add entries and return, for each, the one before it in its chain, or -1."""
        n = self._n + len(keys)
        if n >= len(self._next):
            self._next = grown(self._next, n + 1)
            self._next[-1] = -1
        self._keys, self._rows = grown(self._keys, n), grown(self._rows, n)
        self._keys[self._n : n] = keys
        self._rows[self._n : n] = rows
        added = np.arange(self._n, n)
        if n > len(self._heads):
            self._heads = np.full(1 << n.bit_length(), -1, np.int32)
            self._link(np.arange(n))
        else:
            self._link(added)
        self._n = n
        return self._next[added]

    def heads(self, keys: Hashes) -> Links:
        """Return the newest entry of the chain of each key, or -1."""
        return self._heads[self._slots(keys)]

    def _slots(self, keys: Hashes) -> Words:
        return (keys * _SPREAD >> _U32) & np.uint64(len(self._heads) - 1)

    def _link(self, entries: Offsets) -> None:
        """Put entries, ascending, at the heads of their chains."""
        packed = np.sort((self._slots(self._keys[entries]) << _U32) | entries.astype(np.uint64))
        slots, entries = (packed >> _U32).astype(np.int64), (packed & _LOW).astype(np.int64)
        before = self._heads[slots]
        same = np.flatnonzero(slots[1:] == slots[:-1])
        before[same + 1] = entries[same]
        self._next[entries] = before
        self._heads[slots] = entries  # of entries with one slot the last is assigned: the newest

    def walk(
        self, cursors: Links, keys: Hashes, queries: Offsets, weights: Words, alive: NDArray[np.bool_], steps: int
    ) -> Words:
        """Return query << 36 | row << 4 | weight for each entry with its query's key, at most `steps` from its cursor.

        Queries are below 2**28, weights below 16; `alive` says of each row whether it counts.
        """
        entries = np.empty((steps, len(keys)), np.int32)
        for step in range(steps):
            entries[step] = cursors
            cursors = self._next[cursors]  # of -1, the last item: -1
        hits = np.flatnonzero((self._keys[entries] == keys) & (entries >= 0))
        rows = self._rows[entries.ravel()[hits]]
        tags = (queries.astype(np.uint64) << _ROW_BITS) | weights
        met = tags[hits % len(keys)] | (rows.astype(np.uint64) << _WEIGHT_BITS)
        return met[alive[rows]]


def most_met(met: Words, n_queries: int, limit: int, certain: int) -> tuple[Offsets, Offsets]:
    """Return queries and their candidate rows, at most `limit` for each: those with the greatest sum of weights, the
    newest of equals; only the first when its sum is at least `certain`. Both of shape (n_pairs,), by query; queries
    are below 2**24."""
    if not len(met):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    met = np.sort(met)
    weights = met & _WEIGHT
    met = met >> _WEIGHT_BITS
    first = np.flatnonzero(np.diff(met, prepend=~met[:1]))
    votes = np.minimum(np.add.reduceat(weights, first), _MOST_VOTES)
    pairs = met[first]
    fewest = (_MOST_VOTES - votes) << _VOTES_BITS
    ranked = np.sort(((pairs >> _U32) << np.uint64(40)) | fewest | (_LOW - (pairs & _LOW)))
    queries = (ranked >> np.uint64(40)).astype(np.int64)
    begins = np.searchsorted(queries, np.arange(n_queries))
    ends = begins + limit
    there = begins < len(queries)
    sure = (ranked[begins[there]] >> _VOTES_BITS) & _MOST_VOTES <= _MOST_VOTES - np.uint64(certain)
    ends[there] -= (limit - 1) * sure
    best = np.arange(len(queries)) < ends[queries]
    return queries[best], (_LOW - (ranked[best] & _LOW)).astype(np.int64)


def grown(array: NDArray[_Item], n: int) -> NDArray[_Item]:
    """Return the array, or a longer copy when it has fewer than n rows."""
    if n <= len(array):
        return array
    longer = np.empty((max(n, len(array) * 3 // 2), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
