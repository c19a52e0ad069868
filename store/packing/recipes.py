"""Recipes as columns: the runs of all captures of a pack, encoded so that equal stretches of pages stay equal. Pure.

A run's source is 0 for bytes of the pack itself that no run before has used (their offset follows from the lengths:
new blocks are appended in the order of the pages), 1 for other bytes of the pack itself, and i + 1 for the i-th
pack it needs. Separate columns of fixed width took a fifth to two fifths less than numbers of variable length,
one run after the other, once compressed (docs/format.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from struct import Struct, unpack_from

import numpy as np
from numpy.typing import NDArray

from blocks.model import Recipe, Run

MAX_SOURCES = 254
"""Packs that one pack may need: a source is one byte."""

_HEADER = Struct("<III")
"""Whether columns are wide, number of captures, number of new runs."""

_WEIGHTS = np.array([[1, 1 << 8, 1 << 16, 0, 0], [0, 0, 0, 1, 1 << 8]], np.int64)
"""What the bytes of a narrow offset and length count for."""

Runs = Sequence[tuple[int, int, int]]
"""Runs as (source, offset, length); source 0 is the pack itself, i the i-th pack it needs."""


class BadRecipes(ValueError):
    """The bytes are no recipes."""


def _none() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass(slots=True)
class Recipes:
    """The runs of all captures of a pack: three columns of shape (n_runs,), and where each capture's begin."""

    sources: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    offsets: NDArray[np.int64] = field(default_factory=_none)
    lengths: NDArray[np.int64] = field(default_factory=_none)
    starts: list[int] = field(default_factory=lambda: [0])
    """One more than there are captures."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    def recipe(self, slot: int) -> Recipe:
        """Return the recipe of a capture."""
        part = slice(self.starts[slot], self.starts[slot + 1])
        columns = (self.sources[part].tolist(), self.offsets[part].tolist(), self.lengths[part].tolist())
        return Recipe(tuple(map(Run, *columns)))

    def columns(self, slot: int) -> tuple[list[int], list[int], list[int]]:
        """Return the runs of a capture: their sources, and where in these they start and stop."""
        begin, end = self.starts[slot : slot + 2]
        starts = self.offsets[begin:end]
        return self.sources[begin:end].tolist(), starts.tolist(), (starts + self.lengths[begin:end]).tolist()

    def size(self, slot: int) -> int:
        """Return the bytes of a capture's body."""
        return int(self.lengths[self.starts[slot] : self.starts[slot + 1]].sum())


def encode(all_runs: Sequence[Runs]) -> bytes:
    """Return the recipes of a pack's captures as bytes."""
    sources, fresh, others = bytearray(), [], []
    end = 0
    for runs in all_runs:
        for source, offset, length in runs:
            if source == 0 and offset == end:
                sources.append(0)
                fresh.append(length)
                end += length
            else:
                sources.append(source + 1)
                others.append((offset, length))
    counts = np.array([len(runs) for runs in all_runs], "<u4")
    lengths = np.array(fresh, "<u4")
    places = np.array(others, "<u4").reshape(-1, 2)
    wide = bool((lengths >= 1 << 16).any() or (places[:, 1] >= 1 << 16).any() or (places[:, 0] >= 1 << 24).any())
    widths = (4, 4, 4) if wide else (2, 3, 2)
    columns = (_cut(lengths, widths[0]), np.hstack([_cut(places[:, 0], widths[1]), _cut(places[:, 1], widths[2])]))
    header = np.array([wide, len(counts), len(lengths)], "<u4").tobytes()
    return header + counts.tobytes() + bytes(sources) + b"".join(column.tobytes() for column in columns)


def decode(data: bytes) -> Recipes:
    """Return the recipes that `encode` was given. BadRecipes when the bytes are none.

    Every cold read does this: most of the time is that of calling numpy, so it is called seldom.
    """
    if len(data) < _HEADER.size:
        raise BadRecipes("recipes: too short")
    wide, n_captures, n_fresh = _HEADER.unpack_from(data)
    at = _HEADER.size + 4 * n_captures
    if wide > 1 or len(data) < at:
        raise BadRecipes("recipes: bad header")
    starts = list(accumulate(unpack_from(f"<{n_captures}I", data, _HEADER.size), initial=0))
    n_runs, width = starts[-1], 4 if wide else 2
    n_others = n_runs - n_fresh
    if n_others < 0 or len(data) != at + n_runs + width * n_fresh + (8 if wide else 5) * n_others:
        raise BadRecipes("recipes: their columns have another length")
    coded = np.frombuffer(data, np.uint8, n_runs, at)
    is_other = coded.astype(np.bool_)
    if np.count_nonzero(is_other) != n_others:
        raise BadRecipes("recipes: their sources do not add up")
    new = np.frombuffer(data, f"<u{width}", n_fresh, at + n_runs).astype(np.int64)
    places = _places(data, at + n_runs + width * n_fresh, n_others, wide=bool(wide))
    is_fresh = ~is_other
    lengths, offsets = np.empty(n_runs, np.int64), np.empty(n_runs, np.int64)
    lengths[is_fresh], offsets[is_fresh] = new, new.cumsum() - new
    offsets[is_other], lengths[is_other] = places[0], places[1]
    return Recipes(coded - is_other, offsets, lengths, starts)


def _cut(numbers: NDArray[np.uint32], width: int) -> NDArray[np.uint8]:
    """Return the lowest bytes of numbers, shape (n, width)."""
    return np.ascontiguousarray(numbers).view(np.uint8).reshape(-1, 4)[:, :width]


def _places(data: bytes, at: int, n: int, *, wide: bool) -> NDArray[np.int64]:
    """Return offsets and lengths, shape (2, n)."""
    if wide:
        return np.frombuffer(data, "<u4", 2 * n, at).reshape(n, 2).T.astype(np.int64)
    return _WEIGHTS @ np.frombuffer(data, np.uint8, 5 * n, at).reshape(n, 5).T
