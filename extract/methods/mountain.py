"""Mountain Model (Bing, Wang, Zhang, Wang 2008): a page as a row of text cells with scores; ridges of it are content.

A cell is the visible text between two tags. It scores by its length, its punctuation, whether it ends a sentence, is a
link, and how much source surrounds it (formula 1); blank cells stand for long stretches of source, then each score is
smoothed by its neighbours (formulas 2 and 3). Ridges are runs of high cells with a peak; a support vector machine with
an RBF kernel tells primary from cluttered ridges by height, width and place (formulas 4 to 7).

Departures: the universal classifier is trained on the WCXB development split (CC-BY-4.0) instead of the authors'
pages, and where it rejects every ridge of a page, the one it rejects least is kept.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from extract.methods.cover import Unit, judge
from extract.methods.svm import RbfSvm
from extract.protocol import Extraction, NoEvidence, Page

Floats = NDArray[np.float64]

ALPHA, BETA = 0.5, -0.5
"""A cell that ends a sentence counts half more, one that is a link counts half (section 3.1)."""

GAMMA_WORDS, GAMMA_CHINESE = 75, 12
"""Characters of a mean sentence: 15 words of 5 letters, or 12 Chinese characters (section 3.1)."""

WINDOW = 5
"""Cells of the smoothing window (section 4, figure 3)."""

BLANK_EVERY = 200
"""Characters of source between two cells for which a blank cell is inserted (section 4, figure 3)."""

SPAN = 5
"""Cells below the primary threshold that end a ridge (section 4, figure 4)."""

PEAK_FACTOR = 3.0
"""The peak threshold in primary thresholds (section 4, figure 4)."""

_PUNCTUATION = re.compile(r"[.,;:!?…。，、；：！？]")
_FULL_STOP = re.compile(r"""[.!?。！？…]["'”’」』)\]]*$""")
_CHINESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class Cell:
    """A visible text between two tags: its span in the source and its features of table 1."""

    start: int
    end: int
    length: int
    punctuation: int
    full_stop: bool
    anchor: bool
    visible_ratio: float


@dataclass(frozen=True, slots=True)
class Ridge:
    """Neighbouring cells, first and one past the last, and their features by formulas 4 to 7."""

    first: int
    last: int
    features: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters of the model."""

    alpha: float = ALPHA
    beta: float = BETA
    window: int = WINDOW
    blank_every: int = BLANK_EVERY
    span: int = SPAN
    peak_factor: float = PEAK_FACTOR


def cells_of(page: Page) -> list[Cell]:
    """Return the cells of a page, in order; white space makes none."""
    found: list[tuple[int, int, str, bool]] = []
    anchors = _anchors(page)
    for text in page.scan.texts:
        visible = page.source[text.start : text.end].strip()
        if visible and visible != "&nbsp;":
            found.append((text.start, text.end, visible, text.start in anchors))
    cells = []
    for index, (start, end, visible, anchor) in enumerate(found):
        left = (start - (found[index - 1][1] if index else 0)) / 2
        right = ((found[index + 1][0] if index + 1 < len(found) else len(page.source)) - end) / 2
        ratio = len(visible) / (end - start + left + right)
        stop = bool(_FULL_STOP.search(visible[-8:]))
        n_marks = len(_PUNCTUATION.findall(visible))
        cells.append(Cell(start, end, len(visible), n_marks, stop, anchor, ratio))
    return cells


def _anchors(page: Page) -> set[int]:
    """Return where the texts start that stand inside an A element."""
    texts, found, at, inside = page.scan.texts, set(), 0, False
    for tag in page.scan.tags:
        if tag.name == "a":
            while at < len(texts) and texts[at].start < tag.start:
                if inside:
                    found.add(texts[at].start)
                at += 1
            inside = not tag.closing
    return found


def scores(cells: list[Cell], gamma: float, shape: Shape = Shape()) -> Floats:
    """Return the score of each cell before smoothing, formula 1."""
    rows = np.array([(c.length, c.punctuation, c.full_stop, c.anchor, c.visible_ratio) for c in cells], float)
    length, punctuation, stop, anchor, visible = rows.reshape(-1, 5).T
    result: Floats = (length / gamma + punctuation) * (1 + shape.alpha * stop) * (1 + shape.beta * anchor) * visible
    return result


def smoothed(values: Floats, window: int) -> Floats:
    """Return the scores after smoothing, formulas 2 and 3; beyond the ends there are cells of score 0."""
    half = window // 2
    if not half or not len(values):
        return values
    weights = np.array([1 - abs(i) * 0.2 if abs(i) <= 4 else 0.1 for i in range(-half, half + 1)])
    weights[half] = 0.0
    means = np.convolve(values, np.ones(2 * half + 1), "full")[half : half + len(values)] / (2 * half + 1)
    weighted = np.convolve(values, weights, "full")[half : half + len(values)]
    result: Floats = values + (weighted - means * weights.sum()) / (2 * half)
    return result


def gamma_of(page: Page) -> int:
    """Return the mean sentence's characters in the page's language: Chinese and its neighbours, or words."""
    sample = page.source[:100_000]
    return GAMMA_CHINESE if len(_CHINESE.findall(sample)) * 10 > len(sample) * 0.2 else GAMMA_WORDS


def ridges_of(cells: list[Cell], gamma: float, shape: Shape = Shape()) -> tuple[list[Ridge], Floats]:
    """Return the ridges of a page's cells (definition 3), and the smoothed score of each cell."""
    if not cells:
        return [], np.zeros(0)
    gaps = np.array([b.start - a.end for a, b in pairwise(cells)], dtype=np.int64)
    blanks = gaps // max(shape.blank_every, 1)
    places = np.arange(len(cells)) + np.concatenate([[0], np.cumsum(blanks)])
    row = np.zeros(int(places[-1]) + 1)
    row[places] = scores(cells, gamma, shape)
    high = smoothed(row, shape.window)[places]
    primary = float(high.mean())
    above = np.flatnonzero(high > primary)
    cuts = np.flatnonzero(np.diff(places[above]) > shape.span) + 1
    groups = [
        group for group in np.split(above, cuts) if len(group) and high[group].max() > shape.peak_factor * primary
    ]
    return _with_features([(int(group[0]), int(group[-1]) + 1) for group in groups], high), high


