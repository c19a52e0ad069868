"""Training of our own method: from pages and their main content to Numbers. Needs scikit-learn (extra `experiments`).

What one model says is a column of the next one, so each is asked only about pages it was not fitted on: the pages are
cut into INNER folds by group, and a page's columns come from the models fitted on the other folds. Groups are the
registrable domains, so that no model is ever asked about a site it knows.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blocks.site import host_of
from extract.default.choice import choose
from extract.default.clues import PAGE_TYPES
from extract.default.core import centred
from extract.default.cues import SLOTS, sums, tokens
from extract.default.fitting import Lesson, fit_network
from extract.default.network import CLIP
from extract.default.numbers import Facts, Numbers, Types, inputs, read_facts
from extract.default.reader import read_passages
from extract.default.surroundings import surroundings
from extract.default.truth import labels, words_of
from extract.protocol import MissingExtra

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

INNER = 3
"""Folds by which the columns of later models are made."""

MIN_GROUPS = 6
"""Groups that must have a cue for it to have a weight."""

MIN_PAGES = 5
"""Pages that must have a page token."""

MEMBERS = 2
"""Networks that are averaged."""

RARE = 0.25
"""Power with which pages of a type that has few count more."""

_TWO_LEVELS = frozenset(["co", "com", "org", "net", "ac", "gov", "edu", "or", "ne", "go", "gob"])


def group_of(url: str) -> str:
    """Return the registrable domain of a URL, near enough: its last two labels, three below `co.uk` and its like.

    >>> group_of("https://shop.a.co.uk/x")
    'a.co.uk'
    """
    labels_ = host_of(url).split(".")
    n = 3 if len(labels_) > 2 and labels_[-2] in _TWO_LEVELS and len(labels_[-1]) == 2 else 2
    return ".".join(labels_[-n:])


@dataclass(frozen=True, slots=True)
class Example:
    """A page to learn from: what was read off it, its labels, its words, and its truth."""

    group: str
    page_type: int
    facts: Facts | None
    labels: Doubles
    words: Doubles
    bags: tuple[Counter[str], ...]
    truth: Counter[str]
    cues: tuple[Counter[str], ...]


def example(source: str, url: str, truth: str, page_type: str) -> Example:
    """Return a page and its main content as an example. ValueError for an unknown page type."""
    page = read_passages(source)
    bags = tuple(Counter(words_of(text)) for text in page.text)
    facts = read_facts(page, url) if len(page) else None
    return Example(
        group_of(url),
        PAGE_TYPES.index(page_type),
        facts,
        np.nan_to_num(labels(page.text, truth)),
        np.array([bag.total() for bag in bags], dtype=np.float64),
        bags,
        Counter(words_of(truth)),
        tuple(Counter(found) for found in tokens(page, facts.first, facts.table.heading)) if facts else (),
    )


def word_f1(answer: Counter[str], truth: Counter[str]) -> float:
    """Return the F1 of two bags of words; an empty truth is met by an empty answer only."""
    if not truth or not answer:
        return float(not truth and not answer)
    return 2 * (answer & truth).total() / (answer.total() + truth.total())


def score(examples: Sequence[Example], probabilities: Sequence[Doubles]) -> dict[str, float]:
    """Return the mean word F1 over all pages and by page type."""
    by_type: dict[str, list[float]] = {"all": []}
    for each, probability in zip(examples, probabilities, strict=True):
        answer: Counter[str] = Counter()
        for index in np.flatnonzero(choose(probability, each.words)):
            answer.update(each.bags[index])
        value = word_f1(answer, each.truth)
        by_type["all"].append(value)
        by_type.setdefault(PAGE_TYPES[each.page_type], []).append(value)
    return {name: round(float(np.mean(values)), 4) for name, values in sorted(by_type.items())}


def folds_of(examples: Sequence[Example], n: int, salt: str = "") -> NDArray[np.int64]:
    """Return the fold of each example by its group; the same for the same group everywhere."""
    return np.array([zlib.crc32((salt + each.group).encode()) % n for each in examples])


def cross_validate(
    examples: Sequence[Example], n_folds: int = 5, told: Callable[[str], None] = lambda line: None, seed: int = 0
) -> list[Doubles]:
    """Return the probabilities of each page's passages by a model fitted on the folds without it."""
    folds = folds_of(examples, n_folds)
    out: list[Doubles] = [np.zeros(0)] * len(examples)
    for fold in range(n_folds):
        numbers = fit([each for each, at in zip(examples, folds, strict=True) if at != fold], seed)
        for index in np.flatnonzero(folds == fold).tolist():
            facts = examples[index].facts
            if facts is not None:
                probability, types = numbers.judge(facts)
                out[index] = centred(probability, facts, types)
        told(f"fold {fold + 1} of {n_folds}")
    return out


