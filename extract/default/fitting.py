"""Training of the network: gradient descent over whole pages, in numpy. Needs scipy for sparse sums.

The loss of a page is the mean over its passages of the cross-entropy, weighted by their words, plus a share of one
less the soft F1 of its words: what is chosen in the end is scored by F1. Pages of rare types count more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from extract.default.network import NAMES, Member, Network, probability_of, standardised
from extract.default.surroundings import Surroundings, joined

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Gradients = dict[str, Floats]

EPOCHS = 12
RATE = 2e-3
"""The highest learning rate; it rises over WARM_UP batches and falls as a cosine."""

WARM_UP = 100
BATCH_PASSAGES = 3000
DROPPED = 0.2
"""Share of the numbers between layers that a step of training leaves out."""

DECAY = 1e-3
F1_SHARE = 0.25
ROOM = 0.02
"""Added to the soft F1's parts, so that a page without content has one."""

SCALE_PASSAGES = 150
"""Passages of a page by which columns are standardised."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A page to learn from: its columns, who stands around whom, which are content, their words, its weight."""

    columns: Floats
    around: Surroundings
    content: NDArray[np.bool_]
    words: Doubles
    weight: float


def fit_network(lessons: Sequence[Lesson], seed: int = 0, members: int = 1) -> Network:
    """Return the network that these pages teach; weights are rounded to what is stored."""
    mean, scale = _scale(lessons, seed)
    scaled = [standardised(lesson.columns, mean, scale) for lesson in lessons]
    return Network(mean, scale, tuple(_fit(lessons, scaled, seed + number) for number in range(members)))


