"""What words, names and classes say: tokens of each passage, and the sums of their weights in a linear model.

A token is a hint (part of a name, class, id or role) in one of several slots: of the passage's own element, of an
inline element in it, of the two elements around, of any element above; or a word of the passage, the passage whole
when it is short, or a word of the heading it stands under.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from extract.default.hints import FLAGS
from extract.default.passages import Passages

HINT_SLOTS = ("own", "inner", "near", "above")
WORD_SLOTS = ("word", "phrase", "under")
SLOTS = HINT_SLOTS + WORD_SLOTS

MAX_CHARS = 200
MAX_WORDS = 20
PHRASE_WORDS = 4
HEADING_WORDS = 10

_WORD = re.compile(r"[^\W\d_]{2,}")
_HEADING = 1 << FLAGS.index("heading")

Weights = NDArray[np.float32]


def words_of(text: str) -> list[str]:
    """Return the first words of a text in lower case, numbers left out."""
    return _WORD.findall(text[:MAX_CHARS].lower())[:MAX_WORDS]


def headings(page: Passages, words: Sequence[Sequence[str]]) -> list[int]:
    """Return for each passage the index of the heading it stands under, -1 for none; long headings count as none."""
    under, current = [], -1
    flags = page.elements.flags
    for index, element in enumerate(page.element):
        under.append(current)
        if flags[element] & _HEADING:
            current = index if len(words[index]) <= HEADING_WORDS else -1
    return under


def tokens(page: Passages) -> Iterator[list[str]]:
    """Yield the tokens of each passage, `slot:hint` or `slot:word`."""
    sets, elements = page.hint_sets, page.elements
    words = list(map(words_of, page.text))
    above: list[tuple[str, ...]] = [()]
    for element in range(1, len(elements.name)):
        own = tuple(f"above:{hint}" for hint in sets[elements.hints[element]])
        above.append(above[elements.parent[element]] + own)
    for index, heading in enumerate(headings(page, words)):
        element = page.element[index]
        parent = max(0, elements.parent[element])
        found = [f"own:{hint}" for hint in sets[elements.hints[element]]]
        found += [f"inner:{hint}" for inner in page.inner[index] for hint in sets[inner]]
        for near in (parent, max(0, elements.parent[parent])):
            found += [f"near:{hint}" for hint in sets[elements.hints[near]]]
        found += above[element]
        found += [f"word:{word}" for word in words[index]]
        if len(words[index]) <= PHRASE_WORDS:
            found.append("phrase:" + " ".join(words[index]))
        if heading >= 0:
            found += [f"under:{word}" for word in words[heading]]
        yield found


def sums(page: Passages, weights: Mapping[str, int], values: Weights) -> Weights:
    """Return the sum of the weights in each slot, shape (n_passages, n_slots).

    `weights` has the row of each known hint and word in `values`, shape (n_known + 1, n_slots), the last row zero.
    Equal to adding up the weights of `tokens`, without making them.
    """
    none = len(values) - 1
    elements = page.elements
    known = weights.get
    by_set = _summed([[known(hint, none) for hint in hints] for hints in page.hint_sets], values[:, : len(HINT_SLOTS)])
    hints = np.array(elements.hints)
    parent = np.maximum(np.array(elements.parent), 0)
    element = np.array(page.element)
    above = by_set[hints, 3].tolist()
    for index, up in enumerate(elements.parent[1:], 1):
        above[index] += above[up]
    out = np.zeros((len(page), len(SLOTS)), dtype=np.float32)
    out[:, 0] = by_set[hints[element], 0]
    out[:, 1] = _summed(page.inner, by_set[:, 1:2])[:, 0]
    near = parent[element]
    out[:, 2] = by_set[hints[near], 2] + by_set[hints[parent[near]], 2]
    out[:, 3] = np.array(above)[element]
    words = list(map(words_of, page.text))
    summed = _summed([[known(word, none) for word in some] for some in words], values[:, 4::2])
    out[:, 4] = summed[:, 0]
    phrases = [known(" ".join(some), none) if len(some) <= PHRASE_WORDS else none for some in words]
    out[:, 5] = values[phrases, 5]
    under = np.array(headings(page, words))
    out[:, 6] = np.where(under >= 0, summed[under, 1], 0.0)
    return out


def _summed(rows: Sequence[Sequence[int]], values: Weights) -> Weights:
    """Return the sum of the rows of `values` that each of several lists names, shape (n_lists, n_columns)."""
    sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    some = sizes > 0
    out = np.zeros((len(rows), values.shape[1]), dtype=np.float32)
    if some.any():
        flat = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(sizes.sum()))
        out[some] = np.add.reduceat(values[flat], (np.cumsum(sizes) - sizes)[some])
    return out
