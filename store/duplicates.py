"""Near-duplicates of a stored page on any site: captures with the same long blocks, as when two print one agency text.

Fingerprints find candidates (`Store.alike`); what is told of them comes from their texts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from blocks.encoding import encoding_of
from blocks.fingerprints import WIDTH, Fingerprints, fingerprints_of, meeting
from blocks.model import Capture
from blocks.shingles import shingles
from blocks.terms import Words
from blocks.text import terms, texts
from store.base import DamagedPage, NoSuchCapture, Record, Store
from store.packing.kinds import is_page, pieces_of

MOST_BLOCKS = 256
"""Long blocks of a page that are compared, the longest."""

MOST_READ = 60
"""Candidates that are read to answer one question."""

SAME = 0.5
"""Resemblance above which two blocks are said to be the same text: with one word of forty changed it is 0.85, with
five far apart 0.43."""

Content = Callable[[Capture], Sequence[bytes]]
"""Which blocks of a page are its content."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A capture that has a long block in common with the page asked for.

    `n_shared` is how many of the page's long content blocks it has, `resemblance` that of both pages' long content
    blocks: distinct shingles of three terms in both, as a share of those in either (Broder 1997), 0.0 to 1.0.
    """

    record: Record
    n_shared: int
    resemblance: float


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """The near-duplicates of a page, most resembling first; of how many long content blocks it was asked; and how many
    captures were left out, because reading them would take too long."""

    found: tuple[NearDuplicate, ...] = ()
    n_blocks: int = 0
    n_unread: int = 0


@dataclass(frozen=True, slots=True)
class _Long:
    """Distinct long blocks of a page: their fingerprints, shape (n_blocks, 6), and the shingles of each."""

    fingerprints: Fingerprints
    shingles: list[Words]

    def all(self) -> Words:
        return np.unique(np.concatenate(self.shingles)) if self.shingles else np.empty(0, np.uint64)


def near_duplicates(
    store: Store, record: Record, content: Content = pieces_of, *, most_read: int = MOST_READ
) -> NearDuplicates:
    """Return the captures, of other pages, that have a content block of 40 words or more of this one; of each page one.

    `content` chooses the content blocks of a page, by default all are. What is private is like nothing. DamagedPage
    and NoSuchCapture when the capture itself cannot be read.
    """
    return near_duplicates_of(store, store.read(record), content, most_read=most_read)


def near_duplicates_of(
    store: Store, capture: Capture, content: Content = pieces_of, *, most_read: int = MOST_READ
) -> NearDuplicates:
    """Return the near-duplicates of a page that is at hand, and need not be in the store."""
    if capture.private or not is_page(capture):
        return NearDuplicates()
    ours = _long(capture, content(capture))
    if not ours.shingles:
        return NearDuplicates()
    alike = store.alike(ours.fingerprints)
    chosen = _one_a_page(alike.records, capture.url)
    found = []
    for record in chosen[:most_read]:
        try:
            other = store.read(record)
        except (NoSuchCapture, DamagedPage):
            continue
        n_shared = _n_shared(ours, _long(other, pieces_of(other)))
        if n_shared:
            found.append(NearDuplicate(record, n_shared, _resemblance(ours.all(), _long(other, content(other)).all())))
    found.sort(key=lambda n: (-n.resemblance, -n.n_shared, n.record.capture.url))
    return NearDuplicates(tuple(found), len(ours.shingles), alike.n_unread + len(chosen[most_read:]))


def _one_a_page(records: Iterable[Record], url: str) -> list[Record]:
    """Return one capture of each page other than the one with this URL."""
    seen = {url}
    chosen = []
    for record in records:
        if record.capture.url not in seen:
            seen.add(record.capture.url)
            chosen.append(record)
    return chosen


def _long(capture: Capture, blocks: Iterable[bytes]) -> _Long:
    """Look at those blocks that have 40 terms or more."""
    encoding = encoding_of(capture.body, capture.header("content-type"))
    distinct = sorted(dict.fromkeys(blocks), key=len, reverse=True)
    rows, found = fingerprints_of(distinct, encoding)
    rows, found = rows[:MOST_BLOCKS], found[:MOST_BLOCKS]
    long = texts([distinct[row] for row in rows.tolist()], encoding)
    return _Long(found, [shingles([term.encode("utf-8", "replace") for term in terms(text)], WIDTH) for text in long])


def _n_shared(ours: _Long, theirs: _Long) -> int:
    """Return how many of our blocks they have, by their texts."""
    n_shared = 0
    for number, own in enumerate(ours.shingles):
        candidates = np.flatnonzero(meeting(theirs.fingerprints, ours.fingerprints[number : number + 1]))
        n_shared += any(_resemblance(own, theirs.shingles[at]) >= SAME for at in candidates.tolist())
    return n_shared


def _resemblance(a: Words, b: Words) -> float:
    """Return |A ∩ B| / |A ∪ B| of two sets of shingles, 0.0 when both are empty."""
    both = len(np.intersect1d(a, b, assume_unique=True))
    either = len(a) + len(b) - both
    return both / either if either else 0.0
