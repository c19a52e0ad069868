"""L-Extractor (Debnath et al. 2005, section 7): a linear support vector machine over block features.

The features are the counts of the block feature vector except those of partitioning tags, text included, as
logarithms and standardised. Training (C = 1, five-fold cross validation) is in `experiments.training`; the machine
shipped is trained on the WCXB development split (CC-BY-4.0), another one can be given.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blocks.features import FEATURES, block_vectors
from extract.methods.cover import NO_TEXT
from extract.methods.svm import LinearSvm
from extract.protocol import Extraction, NoEvidence, Page, Verdict

PARTITIONING = frozenset({"paragraphs", "rules", "lists", "tables", "rows", "divisions"})
"""Columns that count partitioning tags: left out, "all HTML tags except those ... in the partitioning-list"."""

COLUMNS = tuple(feature.name for feature in FEATURES if feature.name not in PARTITIONING)


def rows_of(page: Page) -> NDArray[np.float64]:
    """Return the features of a page's blocks, shape (n_blocks, len(COLUMNS))."""
    chosen = [index for index, feature in enumerate(FEATURES) if feature.name in COLUMNS]
    counts = block_vectors(page.pieces, page.encoding).counts[:, chosen]
    rows: NDArray[np.float64] = np.log2(counts.astype(np.float64) + 1)
    return rows


@dataclass(frozen=True, slots=True)
class LExtractor:
    """Blocks on the content side of the hyperplane; without a machine of its own it is the shipped one."""

    name = "L-Extractor"
    machine: LinearSvm | None = None

    def prepare(self, pages: Iterable[Page]) -> NoEvidence:
        """Nothing is learned from pages without labels: a block is judged alone."""
        return NoEvidence(sum(1 for _ in pages))

    def extract(self, page: Page, evidence: NoEvidence) -> Extraction:
        """Return the verdicts; the score is the distance to the hyperplane, squashed to 0..1. Blocks need text."""
        machine = self.machine or _shipped()
        if machine.features != COLUMNS:
            raise ValueError(f"machine of features {', '.join(machine.features)}: {', '.join(COLUMNS)} expected")
        decisions = machine.decide(rows_of(page))
        scores = 1 / (1 + np.exp(-np.clip(decisions, -50, 50)))
        rows = zip(page.texts, decisions.tolist(), scores.tolist(), strict=True)
        verdicts = (
            Verdict(decision > 0, score, f"{decision:+.2f} from the hyperplane") if text else NO_TEXT
            for text, decision, score in rows
        )
        return Extraction(page, tuple(verdicts))


def _shipped() -> LinearSvm:
    from extract.methods.linear_weights import SHIPPED

    return SHIPPED
