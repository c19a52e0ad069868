"""What words, names and classes say: tokens of each passage, and the sums of their weights in a linear model.

A token is a hint (part of a name, class, id or role) in one of several slots: of the passage's own element, of an
inline element in it, of the two elements around, of any element above; or a word of the passage, the passage whole
when it is short, or a word of the heading it stands under.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from extract.default.characters import LETTER, Characters, Words
from extract.default.columns import Table, ints
from extract.default.passages import Passages

HINT_SLOTS = ("own", "inner", "near", "above")
WORD_SLOTS = ("word", "phrase", "under")
SLOTS = HINT_SLOTS + WORD_SLOTS

MAX_CHARS = 200
MAX_WORDS = 20
PHRASE_WORDS = 4
HEADING_WORDS = 10


Weights = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


def first_words(characters: Characters) -> Words:
    """Return the first words of each text in lower case, without numbers: MAX_WORDS of them count."""
    return characters.words(LETTER, head=MAX_CHARS, least=2)


def headings(heading: NDArray[np.bool_], n_words: Ints) -> Ints:
    """Return for each passage the index of the heading it stands under, -1 for none; long headings count as none.

    `heading` says which passages are headings, `n_words` counts the first words of each passage.
    """
    last = np.maximum.accumulate(np.where(heading, np.arange(len(heading)), -1))
    before = np.concatenate(([-1], last[:-1]))
    return np.where(n_words[before] <= HEADING_WORDS, before, -1)


def tokens(page: Passages, first: Words, heading: NDArray[np.bool_]) -> Iterator[list[str]]:
    """Yield the tokens of each passage, `slot:hint` or `slot:word`, given its first words and which are headings."""
    sets, elements = page.hint_sets, page.elements
    sizes = np.minimum(first.sizes, MAX_WORDS)
    words = [first.found[a : a + size] for a, size in zip(first.begins.tolist(), sizes.tolist(), strict=True)]
    above: list[tuple[str, ...]] = [()]
    for element in range(1, len(elements.name)):
        own = tuple(f"above:{hint}" for hint in sets[elements.hints[element]])
        above.append(above[elements.parent[element]] + own)
    for index, over in enumerate(headings(heading, sizes).tolist()):
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
        if over >= 0:
            found += [f"under:{word}" for word in words[over]]
        yield found


def sums(page: Passages, first: Words, table: Table, weights: Mapping[str, int], values: Weights) -> Weights:
    """Return the sum of the weights in each slot, shape (n_passages, n_slots), given the first words of each passage.

    `weights` has the row of each known hint and word in `values`, shape (n_known + 1, n_slots), the last row zero.
    Equal to adding up the weights of `tokens`, without making them.
    """
    none = len(values) - 1
    known, element, parent = weights.get, table.element, table.parent
    rows = [known(hint, none) for hint in chain.from_iterable(page.hint_sets)]
    by_set = _summed(values[rows, : len(HINT_SLOTS)], _sizes(page.hint_sets))
    hints, near = ints(page.elements.hints), parent[element]
    out = np.zeros((len(page), len(SLOTS)), dtype=np.float32)
    out[:, 0] = by_set[hints[element], 0]
    out[:, 1] = _summed(by_set[list(chain.from_iterable(page.inner)), 1:2], _sizes(page.inner))[:, 0]
    out[:, 2] = by_set[hints[near], 2] + by_set[hints[parent[near]], 2]
    out[:, 3] = _spanned(table, by_set[hints, 3])
    sizes = np.minimum(first.sizes, MAX_WORDS)
    of_word = ints([known(word, none) for word in first.found])
    place = np.arange(len(of_word)) - np.repeat(first.begins, first.sizes)
    summed = _summed(values[of_word[place < MAX_WORDS], 4::2], sizes)
    phrases = zip(first.begins.tolist(), sizes.tolist(), strict=True)
    whole = [known(" ".join(first.found[a : a + n]), none) if n <= PHRASE_WORDS else none for a, n in phrases]
    out[:, 4], out[:, 5] = summed[:, 0], values[whole, 5]
    under = headings(table.heading, sizes)
    out[:, 6] = np.where(under >= 0, summed[under, 1], 0.0)
    return out


def _spanned(table: Table, values: Weights) -> Doubles:
    """Return for each passage the sum of the values of the elements around it, which are those that span it."""
    n = len(table.words) + 1
    begin = np.bincount(table.first, values, minlength=n)
    return np.cumsum(begin - np.bincount(table.last, values, minlength=n))[:-1]


def _sizes(rows: Sequence[Sequence[object]]) -> Ints:
    return np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))


def _summed(values: Weights, sizes: Ints) -> Weights:
    """Return the sums of runs of rows, the first `sizes[0]` of them and so on, shape (n_runs, n_columns)."""
    some = sizes > 0
    out = np.zeros((len(sizes), values.shape[1]), dtype=np.float32)
    if len(values):
        out[some] = np.add.reduceat(values, (np.cumsum(sizes) - sizes)[some])
    return out
