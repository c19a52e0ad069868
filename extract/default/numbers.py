"""The trained numbers of our own method, and what they make of a page. No framework: a dozen arrays and numpy.

In the order of use: a linear model of cues (words, names, classes), a linear model of page types, and a small network
over all columns of the passages and of those around them (`extract.default.network`).
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
from extract.default.characters import Characters, Words
from extract.default.clues import PAGE_TYPES, clues, page_tokens, page_vector, softmax, token_rows
from extract.default.columns import Table, columns
from extract.default.cues import SLOTS, first_words, sums
from extract.default.network import CLIP, NAMES, Member, Network
from extract.default.passages import Passages
from extract.default.structured import Meta, Structured, read_meta, read_structured
from extract.default.surroundings import surroundings

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

WINDOWS = (1, 2, 4)
"""Passages on each side over which the cues are averaged."""


def squash(values: Floats) -> Floats:
    """Return sign(x) log(1 + |x|): counts and shares in one range."""
    squashed: Floats = np.abs(values)
    np.log1p(squashed, out=squashed)
    return np.copysign(squashed, values, out=squashed)


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
    first: Words
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
    characters = Characters(page.text)
    table = columns(page, characters)
    squashed = squash(table.values)
    found, of_page = clues(characters, structured, meta)
    vector = page_vector(squashed, table.words, of_page)
    tokens = page_tokens(page, url, structured, meta)
    first = first_words(characters)
    return Facts(page, first, table, squashed, structured, meta, found, vector, of_page, tokens)


def inputs(facts: Facts, cues: Floats, types: Doubles) -> Floats:
    """Return what the network sees of each passage, shape (n_passages, n_columns)."""
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


@dataclass(frozen=True, slots=True)
class Numbers:
    """All that training found out, and how it was found."""

    cue_rows: Mapping[str, int]
    cue_values: Floats
    types: Types
    network: Network
    about: Mapping[str, Any] = field(default_factory=dict)

    def judge(self, facts: Facts, alike: Doubles | None = None) -> tuple[Doubles, Doubles]:
        """Return how probable it is that each passage is content, and the probabilities of the page types.

        `alike` are the mean probabilities of the types of pages of the same template: they are of one type.
        """
        cues = sums(facts.page, facts.first, facts.table, self.cue_rows, self.cue_values)
        types = self.types.probabilities(facts.vector, facts.tokens)
        if alike is not None:
            types = types * alike / (types @ alike)
        return self.network.probability(inputs(facts, cues, types), surroundings(facts.table)), types


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
    arrays["network_mean"], arrays["network_scale"] = numbers.network.mean, numbers.network.scale
    for index, member in enumerate(numbers.network.members):
        arrays |= {f"network_{index}_{name}": getattr(member, name).astype(np.float16) for name in NAMES}
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
    about = json.loads(arrays["about"].tobytes())
    return Numbers(_unpacked(arrays["cue_words"]), rows, types, _network(arrays), about)


def _packed(rows: Mapping[str, int]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(sorted(rows, key=rows.__getitem__)).encode(), np.uint8)


def _unpacked(packed: NDArray[np.uint8]) -> dict[str, int]:
    text = packed.tobytes().decode()
    return {word: row for row, word in enumerate(text.split("\n"))} if text else {}


def _network(arrays: Mapping[str, NDArray[Any]]) -> Network:
    members: list[Member] = []
    while f"network_{len(members)}_{NAMES[0]}" in arrays:
        weights = (arrays[f"network_{len(members)}_{name}"].astype(np.float32) for name in NAMES)
        members.append(Member(*weights))
    return Network(arrays["network_mean"], arrays["network_scale"], tuple(members))


@cache
def shipped() -> Numbers:
    """Return the numbers that come with the program."""
    return load(_shipped())


@cache
def version() -> bytes:
    """Return a digest of the numbers that come with the program: what other numbers make of a page may differ."""
    return body_digest(_shipped())


def _shipped() -> bytes:
    data = pkgutil.get_data("extract.default", "model.npz")
    if data is None:
        raise FileNotFoundError("extract/default/model.npz is not installed")
    return data
