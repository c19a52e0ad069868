"""The trained numbers of our own method, and what they make of a page. No framework: a dozen arrays and numpy.

In the order of use: a linear model of cues (words, names, classes), a linear model of page types, a small network over
all columns of a passage, and a second network that also sees what the first made of the passages around.
"""

import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blocks.model import body_digest
from extract.clues import PAGE_TYPES, clues, page_tokens, page_vector, softmax, token_rows
from extract.columns import Table, columns
from extract.context import context
from extract.cues import SLOTS, sums
from extract.passages import Passages
from extract.structured import Meta, Structured, read_meta, read_structured

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

WINDOWS = (1, 2, 4)
CLIP = 4.0

MAX_ROWS = 4096
"""Rows that are worked out at once: what the layers make of them takes several times the memory of the columns."""


def squash(values: Floats) -> Floats:
    """Return sign(x) log(1 + |x|): counts and shares in one range."""
    squashed: Floats = np.sign(values) * np.log1p(np.abs(values))
    return squashed


@dataclass(frozen=True, slots=True)
class Network:
    """Layers of a network with rectified units and one output; several of them side by side are averaged."""

    mean: Floats
    scale: Floats
    layers: tuple[tuple[tuple[Floats, Floats], ...], ...]

    def probability(self, values: Floats) -> Doubles:
        """Return the mean output for rows of squashed columns, shape (n_rows,), 0.0 to 1.0."""
        parts = [self._probability(values[at : at + MAX_ROWS]) for at in range(0, len(values), MAX_ROWS)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _probability(self, values: Floats) -> Doubles:
        scaled = np.clip((values - self.mean) * self.scale, -CLIP, CLIP)
        total = np.zeros(len(values))
        for layers in self.layers:
            active = scaled
            for weights, bias in layers[:-1]:
                active = np.maximum(active @ weights + bias, 0.0)
            weights, bias = layers[-1]
            total += 1 / (1 + np.exp(-np.clip(active @ weights + bias, -30, 30)[:, 0].astype(np.float64)))
        return total / len(self.layers)


@dataclass(frozen=True, slots=True)
class Types:
    """A linear model of page types over a page's vector and tokens."""

    mean: Floats
    scale: Floats
    weights: Floats
    bias: Floats
    tokens: Mapping[str, int]
    token_weights: Floats

    def probabilities(self, vector: Floats, tokens: set[str]) -> Doubles:
        """Return the probability of each of PAGE_TYPES."""
        scaled = np.clip((vector - self.mean) * self.scale, -CLIP, CLIP)
        known = self.token_weights[token_rows(tokens, self.tokens)].sum(0)
        return softmax((scaled @ self.weights + known + self.bias).astype(np.float64))


@dataclass(frozen=True, slots=True)
class Facts:
    """What was read off a page before anything trained looks at it."""

    page: Passages
    table: Table
    squashed: Floats
    structured: Structured
    meta: Meta
    clues: Floats
    vector: Floats
    of_page: Floats
    tokens: set[str]


def read_facts(page: Passages, url: str) -> Facts:
    """Return the facts of a page of at least one passage."""
    structured, meta = read_structured(page.structured), read_meta(page.meta)
    table = columns(page)
    squashed = squash(table.values)
    found, of_page = clues(page, structured, meta)
    vector = page_vector(squashed, table.words, of_page)
    tokens = page_tokens(page, url, structured, meta)
    return Facts(page, table, squashed, structured, meta, found, vector, of_page, tokens)


def first_columns(facts: Facts, cues: Floats, types: Doubles) -> Floats:
    """Return what the first network sees, shape (n_passages, n_columns)."""
    n = len(facts.page)
    total = cues.sum(1, keepdims=True)
    prefix = np.concatenate((np.zeros((1, 1)), np.cumsum(total, axis=0, dtype=np.float64)))
    at = np.arange(n)
    smooth = []
    for size in WINDOWS:
        low, high = np.maximum(at - size, 0), np.minimum(at + size + 1, n)
        smooth.append((prefix[high] - prefix[low]) / (high - low)[:, None])
    words = facts.table.words
    shares = words / max(1.0, words.sum())
    own = np.concatenate((facts.squashed[:, 20:35], squash(total)), axis=1)
    page = np.concatenate((own.mean(0), shares @ own, facts.of_page, types, facts.vector[-6:-4]))
    parts = (facts.squashed, squash(np.concatenate((cues, total, *smooth), axis=1, dtype=np.float32)), facts.clues)
    return np.concatenate((*parts, np.broadcast_to(page, (n, len(page)))), axis=1, dtype=np.float32)


def second_columns(facts: Facts, first: Floats, probability: Doubles) -> Floats:
    """Return what the second network sees, shape (n_passages, n_columns)."""
    return np.concatenate((first, squash(context(facts.table, probability))), axis=1, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Numbers:
    """All that training found out, and how it was found."""

    cue_rows: Mapping[str, int]
    cue_values: Floats
    types: Types
    first: Network
    second: Network
    about: Mapping[str, Any] = field(default_factory=dict)

    def judge(self, facts: Facts) -> tuple[Doubles, Doubles]:
        """Return how probable it is that each passage is content, and the probabilities of the page types."""
        cues = sums(facts.page, self.cue_rows, self.cue_values)
        types = self.types.probabilities(facts.vector, facts.tokens)
        first = first_columns(facts, cues, types)
        probability = self.first.probability(first)
        return self.second.probability(second_columns(facts, first, probability)), types


def dump(numbers: Numbers) -> bytes:
    """Return the numbers as an npz archive; `load` reads it. The same numbers give the same bytes."""
    arrays: dict[str, NDArray[Any]] = {
        "cue_words": _packed(numbers.cue_rows),
        "cue_values": numbers.cue_values[:-1].astype(np.float16),
        "type_words": _packed(numbers.types.tokens),
        "type_tokens": numbers.types.token_weights.astype(np.float16),
        "about": np.frombuffer(json.dumps(numbers.about, sort_keys=True).encode(), np.uint8),
    }
    for name in ("mean", "scale", "weights", "bias"):
        arrays[f"type_{name}"] = getattr(numbers.types, name)
    for stage in ("first", "second"):
        network: Network = getattr(numbers, stage)
        arrays[f"{stage}_mean"], arrays[f"{stage}_scale"] = network.mean, network.scale
        for index, layers in enumerate(network.layers):
            for level, (weights, bias) in enumerate(layers):
                arrays[f"{stage}_{index}_{level}_weights"] = weights.astype(np.float16)
                arrays[f"{stage}_{index}_{level}_bias"] = bias.astype(np.float32)
    out = BytesIO()
    np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def load(data: bytes) -> Numbers:
    """Return the numbers of an archive made by `dump`. ValueError or KeyError when it is none."""
    with np.load(BytesIO(data), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    values = arrays["cue_values"].astype(np.float32)
    types = Types(
        arrays["type_mean"],
        arrays["type_scale"],
        arrays["type_weights"],
        arrays["type_bias"],
        _unpacked(arrays["type_words"]),
        arrays["type_tokens"].astype(np.float32),
    )
    if values.shape[1] != len(SLOTS) or types.weights.shape[1] != len(PAGE_TYPES):
        raise ValueError("the numbers are of another version of the method")
    rows = np.concatenate((values, np.zeros((1, len(SLOTS)), np.float32)))
    first, second = (_network(arrays, stage) for stage in ("first", "second"))
    return Numbers(_unpacked(arrays["cue_words"]), rows, types, first, second, json.loads(arrays["about"].tobytes()))


def _packed(rows: Mapping[str, int]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(sorted(rows, key=rows.__getitem__)).encode(), np.uint8)


def _unpacked(packed: NDArray[np.uint8]) -> dict[str, int]:
    text = packed.tobytes().decode()
    return {word: row for row, word in enumerate(text.split("\n"))} if text else {}


def _network(arrays: Mapping[str, NDArray[Any]], stage: str) -> Network:
    members: list[tuple[tuple[Floats, Floats], ...]] = []
    while f"{stage}_{len(members)}_0_weights" in arrays:
        layers: list[tuple[Floats, Floats]] = []
        while (key := f"{stage}_{len(members)}_{len(layers)}_weights") in arrays:
            bias: Floats = arrays[key.replace("weights", "bias")]
            layers.append((arrays[key].astype(np.float32), bias))
        members.append(tuple(layers))
    return Network(arrays[f"{stage}_mean"], arrays[f"{stage}_scale"], tuple(members))


@cache
def shipped() -> Numbers:
    """Return the numbers that come with the program."""
    return load(_shipped())


@cache
def version() -> bytes:
    """Return a digest of the numbers that come with the program: what other numbers make of a page may differ."""
    return body_digest(_shipped())


def _shipped() -> bytes:
    data = pkgutil.get_data("extract", "model.npz")
    if data is None:
        raise FileNotFoundError("extract/model.npz is not installed")
    return data