def _scale(lessons: Sequence[Lesson], seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    rows = []
    for lesson in lessons:
        n = len(lesson.columns)
        some = slice(None) if n <= SCALE_PASSAGES else random.choice(n, SCALE_PASSAGES, replace=False)
        rows.append(lesson.columns[some])
    every = np.concatenate(rows)
    return every.mean(0), (1 / (every.std(0) + 1e-3)).astype(np.float32)


def _fit(lessons: Sequence[Lesson], scaled: Sequence[Floats], seed: int) -> Member:
    random = np.random.default_rng(seed)
    member = Member.random(scaled[0].shape[1], random)
    steps = _Steps(member)
    for _ in range(EPOCHS):
        batches = list(_batches(lessons, random))
        for batch in batches:
            those = [lessons[index] for index in batch]
            columns = np.concatenate([scaled[index] for index in batch])
            gradients = _gradients(member, columns, joined([each.around for each in those]), those, random)
            steps.take(gradients, EPOCHS * len(batches))
    return Member(*(getattr(member, name).astype(np.float16).astype(np.float32) for name in NAMES))


def _batches(lessons: Sequence[Lesson], random: np.random.Generator) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for index in random.permutation(len(lessons)).tolist():
        n = len(lessons[index].words)
        if batch and size + n > BATCH_PASSAGES:
            yield batch
            batch, size = [], 0
        batch.append(index)
        size += n
    if batch:
        yield batch


class _Steps:
    """Adam (Kingma and Ba 2015) with decoupled weight decay; changes the weights in place."""

    def __init__(self, member: Member) -> None:
        self.weights = {name: getattr(member, name) for name in NAMES}
        self.mean = {name: np.zeros_like(value) for name, value in self.weights.items()}
        self.square = {name: np.zeros_like(value) for name, value in self.weights.items()}
        self.n = 0

    def take(self, gradients: Gradients, n_all: int) -> None:
        """Take one step of about `n_all`."""
        self.n += 1
        rate = RATE * min(1.0, self.n / WARM_UP) * 0.5 * (1 + np.cos(np.pi * min(1.0, self.n / n_all)))
        for name, gradient in gradients.items():
            self.mean[name] = 0.9 * self.mean[name] + 0.1 * gradient
            self.square[name] = 0.999 * self.square[name] + 0.001 * gradient**2
            mean = self.mean[name] / (1 - 0.9**self.n)
            deviation = np.sqrt(self.square[name] / (1 - 0.999**self.n)) + 1e-8
            weights = self.weights[name]
            weights -= (rate * mean / deviation).astype(np.float32)
            if not name.endswith("bias"):
                weights *= np.float32(1 - rate * DECAY)


def _gradients(
    member: Member, columns: Floats, around: Surroundings, lessons: Sequence[Lesson], random: np.random.Generator
) -> Gradients:
    """Return the gradient of the loss by each of the weights."""
    hidden = np.maximum(columns @ member.first + member.first_bias, 0.0)
    hidden_left = _left(hidden.shape, random)
    hidden *= hidden_left
    heard = np.concatenate((hidden, around.means(hidden @ member.message)), axis=1)
    judged = np.maximum(heard @ member.second + member.second_bias, 0.0)
    judged_left = _left(judged.shape, random)
    judged *= judged_left
    probability = probability_of((judged @ member.last)[:, 0] + member.last_bias)

    by_odds = _by_odds(probability, lessons)[:, None]
    by_judged = by_odds @ member.last.T * judged_left * (judged > 0)
    by_heard = by_judged @ member.second.T
    n_hidden = hidden.shape[1]
    by_message = _sent_back(around, by_heard[:, n_hidden:], member.message.shape[1])
    by_hidden = (by_heard[:, :n_hidden] + by_message @ member.message.T) * hidden_left * (hidden > 0)
    return {
        "first": columns.T @ by_hidden,
        "first_bias": by_hidden.sum(0),
        "message": hidden.T @ by_message,
        "second": heard.T @ by_judged,
        "second_bias": by_judged.sum(0),
        "last": judged.T @ by_odds,
        "last_bias": by_odds.sum(0),
    }


def _left(shape: tuple[int, ...], random: np.random.Generator) -> Floats:
    kept = random.random(shape, dtype=np.float32) > DROPPED
    return kept.astype(np.float32) / np.float32(1 - DROPPED)


def _by_odds(probability: Doubles, lessons: Sequence[Lesson]) -> Floats:
    """Return the gradient of the loss by the log-odds of each passage."""
    parts, at = [], 0
    for lesson in lessons:
        there = probability[at : at + len(lesson.words)]
        at += len(lesson.words)
        content, words = lesson.content, np.maximum(lesson.words, 1.0)
        weights = words**0.6 / (words**0.6).sum()
        share = words / words.sum()
        both = (share * there * content).sum() + ROOM
        either = (share * (there + content)).sum() + 2 * ROOM
        by_f1 = -2 * share * (content * either - both) / either**2
        parts.append(lesson.weight * (weights * (there - content) + F1_SHARE * by_f1 * there * (1 - there)))
    gradient: Floats = (np.concatenate(parts) / sum(lesson.weight for lesson in lessons)).astype(np.float32)
    return gradient


def _sent_back(around: Surroundings, gradient: Floats, n: int) -> Floats:
    """Return the gradient by each passage's message, shape (n_passages, n), given that by all the means of it."""
    from scipy.sparse import csr_matrix

    n_spans, n_passages = around.low.shape
    changes = np.zeros((n_passages + 1, n))
    at, ones = np.arange(n_passages), np.ones(n_passages, np.float32)
    for span in range(n_spans):
        low, high = around.low[span], around.high[span]
        part = gradient[:, span * n : (span + 1) * n] / np.maximum(1, high - low)[:, None].astype(np.float32)
        begins, ends = (csr_matrix((ones, (where, at)), shape=(n_passages + 1, n_passages)) for where in (low, high))
        changes += begins @ part - ends @ part
    total: Floats = np.cumsum(changes, axis=0)[:-1].astype(np.float32) + around.of_group(gradient[:, n_spans * n :])
    return total
