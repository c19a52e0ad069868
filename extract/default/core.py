"""The core of a page: the lowest element that holds nearly all of its running text.

What a page is about is written in one place; what stands outside of it leads elsewhere. The judgement of single
passages does not see that place: it follows from all of them together.
"""

import numpy as np
from numpy.typing import NDArray

from extract.default.columns import PARAGRAPH_WORDS, Table

Doubles = NDArray[np.float64]

SURELY = 0.8
"""The probability from which a passage counts as running text."""

MAX_LINK = 0.2
"""The share of links up to which it does."""

MIN_WORDS = 50
"""Words of running text from which a page has a core."""

SHARE = 0.9
"""The share of the running text that the core holds."""

OUTSIDE = 1.0
"""What passages outside of the core lose in log-odds: the best of 0.7 to 6 on WCXB's development pages, by
cross-validation."""


def running_text(probability: Doubles, table: Table) -> NDArray[np.bool_]:
    """Return which passages are text to read, not links: shape (n_passages,)."""
    found: NDArray[np.bool_] = (probability >= SURELY) & (table.link < MAX_LINK)
    return found


def outside_core(probability: Doubles, table: Table) -> NDArray[np.bool_]:
    """Return which passages lie outside of the page's core: none when the page has none."""
    outside = np.zeros(len(probability), dtype=np.bool_)
    words = table.words * (running_text(probability, table) & (table.words >= PARAGRAPH_WORDS))
    sums = np.concatenate(([0.0], np.cumsum(words)))
    if sums[-1] >= MIN_WORDS:
        # elements that hold most of a text lie in each other, and the lowest one begins last
        core = np.flatnonzero(sums[table.last] - sums[table.first] >= SHARE * sums[-1])[-1]
        outside[: table.first[core]] = outside[table.last[core] :] = True
    return outside


def odds_of(probability: Doubles) -> Doubles:
    """Return log-odds, between -9.2 and 9.2."""
    odds: Doubles = np.log((probability + 1e-4) / (1 - probability + 1e-4))
    return odds


def probability_of(odds: Doubles) -> Doubles:
    """Return the probabilities of log-odds."""
    probability: Doubles = 1 / (1 + np.exp(-odds))
    return probability


def centred(probability: Doubles, table: Table) -> Doubles:
    """Return the probabilities with those outside of the core lowered."""
    return probability_of(odds_of(probability) - OUTSIDE * outside_core(probability, table))
