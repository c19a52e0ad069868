"""A second look: what a first judgement of all passages of a page says about each of them.

Content comes in stretches and in whole elements; a passage judged alone does not know what its neighbours, the
elements around it and the passages with the same path were taken for. These columns say it.
"""

import numpy as np
from numpy.typing import NDArray

from extract.choice import choose
from extract.columns import Table

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

STEPS = (-4, -3, -2, -1, 1, 2, 3, 4)
SIZES = (1, 3, 8, 20)
FLOOR = 1e-3


def logit(probability: Doubles) -> Doubles:
    """Return log-odds, kept from infinity."""
    odds: Doubles = np.log((probability + FLOOR) / (1 - probability + FLOOR))
    return odds


def context(table: Table, probability: Doubles) -> Floats:
    """Return the columns of the second look, shape (n_passages, n_columns)."""
    n, words = len(probability), np.maximum(table.words, 1.0)
    odds, mass = logit(probability), words * probability
    sums = [np.concatenate(([0.0], np.cumsum(values))) for values in (words, mass, odds)]

    def between(low: NDArray[np.int64], high: NDArray[np.int64]) -> list[Doubles]:
        n_words, kept, total = (values[high] - values[low] for values in sums)
        return [kept / np.maximum(1, n_words), total / np.maximum(1, high - low)]

    at = np.arange(n)[:, None]
    beside = at + np.array(STEPS)
    outside = (beside < 0) | (beside >= n)
    sizes = np.array(SIZES)
    near = between(np.maximum(at - sizes, 0), np.minimum(at + sizes + 1, n))
    around = [values[table.ancestors] for values in between(table.first, table.last)]
    size = np.bincount(table.groups)
    alike = np.bincount(table.groups, mass) / np.maximum(1, np.bincount(table.groups, words))
    alike_odds = np.bincount(table.groups, odds) / size
    total = max(1e-6, float(mass.sum()))
    chosen = choose(probability, words)
    own = (
        odds,
        alike[table.groups],
        alike_odds[table.groups],
        sums[1][:-1] / total,
        1 - sums[1][1:] / total,
        chosen,
        np.argsort(np.argsort(-probability, kind="stable"), kind="stable") / n,
        np.full(n, total / words.sum()),
        np.full(n, np.log1p(total)),
        np.full(n, probability.max()),
        np.full(n, (mass * (1 - probability)).sum() / total),
        np.full(n, chosen.mean()),
    )
    beside_odds = np.where(outside, -7.0, odds[np.clip(beside, 0, n - 1)])
    return np.concatenate((np.stack(own, axis=1), beside_odds, *near, *around), axis=1, dtype=np.float32)