def fit(examples: Sequence[Example], seed: int = 0, members: int = MEMBERS) -> Numbers:
    """Return the numbers that these examples teach."""
    try:
        import sklearn  # noqa: F401
    except ImportError as exc:
        raise MissingExtra("training needs scikit-learn: install pagemason[experiments]") from exc
    usable = [each for each in examples if each.facts is not None]
    folds = folds_of(usable, INNER, "inner")
    cue_rows, type_rows = _cue_rows(usable), _type_rows(usable)
    cues = _cues_of(usable, cue_rows)
    cue_fits = [_fit_cues(cues.of(folds != fold)) for fold in range(INNER)]
    type_fits = [_fit_types(_without(usable, folds, fold), type_rows) for fold in range(INNER)]
    columns = [
        _inputs(each, cue_rows, cue_fits[fold], type_fits[fold]) for each, fold in zip(usable, folds, strict=True)
    ]
    network = fit_network(_lessons(usable, columns), seed, members)
    return Numbers(cue_rows, _fit_cues(cues), _fit_types(usable, type_rows), network)


def _facts(each: Example) -> Facts:
    assert each.facts is not None
    return each.facts


def _without(examples: Sequence[Example], folds: NDArray[np.int64], fold: int) -> list[Example]:
    return [each for each, at in zip(examples, folds, strict=True) if at != fold]


def _inputs(each: Example, rows: dict[str, int], values: Floats, types: Types) -> Floats:
    facts = _facts(each)
    return inputs(
        facts, sums(facts.page, facts.first, facts.table, rows, values), types.probabilities(facts.vector, facts.tokens)
    )


def _lessons(examples: Sequence[Example], columns: Sequence[Floats]) -> list[Lesson]:
    of_type = Counter(each.page_type for each in examples)
    fair = len(examples) / len(PAGE_TYPES)
    return [
        Lesson(
            seen,
            surroundings(_facts(each).table),
            each.labels > 0.5,
            each.words,
            (fair / of_type[each.page_type]) ** RARE,
        )
        for each, seen in zip(examples, columns, strict=True)
    ]


def _cue_rows(examples: Sequence[Example]) -> dict[str, int]:
    groups: dict[str, set[str]] = {}
    for each in examples:
        for cue in set().union(*each.cues):
            groups.setdefault(cue, set()).add(each.group)
    known = {cue.partition(":")[2] for cue, found in groups.items() if len(found) >= MIN_GROUPS}
    return {word: row for row, word in enumerate(sorted(known))}


def _type_rows(examples: Sequence[Example]) -> dict[str, int]:
    counts = Counter(token for each in examples for token in _facts(each).tokens)
    return {token: row for row, token in enumerate(sorted(t for t, n in counts.items() if n >= MIN_PAGES))}


def _weights(each: Example, power: float) -> Doubles:
    """Weigh passages so that each page counts alike and longer passages more."""
    weights = np.maximum(each.words, 1.0) ** power
    shares: Doubles = weights / weights.sum()
    return shares


