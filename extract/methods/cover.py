"""From a method's own units (lines, cells, nodes: spans of the source) to verdicts on the blocks.

A block is content when over half of its visible characters, white space not counted, lie in units that the method
selected. A block without visible characters is no content.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from extract.protocol import Extraction, Page, Verdict

MAJORITY = 0.5
"""The share of a block's characters that selected units must exceed."""

NO_TEXT = Verdict(False, 0.0, "no text")

_BLANK_REFERENCE = re.compile(r"&(?:nbsp|ensp|emsp|thinsp|#160|#32|#xa0);?", re.IGNORECASE)
_SPACES = np.array(
    [*range(33), 0x7F, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200C), 0x2028, 0x2029, 0x202F, 0x3000, 0xFEFF]
)
_IS_SPACE = np.zeros(0x10000, dtype=np.bool_)
_IS_SPACE[_SPACES] = True


class Unit(NamedTuple):
    """A span of the source, in characters, that a method judged as one; `score`, 0.0 to 1.0, is the method's own."""

    start: int
    end: int
    selected: bool
    score: float


def ink(page: Page) -> NDArray[np.bool_]:
    """Return which characters of the source are visible and no white space; shape (n_characters,)."""
    source = page.source
    codes = np.frombuffer(source.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    visible: NDArray[np.bool_] = ~_IS_SPACE[np.minimum(codes, 0xFFFF)]
    shown = np.zeros(len(source), dtype=np.bool_)
    for text in page.scan.texts:
        shown[text.start : text.end] = True
    visible &= shown
    if "&" in source:
        for match in _BLANK_REFERENCE.finditer(source):
            visible[match.start() : match.end()] = False
    return visible


def sums(values: NDArray[np.generic], starts: Sequence[int]) -> NDArray[np.float64]:
    """Return the sum of `values` between each two neighbouring offsets; shape (len(starts) - 1,)."""
    totals = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    at = np.asarray(starts)
    result: NDArray[np.float64] = totals[at[1:]] - totals[at[:-1]]
    return result


def judge(page: Page, units: Iterable[Unit], why: Callable[[float], str]) -> Extraction:
    """Return the verdicts that follow from units, which must not overlap.

    A block's score is the mean score of its visible characters; `why` puts their selected share, 0.0 to 1.0, in words.
    """
    visible = ink(page)
    selected = np.zeros(len(visible), dtype=np.bool_)
    scores = np.zeros(len(visible), dtype=np.float64)
    for unit in units:
        selected[unit.start : unit.end] = unit.selected
        scores[unit.start : unit.end] = unit.score
    n_visible = sums(visible, page.starts)
    divisor = np.maximum(n_visible, 1)
    shares = sums(visible & selected, page.starts) / divisor
    means = np.clip(sums(visible * scores, page.starts) / divisor, 0.0, 1.0)
    rows = zip(n_visible.tolist(), shares.tolist(), means.tolist(), strict=True)
    verdicts = (Verdict(share > MAJORITY, mean, why(share)) if count else NO_TEXT for count, share, mean in rows)
    return Extraction(page, tuple(verdicts))
