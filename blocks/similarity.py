"""Which known blocks resemble this one: blocks with a cosine above a threshold, without comparing with all of them.

A block is known under a few keys. With its distinct terms in the order of their hashes, each two neighbours among the
first are a key: blocks that share most of their terms share most of these (a bottom-k sketch: Broder 1997, taken in
pairs as rows of a band are in locality-sensitive hashing, so that a key is rare enough to be worth looking up). Another
key stands for all terms, one for all terms and counts; a block without terms has keys of its counts alone. A look-up
takes the blocks met under the most keys, newest first, and compares the vectors themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blocks.chains import Chains, Links, grown, mixed, most_met
from blocks.features import COUNTS_SHARE, N_FEATURES, BlockVectors, combine, cosine_of_counts, shared_terms
from blocks.terms import Hashes, Offsets, TermSets, Words, within

N_PAIRS = 8
"""Pairs of neighbouring terms that are keys."""

MAX_STEPS = 4
"""How many entries of each key's chain are looked at, newest first."""

MAX_COMPARED = 6
"""How many candidates a block's vector is compared with."""

MAX_RATIO = 100
"""Blocks of which one has more than so many times the terms of the other are never similar, whatever the threshold."""

WHOLE_WEIGHT, EXACT_WEIGHT = 8, 15
"""What a key of all terms, and of all terms and counts, adds to a candidate's votes; a pair adds 1."""

_MOST = 0xFFFF

Ids = NDArray[np.int64] | Sequence[int]


@dataclass(frozen=True, slots=True)
class Found:
    """For each block looked up the id of the most similar known block, or -1, and their cosine: shape (n_blocks,)."""

    ids: Offsets
    cosines: NDArray[np.float64]


class SimilarityIndex:
    """Known blocks by id, found by the cosine of their vectors.

    With `n_counts` 0 and `counts_share` 0.0 it is an index of sets, in which empty ones resemble nothing. Memory is
    about 200 bytes a block.
    """

    def __init__(
        self, n_counts: int = N_FEATURES, counts_share: float = COUNTS_SHARE, max_compared: int = MAX_COMPARED
    ) -> None:
        self._n_counts, self._share, self._max_compared = n_counts, counts_share, max_compared
        # votes that only a block with the same key of all terms and counts can have: no other is compared then
        self._certain = N_PAIRS + (2 * WHOLE_WEIGHT if n_counts else 0) + 1
        self._clear()

    def _clear(self) -> None:
        self._n = self._n_live = 0
        self._ids = np.empty(16, np.int64)
        self._alive = np.empty(16, np.bool_)
        self._counts = np.empty((16, self._n_counts), np.uint16)
        self._starts = np.zeros(17, np.int64)
        self._hashes = np.empty(64, np.uint32)
        self._chains = Chains()

    def __len__(self) -> int:
        return self._n_live

    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
        arrays = (self._ids, self._alive, self._counts, self._starts, self._hashes)
        return sum(array.nbytes for array in arrays) + self._chains.nbytes

    def add(self, ids: Ids, vectors: BlockVectors) -> None:
        """Make blocks known, later ones as the newer. ValueError when there is not one id for each."""
        self._append(ids, vectors, _keys_of(vectors, self._n_counts))

    def find(self, vectors: BlockVectors, above: float = 0.9) -> Found:
        """Return for each block the most similar known one whose cosine is greater than `above`."""
        keys = _keys_of(vectors, self._n_counts)
        return self._compare(vectors, keys, self._chains.heads(keys.keys), above)

    def find_and_add(self, ids: Ids, vectors: BlockVectors, above: float = 0.9) -> Found:
        """Make blocks known, and return for each the most similar of those known before it, of the same call or not."""
        keys = _keys_of(vectors, self._n_counts)
        before = self._append(ids, vectors, keys)
        return self._compare(vectors, keys, before, above)

    def remove(self, ids: Ids) -> int:
        """Forget the blocks with these ids; return how many there were."""
        rows = np.flatnonzero(np.isin(self._ids[: self._n], ids) & self._alive[: self._n])
        self._alive[rows] = False
        self._n_live -= len(rows)
        if self._n_live * 2 < self._n:
            kept, vectors = self.known()
            self._clear()
            self.add(kept, vectors)
        return len(rows)

    def update(self, other: "SimilarityIndex") -> None:
        """Make known what another index knows."""
        self.add(*other.known())

    def known(self) -> tuple[Offsets, BlockVectors]:
        """Return the ids and the vectors of all known blocks, oldest first; how many terms there were is lost."""
        rows = np.flatnonzero(self._alive[: self._n])
        starts = self._starts[: self._n + 1]
        terms = TermSets(self._hashes[: starts[-1]], starts, np.diff(starts)).rows(rows)
        return self._ids[rows], BlockVectors(self._counts[rows].astype(np.float32), terms)

    def _append(self, ids: Ids, vectors: BlockVectors, keys: "_Keys") -> Links:
        if len(ids) != len(vectors):
            raise ValueError(f"{len(ids)} ids for {len(vectors)} blocks")
        n, base = self._n + len(vectors), self._starts[self._n]
        end = base + len(vectors.terms.hashes)
        self._ids, self._alive, self._counts = grown(self._ids, n), grown(self._alive, n), grown(self._counts, n)
        self._starts, self._hashes = grown(self._starts, n + 1), grown(self._hashes, end)
        new = slice(self._n, n)
        self._ids[new], self._alive[new] = ids, True
        self._counts[new] = np.minimum(vectors.counts, _MOST)
        self._starts[self._n + 1 : n + 1] = vectors.terms.starts[1:] + base
        self._hashes[base:end] = vectors.terms.hashes
        before = self._chains.add(keys.keys, keys.rows + self._n)
        self._n, self._n_live = n, self._n_live + len(vectors)
        return before

    def _of_like_size(self, n: Offsets, m: Offsets, above: float) -> NDArray[np.bool_]:
        """Tell which pairs, of n and m terms, can have a cosine above the threshold: at most sqrt(n / m) is of terms.

        It saves comparing thousands of small blocks with one of a million terms that has theirs among its own.
        """
        smaller, greater = np.maximum(np.minimum(n, m), 1), np.maximum(n, m)
        possible = self._share + (1 - self._share) * np.sqrt(smaller / np.maximum(greater, 1))
        return (possible > above) & (greater <= MAX_RATIO * smaller)

    def _compare(self, vectors: BlockVectors, keys: "_Keys", cursors: Links, above: float) -> Found:
        met = self._chains.walk(cursors, keys.keys, keys.rows, keys.weights, self._alive, MAX_STEPS)
        queries, rows = most_met(met, len(vectors), self._max_compared, self._certain)
        terms = vectors.terms
        n, m = np.diff(terms.starts)[queries], self._starts[rows + 1] - self._starts[rows]
        like = self._of_like_size(n, m, above)
        queries, rows, n, m = queries[like], rows[like], n[like], m[like]
        shared = shared_terms(terms.hashes, terms.starts, queries, self._hashes, self._starts, rows)
        of_counts = np.zeros(len(rows))
        if self._n_counts:
            of_counts = cosine_of_counts(vectors.counts[queries], self._counts[rows])
        found = combine(shared, n, m, of_counts, self._share)
        order = np.argsort(found, kind="stable")[::-1]
        order = order[found[order] > above][::-1]  # ascending: the last one assigned is the best
        best = Found(np.full(len(vectors), -1, np.int64), np.zeros(len(vectors)))
        best.ids[queries[order]] = self._ids[rows[order]]
        best.cosines[queries[order]] = found[order]
        return best