@dataclass(frozen=True, slots=True)
class _Cues:
    """The cues of all passages of some examples, as a sparse matrix with a column for each cue in each slot; which
    passages are content, and what each weighs."""

    matrix: Any
    content: NDArray[np.bool_]
    weights: Doubles
    n_passages: NDArray[np.int64]

    def of(self, pages: NDArray[np.bool_]) -> "_Cues":
        """Return the same of some of the examples."""
        some = np.repeat(pages, self.n_passages)
        return _Cues(self.matrix[some], self.content[some], self.weights[some], self.n_passages[pages])


def _cues_of(examples: Sequence[Example], rows: dict[str, int]) -> _Cues:
    from scipy.sparse import csr_matrix

    slot_of = {name: index for index, name in enumerate(SLOTS)}
    columns: dict[str, int] = {}
    indices: list[int] = []
    values: list[int] = []
    ends = [0]
    for each in examples:
        for cues in each.cues:
            for cue, times in cues.items():
                column = columns.get(cue)
                if column is None:
                    slot, _, word = cue.partition(":")
                    column = columns[cue] = rows[word] * len(SLOTS) + slot_of[slot] if word in rows else -1
                if column >= 0:
                    indices.append(column)
                    values.append(times)
            ends.append(len(indices))
    shape = (len(ends) - 1, len(rows) * len(SLOTS))
    matrix = csr_matrix((np.array(values, np.float32), np.array(indices, np.int32), np.array(ends)), shape=shape)
    content = np.concatenate([each.labels for each in examples]) > 0.5
    weights = np.concatenate([_weights(each, 0.5) for each in examples])
    return _Cues(matrix, content, weights, np.array([len(each.cues) for each in examples]))


def _fit_cues(cues: _Cues) -> Floats:
    """Return the weight of each cue in each slot, a last row of zeros added."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=0.004, max_iter=60, tol=1e-3)
    _quietly(model, cues.matrix, cues.content, cues.weights * len(cues.weights) / cues.weights.sum())
    found = model.coef_[0].reshape(-1, len(SLOTS)).astype(np.float16).astype(np.float32)
    return np.concatenate((found, np.zeros((1, len(SLOTS)), np.float32)))


def _fit_types(examples: Sequence[Example], rows: dict[str, int]) -> Types:
    from scipy.sparse import csr_matrix, hstack
    from sklearn.linear_model import LogisticRegression

    vectors = np.stack([_facts(each).vector for each in examples])
    mean, scale = vectors.mean(0), 1 / (vectors.std(0) + 1e-3)
    known = [sorted(rows[token] for token in _facts(each).tokens if token in rows) for each in examples]
    ends = np.cumsum([0, *map(len, known)])
    flat = np.array([row for found in known for row in found], dtype=np.int32)
    tokens_ = csr_matrix((np.ones(len(flat), np.float32), flat, ends), shape=(len(examples), len(rows)))
    part = 0.25  # the columns agree with each other: together they are not to drown the words
    matrix = hstack((csr_matrix(np.clip((vectors - mean) * scale, -CLIP, CLIP) * part), tokens_)).tocsr()
    model = LogisticRegression(C=0.2, max_iter=300)
    _quietly(model, matrix, np.array([each.page_type for each in examples]), None)
    weights = np.zeros((matrix.shape[1], len(PAGE_TYPES)), np.float32)
    bias = np.full(len(PAGE_TYPES), -30.0, np.float32)
    weights[:, model.classes_] = model.coef_.T
    bias[model.classes_] = model.intercept_
    n = vectors.shape[1]
    rounded = weights[n:].astype(np.float16).astype(np.float32)
    return Types(mean, scale.astype(np.float32), weights[:n] * np.float32(part), bias, rows, rounded)


def _quietly(model: Any, values: Any, target: Any, weights: Doubles | None) -> None:
    """Fit a model; that it stops after the iterations it was given is intended and no warning."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(values, target, sample_weight=weights)
