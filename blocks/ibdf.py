"""Inverse block document frequency over many pages (Debnath et al. 2005, section 3.2, equations 1 to 3).

The frequency of a block is the number of pages that hold a block similar to it. Equation 3 prints Sim < epsilon for
them; the text around it and section 4.4.1 mean greater, and so it is here. Similarity is no equivalence, so blocks are
gathered around leaders: a block joins the leader it is most similar to, or becomes one. Equal blocks are looked up by
digest, so that a page costs work for its new blocks only.
"""

from collections.abc import Callable, Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

from blocks.features import BlockVectors, block_vectors
from blocks.similarity import SimilarityIndex
from blocks.terms import Offsets

EPSILON = 0.9
"""The threshold of section 4.4.1: blocks with a greater cosine are accepted as identical."""

Floats = NDArray[np.float64]


def linear(share: Floats) -> Floats:
    """Return it as it is: the linear f of equation 2."""
    return share


def logarithmic(share: Floats) -> Floats:
    """Return log2(1 + share): the logarithmic f of equation 2, from 1 for a block on no page towards 0."""
    return np.log2(1 + share)


def ibdf(frequencies: Offsets, f: Callable[[Floats], Floats] = linear) -> Floats:
    """Return the inverse block document frequencies of blocks which so many pages hold (equation 2).

    >>> ibdf(np.array([0, 1, 9])).tolist()
    [1.0, 0.5, 0.1]
    """
    return f(1 / (frequencies + 1.0))


class BlockFrequencies:
    """On how many pages, by URL, blocks similar to a given one stand. Memory grows with the distinct blocks, by about
    400 bytes each, and with the pages each group of similar blocks stands on, by about 60 bytes each."""

    def __init__(self, epsilon: float = EPSILON) -> None:
        self.epsilon = epsilon
        self._pages: dict[str, int] = {}
        self._leader_of: dict[bytes, int] = {}
        self._leaders = SimilarityIndex()
        self._pages_of: list[set[int]] = []

    @property
    def n_pages(self) -> int:
        """How many distinct pages were added."""
        return len(self._pages)

    def __contains__(self, url: str) -> bool:
        """Tell whether a page was added."""
        return url in self._pages

    def add(self, url: str, blocks: Sequence[bytes], encoding: str = "utf-8") -> None:
        """Count the blocks of a page. What was counted for an equal URL before still counts, once for both."""
        page = self._pages.setdefault(url, len(self._pages))
        for leader in self._gather(blocks, encoding):
            self._pages_of[leader].add(page)

    def frequencies(self, blocks: Sequence[bytes], encoding: str = "utf-8", but: str = "") -> Offsets:
        """Return on how many pages, not counting the page `but`, a block similar to each stands: shape (n_blocks,)."""
        digests = [xxhash.xxh3_128_digest(block) for block in blocks]
        leaders = np.array([self._leader_of.get(digest, -1) for digest in digests], np.int64)
        unknown = np.flatnonzero(leaders < 0)
        if len(unknown):
            vectors = block_vectors([blocks[row] for row in unknown.tolist()], encoding)
            leaders[unknown] = self._leaders.find(vectors, self.epsilon).ids
        page = self._pages.get(but, -1)
        return np.array([self._n_pages_of(leader, page) for leader in leaders.tolist()], np.int64)

    def merge(self, other: "BlockFrequencies") -> "BlockFrequencies":
        """Return the frequencies over the pages of both; neither is changed. ValueError if the thresholds differ."""
        if other.epsilon != self.epsilon:
            raise ValueError(f"thresholds differ: {self.epsilon} and {other.epsilon}")
        merged = BlockFrequencies(self.epsilon)
        for part in (self, other):
            pages = [merged._pages.setdefault(url, len(merged._pages)) for url in part._pages]
            leaders = merged._lead(part._leaders.known()[1])
            for leader, its_pages in zip(leaders, part._pages_of, strict=True):
                merged._pages_of[leader].update(pages[page] for page in its_pages)
            for digest, leader in part._leader_of.items():
                merged._leader_of.setdefault(digest, leaders[leader])
        return merged

    def _n_pages_of(self, leader: int, but: int) -> int:
        if leader < 0:
            return 0
        pages = self._pages_of[leader]
        return len(pages) - (but in pages)

    def _gather(self, blocks: Sequence[bytes], encoding: str) -> set[int]:
        """Return the leaders of blocks, after making leaders of those that are similar to none."""
        by_digest = {xxhash.xxh3_128_digest(block): block for block in blocks}
        new = [digest for digest in by_digest if digest not in self._leader_of]
        if new:
            leaders = self._lead(block_vectors([by_digest[digest] for digest in new], encoding))
            self._leader_of.update(zip(new, leaders, strict=True))
        return {self._leader_of[digest] for digest in by_digest}

    def _lead(self, vectors: BlockVectors) -> list[int]:
        """Return the leader of each row, which is itself when no other is similar."""
        leaders = self._leaders.find(vectors, self.epsilon).ids
        rest = np.flatnonzero(leaders < 0)
        alone = SimilarityIndex().find_and_add(rest, vectors.rows(rest), self.epsilon).ids < 0
        self._found(leaders, rest[alone], vectors)
        rest = rest[~alone]
        leaders[rest] = self._leaders.find(vectors.rows(rest), self.epsilon).ids
        self._found(leaders, rest[leaders[rest] < 0], vectors)
        return [int(leader) for leader in leaders]

    def _found(self, leaders: Offsets, rows: Offsets, vectors: BlockVectors) -> None:
        """Make leaders of some rows."""
        first = len(self._pages_of)
        leaders[rows] = np.arange(first, first + len(rows))
        self._leaders.add(leaders[rows], vectors.rows(rows))
        self._pages_of.extend(set() for _ in range(len(rows)))
