"""Which passages of a page the main content given for it holds: the labels that training needs.

The truth is a text, not a mark-up. A long passage is content as far as its shingles stand in the truth; a short one
("Price", "Home") when the truth still has its words after the long ones took theirs, those beside content first.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"\w+")
SHINGLE_WORDS = 4
LONG_WORDS = 6


def words_of(text: str) -> list[str]:
    """Return the words of a text as the scores count them: runs of word characters, in lower case."""
    return WORD.findall(text.lower())


def labels(texts: Sequence[str], truth: str) -> NDArray[np.float64]:
    """Return for each passage the share of its words that the truth holds, 0.0 to 1.0; nan for one without words."""
    passages = [words_of(text) for text in texts]
    wanted = words_of(truth)
    left = Counter(wanted)
    shingles = _shingles(wanted)
    found = np.full(len(passages), np.nan)
    for index, words in enumerate(passages):
        if len(words) >= LONG_WORDS:
            found[index] = _take(words, _covered(words, shingles), left)
    near = _nearness(passages, found)
    phrases = _phrases(wanted)
    order = sorted((i for i, w in enumerate(passages) if 0 < len(w) < LONG_WORDS), key=lambda i: (-near[i], i))
    for index in order:
        words = passages[index]
        whole = tuple(words) in phrases
        found[index] = _take(words, [whole] * len(words), left) if whole else 0.0
    return found


def _shingles(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + SHINGLE_WORDS]) for i in range(len(words) - SHINGLE_WORDS + 1)}


def _phrases(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + n]) for n in range(1, LONG_WORDS) for i in range(len(words) - n + 1)}


def _covered(words: list[str], shingles: set[tuple[str, ...]]) -> list[bool]:
    covered = [False] * len(words)
    for i in range(len(words) - SHINGLE_WORDS + 1):
        if tuple(words[i : i + SHINGLE_WORDS]) in shingles:
            covered[i : i + SHINGLE_WORDS] = [True] * SHINGLE_WORDS
    return covered


def _take(words: list[str], covered: list[bool], left: Counter[str]) -> float:
    """Take the covered words from what is left of the truth; return the share of the words taken."""
    wanted = Counter(word for word, inside in zip(words, covered, strict=True) if inside)
    taken = wanted & left
    share = taken.total() / len(words)
    if share > 0.5:
        left.subtract(taken)
    return share


def _nearness(passages: list[list[str]], found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much of the text around each passage is content, by distance in passages."""
    sizes = np.array([len(words) for words in passages], dtype=float)
    known = ~np.isnan(found)
    good = np.where(known, np.nan_to_num(found) * np.minimum(sizes, 40), 0.0)
    near = np.zeros(len(passages))
    for step in (1.0, 0.8):
        forward = 0.0
        for order in (range(len(passages)), range(len(passages) - 1, -1, -1)):
            forward = 0.0
            for i in order:
                near[i] += forward * step
                forward = forward * 0.8 + good[i]
    return near
