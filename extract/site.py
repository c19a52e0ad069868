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

from extract.passages import Passages

MAX_PAGES = 200

Doubles = NDArray[np.float64]
Hashes = NDArray[np.uint64]


class Notes(NamedTuple):
    """What is kept of one page: its distinct texts, and for each distinct path the words there and how many of them
    are expected to be content."""

    texts: Hashes
    paths: Hashes
    words: NDArray[np.float32]
    kept: NDArray[np.float32]


def hashes_of(page: Passages) -> tuple[Hashes, Hashes]:
    """Return a hash of each passage's text and of its path; digits count as one, as in `Page 2 of 7`."""
    texts = [xxhash.xxh3_64_intdigest(_shape(text).encode("utf-8", "surrogatepass")) for text in page.text]
    path = page.elements.path
    return np.array(texts, dtype=np.uint64), np.array([path[element] for element in page.element], dtype=np.uint64)


_DIGITS = str.maketrans("0123456789", "0000000000")


def _shape(text: str) -> str:
    return text.translate(_DIGITS) if len(text) < 80 else text


def notes_of(page: Passages, probability: Doubles, words: Doubles) -> Notes:
    """Return the notes of a page."""
    texts, paths = hashes_of(page)
    distinct, at = np.unique(paths, return_inverse=True)
    n_words = np.bincount(at, words, minlength=len(distinct)).astype(np.float32)
    kept = np.bincount(at, words * probability, minlength=len(distinct)).astype(np.float32)
    return Notes(np.unique(texts), distinct, n_words, kept)


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
    def _texts(self) -> tuple[Hashes, NDArray[np.int64]]:
        every = [notes.texts for notes in self.notes.values()]
        values, counts = np.unique(np.concatenate(every), return_counts=True)
        return values, counts.astype(np.int64)

    @cached_property
    def _paths(self) -> tuple[Hashes, Doubles]:
        """Distinct paths, and the sums of pages, words and kept words of each, shape (n_paths, 3)."""
        every = list(self.notes.values())
        values, at = np.unique(np.concatenate([notes.paths for notes in every]), return_inverse=True)
        sums = [
            np.bincount(at, minlength=len(values)),
            np.bincount(at, np.concatenate([notes.words for notes in every]), minlength=len(values)),
            np.bincount(at, np.concatenate([notes.kept for notes in every]), minlength=len(values)),
        ]
        return values, np.stack(sums, axis=1).astype(np.float64)

    def others(self, page: Passages, url: str) -> tuple[int, Doubles, Doubles]:
        """Return how many other pages there are; for each passage on how many of them its text stands; and what they
        have at its path: pages, words and kept words, shape (n_passages, 3)."""
        n = len(page)
        known = url in self.notes
        n_others = self.n_pages - known
        if n_others <= 0:
            return 0, np.zeros(n), np.zeros((n, 3))
        texts, paths = hashes_of(page)
        values, counts = self._texts
        times = _looked_up(values, counts.astype(np.float64)[:, None], texts)[:, 0]
        at_path = _looked_up(*self._paths, paths)
        if known:
            old = self.notes[url]
            times -= np.isin(texts, old.texts)
            rows = np.stack((np.ones(len(old.paths)), old.words, old.kept), axis=1).astype(np.float64)
            at_path -= _looked_up(old.paths, rows, paths)
        return n_others, times, np.maximum(at_path, 0.0)


def _looked_up(keys: Hashes, rows: Doubles, wanted: Hashes) -> Doubles:
    """Return the rows of the wanted keys, zeros for those that are unknown."""
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found: Doubles = rows[at] * (keys[at] == wanted)[:, None]
    return found
