"""The network that judges passages: each by its own columns, then again with what those around it have to say.

A first layer makes of a passage's columns what can be said of it, a few numbers of that go as messages to all
passages around (`surroundings`), and a second layer judges a passage by both. It is a graph network of one
round whose graph is the page. Several members, trained from other beginnings, are averaged.
"""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from extract.default.surroundings import N_SURROUNDINGS, Surroundings

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

CLIP = 4.0
"""Standardised columns are cut off here."""

MAX_ROWS = 4096
"""Passages worked on at once: what the layers make of them takes several times the memory of the columns."""

HIDDEN, MESSAGE, JUDGING = 48, 16, 32
"""Numbers of a passage after the first layer, in a message, after the second layer."""


@dataclass(frozen=True, slots=True)
class Member:
    """The weights of one network, float32; `first` has a row a column, `last` one column."""

    first: Floats
    first_bias: Floats
    message: Floats
    second: Floats
    second_bias: Floats
    last: Floats
    last_bias: Floats

    @classmethod
    def random(cls, n_columns: int, random: np.random.Generator) -> Self:
        """Return weights to begin training with (He et al. 2015)."""

        def layer(n_from: int, n_to: int) -> Floats:
            values: Floats = (random.standard_normal((n_from, n_to)) * np.sqrt(2 / n_from)).astype(np.float32)
            return values

        return cls(
            layer(n_columns, HIDDEN),
            np.zeros(HIDDEN, np.float32),
            layer(HIDDEN, MESSAGE),
            layer(HIDDEN + MESSAGE * N_SURROUNDINGS, JUDGING),
            np.zeros(JUDGING, np.float32),
            layer(JUDGING, 1) / np.float32(2),
            np.full(1, -1.0, np.float32),
        )

    def hidden(self, scaled: Floats) -> Floats:
        """Return what the first layer makes of passages, shape (n_passages, HIDDEN)."""
        hidden: Floats = np.maximum(scaled @ self.first + self.first_bias, 0.0)
        return hidden

    def odds(self, hidden: Floats, around: Surroundings) -> Floats:
        """Return the log-odds of passages, shape (n_passages,)."""
        parts, at = [], 0
        for heard in around.parts(hidden @ self.message, MAX_ROWS):
            both = np.concatenate((hidden[at : at + len(heard)], heard), axis=1)
            judged = np.maximum(both @ self.second + self.second_bias, 0.0)
            parts.append((judged @ self.last)[:, 0] + self.last_bias)
            at += len(heard)
        return np.concatenate(parts)


NAMES = tuple(each.name for each in fields(Member))


@dataclass(frozen=True, slots=True)
class Network:
    """The mean and the scale that columns are standardised with, and the members."""

    mean: Floats
    scale: Floats
    members: tuple[Member, ...]

    def probability(self, columns: Floats, around: Surroundings) -> Doubles:
        """Return how probable it is that each passage is content, shape (n_passages,), the mean of the members."""
        parts: list[list[Floats]] = [[] for _ in self.members]
        for at in range(0, len(columns), MAX_ROWS):
            scaled = standardised(columns[at : at + MAX_ROWS], self.mean, self.scale)
            for member, hidden in zip(self.members, parts, strict=True):
                hidden.append(member.hidden(scaled))
        total = np.zeros(len(columns))
        for member, hidden in zip(self.members, parts, strict=True):
            total += probability_of(member.odds(np.concatenate(hidden), around))
        return total / len(self.members)


def standardised(columns: Floats, mean: Floats, scale: Floats) -> Floats:
    """Return columns with about zero mean and unit deviation, shape kept."""
    scaled: Floats = np.subtract(columns, mean, dtype=np.float32)
    scaled *= scale
    return np.clip(scaled, -CLIP, CLIP, out=scaled)


def probability_of(odds: Floats) -> Doubles:
    """Return the probabilities of log-odds."""
    probabilities: Doubles = 1 / (1 + np.exp(-np.clip(odds.astype(np.float64), -30, 30)))
    return probabilities