@dataclass(frozen=True, slots=True)
class _Keys:
    """Keys of blocks, the row each belongs to, and its weight among votes: each of shape (n_keys,)."""

    keys: Hashes
    rows: Offsets
    weights: Words


def _keys_of(vectors: BlockVectors, n_counts: int) -> _Keys:
    starts, n_blocks = vectors.terms.starts, len(vectors)
    n = np.diff(starts)
    n_pairs = np.clip(n - 1, 0, N_PAIRS)
    at = within(starts[:-1], n_pairs)
    hashes = vectors.terms.hashes.astype(np.uint64)
    pairs = mixed((hashes[at] << np.uint64(32)) | hashes[at + 1]) if len(at) else np.empty(0, np.uint64)
    sums = np.zeros(len(hashes) + 1, np.uint64)
    np.cumsum(mixed(hashes), out=sums[1:])
    of_terms = mixed(sums[starts[1:]] - sums[starts[:-1]] + n.astype(np.uint64))
    whole, weights = [of_terms], [EXACT_WEIGHT]
    if n_counts:
        counts = np.minimum(vectors.counts, _MOST)
        columns = mixed(np.arange(1, n_counts + 1, dtype=np.uint64))
        kinds, magnitudes, exact = (
            mixed(of_terms + np.uint64(salt) + measure.astype(np.uint64) @ columns)
            for salt, measure in enumerate((counts > 0, np.ceil(np.log2(counts + 1)), counts))
        )
        whole = [np.where(n > 0, of_terms, kinds), magnitudes, exact]
        weights = [WHOLE_WEIGHT, WHOLE_WEIGHT, EXACT_WEIGHT]
    rows = [np.repeat(np.arange(n_blocks), n_pairs)] + [np.arange(n_blocks)] * len(whole)
    keys = np.concatenate([pairs, *whole]) >> np.uint64(32)
    votes = np.repeat(np.array([1, *weights], np.uint64), [len(pairs), *[n_blocks] * len(whole)])
    return _Keys(keys.astype(np.uint32), np.concatenate(rows), votes)
