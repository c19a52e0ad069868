"""Which passages to keep, given how probable it is that each is content: those with the best expected F1.

A fixed threshold is right only where the judgement is sure. Of all sets that hold the most probable passages, the one
with the highest expected F1 of words, 2 E[kept and content] / (kept + E[content]), is kept: about half of the F1
that can be had is the threshold (Lipton, Elkan, Naryanaswamy 2014, Thresholding classifiers to maximize F1 score).
Keeping nothing is right on a page without content: one whose likeliest passage is hardly one.
"""

import numpy as np
from numpy.typing import NDArray

HARDLY = 0.2
"""The probability of its likeliest passage below which a page has no content; from 0.1 to 0.25 all are about as good on
WCXB's development pages by cross-validation."""


def choose(probability: NDArray[np.float64], words: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which passages to keep."""
    return probability >= threshold(probability, words)[0]


def threshold(probability: NDArray[np.float64], words: NDArray[np.float64]) -> tuple[float, float]:
    """Return the least probability of a passage to keep and the expected F1; (2.0, 0.0) when none is to be kept."""
    if not len(probability):
        return 2.0, 0.0
    order = np.argsort(-probability, kind="stable")
    kept = np.cumsum(words[order])
    right = np.cumsum((words * probability)[order])
    expected = 2 * right / np.maximum(1e-9, kept + right[-1])
    best = int(np.argmax(expected))
    if probability[order[0]] < HARDLY:
        return 2.0, 0.0
    return float(probability[order[best]]), float(expected[best])