def _with_features(spans: list[tuple[int, int]], high: Floats) -> list[Ridge]:
    """Return the ridges with height, width, ridge position and cell position (formulas 4 to 7)."""
    means = [float(high[first:last].mean()) for first, last in spans]
    highest, widest = max(means, default=1.0), max((last - first for first, last in spans), default=1)
    return [
        Ridge(first, last, (mean / highest, (last - first) / widest, number / len(spans), first / len(high)))
        for number, ((first, last), mean) in enumerate(zip(spans, means, strict=True), 1)
    ]


@dataclass(frozen=True, slots=True)
class MountainModel:
    """Ridges that the classifier calls primary are content; without one of its own it is the universal classifier."""

    name = "MountainModel"
    shape: Shape = Shape()
    classifier: RbfSvm | None = None

    def prepare(self, pages: Iterable[Page]) -> NoEvidence:
        """Nothing is learned from pages without labels: a page is judged alone."""
        return NoEvidence(sum(1 for _ in pages))

    def extract(self, page: Page, evidence: NoEvidence) -> Extraction:
        """Return the verdicts; the score is the classifier's decision value of a block's ridge, squashed to 0..1."""
        cells = cells_of(page)
        ridges, _ = ridges_of(cells, gamma_of(page), self.shape)
        decisions = self._classifier().decide(np.array([ridge.features for ridge in ridges]).reshape(-1, 4))
        best = int(decisions.argmax()) if len(decisions) else -1
        units: list[Unit] = []
        for index, (ridge, decision) in enumerate(zip(ridges, decisions.tolist(), strict=True)):
            chosen = decision > 0 or (index == best and not (decisions > 0).any())
            score = 1 / (1 + float(np.exp(-decision)))
            units.extend(Unit(cell.start, cell.end, chosen, score) for cell in cells[ridge.first : ridge.last])
        return judge(page, units, lambda share: f"{share:.0%} in primary ridges")

    def _classifier(self) -> RbfSvm:
        if self.classifier is not None:
            return self.classifier
        from extract.methods.mountain_weights import SHIPPED

        return SHIPPED
