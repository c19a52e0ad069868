"""CETR, content extraction via tag ratios (Weninger, Hsu, Han 2010): lines with much text and few tags are content.

The tag ratio of a line is its non-tag characters divided by its tags (no tag counts as one); scripts, styles, comments
and empty lines are left out. The ratios are smoothed, then split by a threshold (CETR-TM), by k-means (CETR-KM), or
by k-means in the plane of ratio and change, with a centroid held at the origin (CETR-2D).

Departure: a page whose lines are longer than a screen's has been stripped of its line breaks, and a line would hold
everything; there every tag that begins or ends a block-level element begins a line too.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from extract.markup import HIDDEN, INLINE
from extract.methods.cover import Unit, judge
from extract.methods.kmeans import equidistant, kmeans
from extract.protocol import Extraction, NoEvidence, Page

Floats = NDArray[np.float64]

RADIUS = 1
"""Of the Gaussian smoothing, in lines (section 3.1 of the paper)."""

LAMBDA = 1.0
"""CETR-TM: the threshold in standard deviations of the smoothed ratios."""

CLUSTERS = 3
"""k of CETR-KM and CETR-2D."""

ALPHA = 3
"""CETR-2D: over how many lines the change is taken."""

MAX_LINE = 1000
"""Mean characters of a non-empty line beyond which a page counts as stripped of its line breaks."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The non-empty lines of a page: spans of the source, and tag ratios of shape (n_lines,)."""

    spans: list[tuple[int, int]]
    ratios: Floats


def tag_ratios(page: Page, max_line: int = MAX_LINE) -> Lines:
    """Return the lines of a page and their tag ratios."""
    breaks = [*accumulate(len(line) + 1 for line in page.source.split("\n"))][:-1]
    lines = _ratios(page, breaks)
    if lines.spans and len(page.source) > max_line * len(lines.spans):
        block_level = {place for tag in page.scan.tags if tag.name not in INLINE for place in (tag.start, tag.end)}
        lines = _ratios(page, sorted(block_level.union(breaks)))
    return lines


def _ratios(page: Page, breaks: list[int]) -> Lines:
    """Return the ratios of lines that begin at these offsets; the tags of hidden elements are not counted."""
    size = len(page.source)
    edges = [0, *breaks, size]
    bounds = np.array(edges)
    tags = np.array([tag.start for tag in page.scan.tags if tag.name not in HIDDEN], dtype=np.int64)
    n_tags = np.bincount(np.searchsorted(bounds, tags, side="right") - 1, minlength=len(bounds))
    texts = [""] * len(bounds)
    places = [(text.start, text.end) for text in page.scan.texts]
    firsts = np.searchsorted(bounds, [start for start, _ in places], side="right").tolist()
    lasts = np.searchsorted(bounds, [end - 1 for _, end in places], side="right").tolist()
    for (start, end), first, last in zip(places, firsts, lasts, strict=True):
        for line in range(first - 1, last):
            texts[line] += page.source[max(start, edges[line]) : min(end, edges[line + 1])]
    lengths = np.array([len(text.strip()) for text in texts])
    kept = np.flatnonzero((lengths > 0) | (n_tags > 0))
    kept = kept[kept < len(bounds) - 1]
    spans = [(edges[line], edges[line + 1]) for line in kept]
    return Lines(spans, lengths[kept] / np.maximum(n_tags[kept], 1))


def smooth(values: Floats, radius: int = RADIUS) -> Floats:
    """Return values smoothed with a Gaussian kernel of this radius; beyond the ends there is nothing."""
    if not len(values):
        return values
    reach = np.arange(-radius, radius + 1)
    kernel = np.exp(-(reach**2) / (2 * radius**2)) if radius else np.ones(1)
    smoothed: Floats = np.convolve(values, kernel / kernel.sum(), mode="full")[radius : radius + len(values)]
    return smoothed


def changes(ratios: Floats, alpha: int = ALPHA) -> Floats:
    """Return for each line the smoothed absolute difference of the mean ratio of the next `alpha` lines to its own."""
    padded = np.concatenate([ratios[1:], np.zeros(alpha)])
    totals = np.concatenate([[0.0], np.cumsum(padded)])
    means = (totals[alpha:] - totals[:-alpha])[: len(ratios)] / alpha
    return smooth(np.abs(means - ratios))


@dataclass(frozen=True, slots=True)
class _Cetr(ABC):
    """What the three have in common: each chooses lines by their smoothed ratios."""

    name = "CETR"
    max_line: int = MAX_LINE

    def prepare(self, pages: Iterable[Page]) -> NoEvidence:
        """Nothing is learned: a page is judged alone."""
        return NoEvidence(sum(1 for _ in pages))

    def extract(self, page: Page, evidence: NoEvidence) -> Extraction:
        """Return the verdicts; the score is a block's mean smoothed ratio divided by the page's highest."""
        lines = tag_ratios(page, self.max_line)
        ratios = smooth(lines.ratios)
        selected = self.choose(ratios) if len(ratios) else np.zeros(0, dtype=np.bool_)
        highest = max(float(ratios.max(initial=0.0)), 1e-9)
        rows = zip(lines.spans, selected.tolist(), (ratios / highest).tolist(), strict=True)
        units = (Unit(start, end, chosen, ratio) for (start, end), chosen, ratio in rows)
        return judge(page, units, lambda share: f"{share:.0%} in lines of high tag ratio")

    @abstractmethod
    def choose(self, ratios: Floats) -> NDArray[np.bool_]:
        """Return which lines are content, from their smoothed ratios."""


@dataclass(frozen=True, slots=True)
class CetrTm(_Cetr):
    """Threshold: lines with a smoothed ratio of at least `factor` standard deviations."""

    name = "CETR-TM"
    factor: float = LAMBDA

    def choose(self, ratios: Floats) -> NDArray[np.bool_]:
        """Return the lines at or above the threshold."""
        chosen: NDArray[np.bool_] = (ratios >= self.factor * ratios.std()) & (ratios > 0)
        return chosen


@dataclass(frozen=True, slots=True)
class CetrKm(_Cetr):
    """k-means of the ratios; the cluster nearest the origin is not content."""

    name = "CETR-KM"
    k: int = CLUSTERS

    def choose(self, ratios: Floats) -> NDArray[np.bool_]:
        """Return the lines outside the lowest cluster."""
        labels, centroids = kmeans(ratios[:, None], equidistant(ratios, self.k)[:, None])
        chosen: NDArray[np.bool_] = (labels != int(centroids[:, 0].argmin())) & (ratios > 0)
        return chosen


@dataclass(frozen=True, slots=True)
class Cetr2d(_Cetr):
    """k-means of (ratio, change); one centroid is held at the origin, and its cluster is not content."""

    name = "CETR-2D"
    k: int = CLUSTERS
    alpha: int = ALPHA

    def choose(self, ratios: Floats) -> NDArray[np.bool_]:
        """Return the lines outside the cluster of the origin."""
        points = np.column_stack([ratios, changes(ratios, self.alpha)])
        starts = points[np.argsort(np.hypot(points[:, 0], points[:, 1]), kind="stable")]
        starts = starts[np.linspace(0, len(starts) - 1, self.k).round().astype(int)]
        starts[0] = 0.0
        labels, _ = kmeans(points, starts, fixed=(0,))
        chosen: NDArray[np.bool_] = labels != 0
        return chosen
