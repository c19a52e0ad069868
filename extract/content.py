"""ContentExtractor (Debnath et al. 2005, section 4): blocks with a similar one on few other pages are content.

The inverse block document frequency of a block falls with the number of pages that hold a similar block, one whose
block feature vector has a cosine above epsilon (equations 2 and 3, section 4.4.1). Algorithm 1 compares each block
with all others; here a block joins the first group whose founder it resembles, an index finds the founder, and the
evidence keeps for each group the pages it stands on: so that M pages cost M look-ups instead of M^2 comparisons,
evidence grows page by page and merges, and a stored site answers from counts.

Departures: Algorithm 1 as printed outputs what exceeds theta^-1, section 4.4.1 what occurs rarely: the latter. Theta is
a share of the other pages, because a class may have five pages or five thousand. Pages are told apart by URL: two
captures of one page do not make its text redundant.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from blocks.features import BlockVectors, block_vectors
from blocks.similarity import SimilarityIndex
from blocks.terms import TermSets, within
from extract.protocol import Extraction, Page, Verdict

EPSILON = 0.9
"""The cosine above which two blocks are similar (section 4.4.1)."""

THETA = 0.1
"""The share of the other pages up to which a block is content."""

Pairs = NDArray[np.int64]


@dataclass(frozen=True)
class BlockCounts:
    """Groups of similar blocks, and on which pages each stands.

    `index` knows the founder of each group under the group's number. `pairs` has group << 32 | page, ascending and each
    once; pages are numbered by `urls`. Shared between evidence objects, an index is added to and never changed.
    """

    index: SimilarityIndex = field(default_factory=SimilarityIndex)
    urls: Mapping[str, int] = field(default_factory=dict)
    pairs: Pairs = field(default_factory=lambda: np.empty(0, np.int64))
    n_groups: int = 0
    epsilon: float = EPSILON

    @property
    def n_pages(self) -> int:
        """On how many pages it rests."""
        return len(self.urls)

    @cached_property
    def frequencies(self) -> NDArray[np.int64]:
        """The number of pages of each group, shape (n_groups,)."""
        return np.bincount(self.pairs >> 32, minlength=self.n_groups)

    def merge(self, other: "BlockCounts") -> "BlockCounts":
        """Return the groups of both: those of the other join ours where their founders are similar."""
        grown = _Growing(self)
        founders, vectors = other.index.known()
        groups = np.zeros(other.n_groups, np.int64)
        groups[founders] = grown.groups_of(vectors)
        pages = np.zeros(max(other.n_pages, 1), np.int64)
        for url, number in other.urls.items():
            pages[number] = grown.page_of(url)
        grown.stand(groups[other.pairs >> 32], pages[other.pairs & 0xFFFFFFFF])
        return grown.finished()

    def others(self, page: Page, vectors: BlockVectors) -> NDArray[np.int64]:
        """Return on how many other pages a block similar to each stands, shape (n_blocks,)."""
        if not self.n_groups:
            return np.zeros(len(vectors), np.int64)
        found = self.index.find(vectors, self.epsilon).ids
        counts = np.where(found >= 0, self.frequencies[found], 0)
        if page.url in self.urls:
            own = np.isin((found << 32) | self.urls[page.url], self.pairs)
            counts -= own & (found >= 0)
        return counts


class _Growing:
    """Evidence that is being built: a copy of some, to which pages are added."""

    def __init__(self, evidence: BlockCounts) -> None:
        self.epsilon = evidence.epsilon
        self.index = SimilarityIndex()
        self.index.update(evidence.index)
        self.urls = dict(evidence.urls)
        self.pairs = [evidence.pairs]
        self.n_groups = evidence.n_groups

    def page_of(self, url: str) -> int:
        return self.urls.setdefault(url, len(self.urls))

    def groups_of(self, vectors: BlockVectors) -> Pairs:
        """Return the group of each block; those that resemble no founder found groups."""
        numbers = self.index.find(vectors, self.epsilon).ids
        new = np.flatnonzero(numbers < 0)
        if not len(new):
            return numbers
        some = take(vectors, new)
        founders = SimilarityIndex()
        found = founders.find_and_add(np.arange(len(new)), some, self.epsilon).ids
        # a block like an earlier new one joins its group; following once is enough, for groups hang on founders
        leads = np.where(found >= 0, found, np.arange(len(new)))
        leads = leads[leads]
        own = leads == np.arange(len(new))
        numbered = np.cumsum(own) - 1 + self.n_groups
        numbers[new] = numbered[leads]
        self.index.add(numbered[own], take(some, np.flatnonzero(own)))
        self.n_groups += int(own.sum())
        return numbers

    def stand(self, groups: Pairs, pages: Pairs) -> None:
        self.pairs.append((groups << 32) | pages)

    def finished(self) -> BlockCounts:
        return BlockCounts(self.index, self.urls, np.unique(np.concatenate(self.pairs)), self.n_groups, self.epsilon)


def take(vectors: BlockVectors, rows: Pairs) -> BlockVectors:
    """Return some of the vectors."""
    starts = vectors.terms.starts
    n = starts[rows + 1] - starts[rows]
    terms = TermSets(
        vectors.terms.hashes[within(starts[rows], n)], np.concatenate([[0], np.cumsum(n)]), vectors.terms.n_terms[rows]
    )
    return BlockVectors(vectors.counts[rows], terms)


@dataclass(frozen=True, slots=True)
class ContentExtractor:
    """Blocks with a similar one on at most `theta` of the other pages.

    With `template_pages` only so many pages are compared, the first ones, and all others with these: "very few (5 - 10)
    pages from the same class are enough" (sections 4.4.2 and 6.6, table 4).
    """

    name = "ContentExtractor"
    epsilon: float = EPSILON
    theta: float = THETA
    template_pages: int = 0

    def prepare(self, pages: Iterable[Page]) -> BlockCounts:
        """Return the groups of the pages' blocks; linear in the number of pages."""
        growing = _Growing(BlockCounts(epsilon=self.epsilon))
        for page in islice(pages, self.template_pages or None):
            groups = growing.groups_of(block_vectors(page.pieces, page.encoding))
            growing.stand(groups, np.full(len(groups), growing.page_of(page.url)))
        return growing.finished()

    def extract(self, page: Page, evidence: BlockCounts) -> Extraction:
        """Return the verdicts; the score is the inverse block document frequency, 1 / (other pages + 1)."""
        n_others = evidence.n_pages - (page.url in evidence.urls)
        if n_others < 1:
            return Extraction(page, (Verdict(True, 1.0, "no other page to compare with"),) * len(page))
        counts = evidence.others(page, block_vectors(page.pieces, page.encoding))
        limit = self.theta * n_others
        verdicts = (
            Verdict(n <= limit, 1 / (n + 1), f"similar on {n} of {n_others} other pages") for n in counts.tolist()
        )
        return Extraction(page, tuple(verdicts))
