"""What the pages of a site say about one of them: which passages many of them have, and where their content lies.

The evidence holds a few notes a page, keyed by URL: a page captured again counts once, merging is a union, and one
client cannot raise the frequency of a text. At most MAX_PAGES pages count.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from extract.default.passages import Passages

MAX_PAGES = 200

SAME_TEMPLATE = 0.5
"""Jaccard index of two pages' paths from which they count as pages of one template."""

COMPARED_PAGES = 40
"""Pages whose templates are compared with that of a page."""

Doubles = NDArray[np.float64]
Hashes = NDArray[np.uint64]


class Notes(NamedTuple):
    """What is kept of one page: its distinct texts, with digits as one and as they are; for each distinct path the
    passages and words there and how many of these are expected to be content; the probabilities of its page types."""

    shapes: Hashes
    texts: Hashes
    paths: Hashes
    passages: NDArray[np.float32]
    words: NDArray[np.float32]
    kept: NDArray[np.float32]
    types: NDArray[np.float32]


HASHES = frozenset({"shapes", "texts", "paths"})
"""The fields of Notes that are 64-bit hashes; the others are numbers."""


@dataclass(frozen=True, slots=True)
class Others:
    """What `n` other pages of a site say of the passages of one: on how many of them the text stands, with digits as
    one and as they are, shape (n_passages,); what they have at its path: pages, passages, words, kept words, shape
    (n_passages, 4); and the mean probabilities of page types of those of the same template, None without any."""

    n: int
    shapes: Doubles
    texts: Doubles
    at_path: Doubles
    types: Doubles | None


NOBODY = Others(0, np.zeros(0), np.zeros(0), np.zeros((0, 4)), None)
"""No other page."""


def hashes_of(page: Passages) -> tuple[Hashes, Hashes, Hashes]:
    """Return a hash of each passage's text, digits as one as in `Page 2 of 7`; of its text as it is; its path."""
    texts = [_hash(text) for text in page.text]
    shapes = [_hash(_shape(text)) for text in page.text]
    path = page.elements.path
    paths = [path[element] for element in page.element]
    return np.array(shapes, np.uint64), np.array(texts, np.uint64), np.array(paths, np.uint64)


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


_DIGITS = str.maketrans("0123456789", "0000000000")


def _shape(text: str) -> str:
    return text.translate(_DIGITS) if len(text) < 80 else text


def notes_of(page: Passages, probability: Doubles, words: Doubles, types: Doubles) -> Notes:
    """Return the notes of a page."""
    shapes, texts, paths = hashes_of(page)
    distinct, at = np.unique(paths, return_inverse=True)
    n = len(distinct)
    return Notes(
        np.unique(shapes),
        np.unique(texts),
        distinct,
        np.bincount(at, minlength=n).astype(np.float32),
        np.bincount(at, words, minlength=n).astype(np.float32),
        np.bincount(at, words * probability, minlength=n).astype(np.float32),
        types.astype(np.float32),
    )


def first_of(urls: Collection[str], n: int) -> list[str]:
    """Return at most n of the URLs: a fair sample, the same whoever asks and in whatever order they came."""
    if len(urls) <= n:
        return list(urls)
    return sorted(urls, key=lambda url: xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass")))[:n]


@dataclass(frozen=True)
class SiteEvidence:
    """The notes of a site's pages by URL."""

    notes: Mapping[str, Notes] = field(default_factory=dict)

    @property
    def n_pages(self) -> int:
        """On how many distinct pages it rests."""
        return len(self.notes)

    def merge(self, other: "SiteEvidence") -> "SiteEvidence":
        """Return the evidence of both, of more than MAX_PAGES those whose URLs have the smallest hashes."""
        notes = {**self.notes, **other.notes}
        return SiteEvidence({url: notes[url] for url in first_of(notes, MAX_PAGES)})

    @cached_property
    def _shapes(self) -> tuple[Hashes, Doubles]:
        return _counted([notes.shapes for notes in self.notes.values()])

    @cached_property
    def _texts(self) -> tuple[Hashes, Doubles]:
        return _counted([notes.texts for notes in self.notes.values()])

    @cached_property
    def _paths(self) -> tuple[Hashes, Doubles]:
        """Distinct paths, and the sums of pages, passages, words and kept words of each, shape (n_paths, 4)."""
        every = list(self.notes.values())
        values, at = np.unique(np.concatenate([notes.paths for notes in every]), return_inverse=True)
        rows = np.concatenate([_rows(notes) for notes in every])
        sums = [np.bincount(at, rows[:, column], minlength=len(values)) for column in range(rows.shape[1])]
        return values, np.stack(sums, axis=1)

    def others(self, page: Passages, url: str) -> Others:
        """Return what the other pages say of a page; nothing when there are none."""
        old = self.notes.get(url)
        n_others = self.n_pages - (old is not None)
        if n_others <= 0:
            return NOBODY
        shapes, texts, paths = hashes_of(page)
        on_shapes = _looked_up(*self._shapes, shapes)[:, 0]
        on_texts = _looked_up(*self._texts, texts)[:, 0]
        at_path = _looked_up(*self._paths, paths)
        if old is not None:
            on_shapes -= np.isin(shapes, old.shapes)
            on_texts -= np.isin(texts, old.texts)
            at_path -= _looked_up(old.paths, _rows(old), paths)
        return Others(n_others, on_shapes, on_texts, np.maximum(at_path, 0.0), self._types(np.unique(paths), url))

    def _types(self, paths: Hashes, url: str) -> Doubles | None:
        alike = []
        for other in first_of(self.notes, COMPARED_PAGES):
            notes = self.notes[other]
            common = len(np.intersect1d(paths, notes.paths, assume_unique=True))
            if other != url and common >= SAME_TEMPLATE * (len(paths) + len(notes.paths) - common):
                alike.append(notes.types)
        return np.mean(alike, axis=0, dtype=np.float64) if alike else None


def _rows(notes: Notes) -> Doubles:
    columns = (np.ones(len(notes.paths)), notes.passages, notes.words, notes.kept)
    return np.stack(columns, axis=1).astype(np.float64)


def _counted(every: list[Hashes]) -> tuple[Hashes, Doubles]:
    values, counts = np.unique(np.concatenate(every), return_counts=True)
    return values, counts.astype(np.float64)[:, None]


def _looked_up(keys: Hashes, rows: Doubles, wanted: Hashes) -> Doubles:
    """Return the rows of the wanted keys, zeros for those that are unknown."""
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found: Doubles = rows[at] * (keys[at] == wanted)[:, None]
    return found
