"""Where a passage looks around itself: the elements it stands in, what comes before and after, its kind, the page.

Content comes in stretches, in whole elements and in repeated places; a passage judged alone does not know what those
around it were taken for. Each surrounding is a span of passages, but for the last: the passages of the same path.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from extract.default.columns import Table

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

LEVELS = slice(1, 6)
"""The ancestors looked at, of those in `columns.HEIGHTS`."""

NEAR, WIDE = 3, 8
"""Passages before or after, and on both sides."""

N_SURROUNDINGS = 10


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Of each passage the spans `low` to `high`, the end exclusive, shape (N_SURROUNDINGS - 1, n_passages), and its
    group; `order` lists the passages by group, `starts` where each group starts there."""

    low: Ints
    high: Ints
    groups: Ints
    order: Ints
    starts: Ints

    def means(self, values: Floats) -> Floats:
        """Return the mean of the values over each surrounding, shape (n_passages, N_SURROUNDINGS * n_columns)."""
        return next(self.parts(values, len(values)))

    def parts(self, values: Floats, size: int) -> Iterator[Floats]:
        """Yield the rows of `means`, `size` of them at a time."""
        sums = np.concatenate((np.zeros((1, values.shape[1])), np.cumsum(values, axis=0, dtype=np.float64)))
        of_group = self.of_group(values)
        for at in range(0, len(values), size):
            low, high = self.low[:, at : at + size], self.high[:, at : at + size]
            spans = sums.take(high, axis=0)
            spans -= sums.take(low, axis=0)
            spans /= np.maximum(1, high - low)[:, :, None]
            yield np.concatenate((*spans, of_group[at : at + size]), axis=1, dtype=np.float32)

    def of_group(self, values: Floats) -> Floats:
        """Return the mean of the values over each passage's group, shape (n_passages, n_columns)."""
        sums = np.add.reduceat(values[self.order], self.starts)
        means = sums / np.bincount(self.groups)[:, None]
        return means[self.groups].astype(np.float32)


def surroundings(table: Table) -> Surroundings:
    """Return the surroundings of a page's passages."""
    n = len(table.words)
    at, none = np.arange(n), np.zeros(n, dtype=np.int64)
    above = table.ancestors[:, LEVELS].T
    low = (*table.first[above], np.maximum(at - NEAR, 0), at + 1, np.maximum(at - WIDE, 0), none)
    high = (*table.last[above], at, np.minimum(at + 1 + NEAR, n), np.minimum(at + 1 + WIDE, n), none + n)
    return _grouped(np.stack(low), np.stack(high), table.groups)


def joined(pages: Sequence[Surroundings]) -> Surroundings:
    """Return the surroundings of the passages of several pages, one after the other."""
    n_passages = np.cumsum([0, *(len(page.groups) for page in pages)])[:-1]
    n_groups = np.cumsum([0, *(len(page.starts) for page in pages)])[:-1]
    low = np.concatenate([page.low + n for page, n in zip(pages, n_passages, strict=True)], axis=1)
    high = np.concatenate([page.high + n for page, n in zip(pages, n_passages, strict=True)], axis=1)
    return _grouped(low, high, np.concatenate([page.groups + n for page, n in zip(pages, n_groups, strict=True)]))


def _grouped(low: Ints, high: Ints, groups: Ints) -> Surroundings:
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(groups))[:-1]))
    return Surroundings(low, high, groups, order, starts)
