"""ContentExtractor (Debnath et al. 2005, section 4): blocks with a similar one on few other pages are content.

The inverse block document frequency of a block falls with the number of pages that hold a similar block, one whose
block feature vector has a cosine above epsilon (equations 2 and 3, section 4.4.1). Algorithm 1 compares each block
with all others; here the evidence are the frequencies of `blocks.ibdf`, which gathers similar blocks around leaders:
M pages cost M look-ups instead of M^2 comparisons, evidence grows page by page and merges, and a stored site answers
from counts.

Departures: Algorithm 1 as printed outputs what exceeds theta^-1, section 4.4.1 what occurs rarely: the latter. Theta is
a share of the other pages, because a class may have five pages or five thousand. Pages are told apart by URL: two
captures of one page do not make its text redundant.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from blocks.ibdf import EPSILON, BlockFrequencies, ibdf
from extract.protocol import Extraction, Page, Verdict

THETA = 0.02
"""The share of the other pages up to which a block is content: none of 25 pages, 7 of 400."""


@dataclass(frozen=True, slots=True)
class ContentExtractor:
    """Blocks with a similar one, one of a cosine above `epsilon`, on at most `theta` of the other pages.

    With `template_pages` only so many pages are compared, the first ones, and all others with these: "very few (5 - 10)
    pages from the same class are enough" (sections 4.4.2 and 6.6, table 4).
    """

    name = "ContentExtractor"
    epsilon: float = EPSILON
    theta: float = THETA
    template_pages: int = 0

    def prepare(self, pages: Iterable[Page]) -> BlockFrequencies:
        """Return on how many of the pages each block has a similar one; linear in the number of pages."""
        evidence = BlockFrequencies(self.epsilon)
        for page in islice(pages, self.template_pages or None):
            evidence.add(page.url, page.pieces, page.encoding)
        return evidence

    def extract(self, page: Page, evidence: BlockFrequencies) -> Extraction:
        """Return the verdicts; the score is the inverse block document frequency, 1 / (other pages + 1)."""
        n_others = evidence.n_pages - (page.url in evidence)
        if n_others < 1:
            return Extraction(page, (Verdict(True, 1.0, "no other page to compare with"),) * len(page))
        counts = evidence.frequencies(page.pieces, page.encoding, but=page.url)
        limit = self.theta * n_others
        rows = zip(counts.tolist(), ibdf(counts).tolist(), strict=True)
        verdicts = (Verdict(n <= limit, rarity, f"similar on {n} of {n_others} other pages") for n, rarity in rows)
        return Extraction(page, tuple(verdicts))
