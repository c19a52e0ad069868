"""What the pages of a site have in common: on how many each block stands, and which block each resembles.

Counted from the pages themselves by one thread with low priority, a site at a time, and kept in memory until the site
changes. Of a large site so many captures are read as `pagemason show` reads, spread evenly.
"""

import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue

import numpy as np

from apps.cli.blocks import Placed, blocks_of
from apps.cli.show import MAX_CAPTURES
from blocks.encoding import encoding_of
from blocks.features import block_vectors
from blocks.model import Capture, body_digest
from blocks.similarity import SimilarityIndex
from store.base import Record, SiteStats, Store, StoreError

logger = logging.getLogger(__name__)

SIMILAR = 0.9
"""The cosine above which a block is said to resemble another (Debnath et al. 2005, section 4.4.1)."""

MAX_SITES = 8
"""Sites that are remembered."""

MAX_BLOCKS = 200_000
"""Distinct blocks of a site that are told apart; later ones are left out."""

RECOUNT_SECONDS = 60.0
"""How long a count of a site that keeps changing is used before it is counted again."""


@dataclass(slots=True)
class Known:
    """A distinct block of a site: where it stands first, on which pages (numbers), in how many captures, and the
    most similar block that the site had before it, if any."""

    digest: bytes
    size: int
    tag: str
    place: tuple[int, int]
    """Number of the capture it stands in first, and offset there."""
    pages: list[int] = field(default_factory=list)
    n_captures: int = 0
    base: int = -1
    cosine: float = 0.0

    @property
    def saved(self) -> int:
        """Bytes that keeping it once saves, before compression."""
        return self.size * (self.n_captures - 1)


@dataclass(slots=True)
class SiteBlocks:
    """The distinct blocks of a site, in the order in which they were met; `records` are the captures read."""

    stats: SiteStats
    made: float
    records: list[Record] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    known: list[Known] = field(default_factory=list)
    by_digest: dict[bytes, int] = field(default_factory=dict)
    index: SimilarityIndex = field(default_factory=SimilarityIndex)
    n_site_captures: int = 0
    template_bytes: int = 0
    all_bytes: int = 0

    @property
    def template_share(self) -> float | None:
        """Share of the pages' bytes that lie in blocks which stand on more than half of the pages."""
        return self.template_bytes / self.all_bytes if self.all_bytes and len(self.urls) > 1 else None

    def of(self, block: bytes) -> Known | None:
        """Return what is known of a block's bytes."""
        at = self.by_digest.get(body_digest(block))
        return None if at is None else self.known[at]

    def add(self, record: Record, capture: Capture) -> None:
        """Count the blocks of a capture; captures of one page come one after the other."""
        if not self.urls or self.urls[-1] != capture.url:
            self.urls.append(capture.url)
        page, number = len(self.urls) - 1, len(self.records)
        self.records.append(record)
        new: list[Placed] = []
        distinct = {body_digest(block.data): block for block in reversed(blocks_of(capture))}
        for digest, block in reversed(distinct.items()):
            at = self.by_digest.get(digest)
            if at is None:
                if len(self.known) >= MAX_BLOCKS:
                    continue
                at = self.by_digest[digest] = len(self.known)
                self.known.append(Known(digest, len(block.data), block.tag, (number, block.offset)))
                new.append(block)
            known = self.known[at]
            known.n_captures += 1
            if not known.pages or known.pages[-1] != page:
                known.pages.append(page)
        self._find_bases(new, capture)

    def _find_bases(self, new: list[Placed], capture: Capture) -> None:
        if not new:
            return
        first = len(self.known) - len(new)
        codec = encoding_of(capture.body, capture.header("content-type"))
        found = self.index.find_and_add(
            np.arange(first, first + len(new)), block_vectors([block.data for block in new], codec), SIMILAR
        )
        for at, (base, cosine) in enumerate(zip(found.ids.tolist(), found.cosines.tolist(), strict=True), first):
            self.known[at].base, self.known[at].cosine = base, cosine

    def finish(self) -> None:
        """Sum up what needs all pages."""
        half = len(self.urls) / 2
        self.all_bytes = sum(block.size * block.n_captures for block in self.known)
        self.template_bytes = sum(b.size * b.n_captures for b in self.known if len(b.pages) > half)


class Evidence:
    """Counts sites when they are asked for. `close` ends its thread."""

    def __init__(self, store: Store, stats_of: Callable[[str], SiteStats | None]) -> None:
        self._store, self._stats_of = store, stats_of
        self._found: OrderedDict[str, SiteBlocks] = OrderedDict()
        self._progress: dict[str, tuple[int, int]] = {}
        self._lock = threading.Condition()
        self._wanted: SimpleQueue[str | None] = SimpleQueue()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="evidence", daemon=True)
        self._thread.start()

    def blocks(self, site: str, wait_seconds: float = 0.0) -> SiteBlocks | None:
        """Return what is known of a site's blocks; None while they are being counted, which this begins.

        A site that has changed is counted again behind the answer.
        """
        stats = self._stats_of(site)
        deadline = time.monotonic() + wait_seconds
        with self._lock:
            found = self._found.get(site)
            old = found is None or (found.stats != stats and time.monotonic() - found.made > RECOUNT_SECONDS)
            if old and stats is not None and site not in self._progress:
                self._progress[site] = 0, stats.captures
                self._wanted.put(site)
            while site not in self._found and site in self._progress and time.monotonic() < deadline:
                self._lock.wait(max(0.0, deadline - time.monotonic()))
            return self._found.get(site)

    def counted(self, site: str) -> SiteBlocks | None:
        """Return what is known of a site without beginning to count it."""
        with self._lock:
            return self._found.get(site)

    def progress(self, site: str) -> tuple[int, int] | None:
        """Return how many captures of how many have been read, None when the site is not being counted."""
        with self._lock:
            return self._progress.get(site)

    def close(self) -> None:
        """End the thread."""
        self._closing = True
        self._wanted.put(None)
        self._thread.join(10)

    def _work(self) -> None:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        while (site := self._wanted.get()) is not None and not self._closing:
            found = None
            try:
                found = self._count(site)
            except StoreError as exc:
                logger.warning("the blocks of %s were not counted: %s", site, exc)
            except Exception:
                logger.exception("the blocks of %s were not counted", site)
            with self._lock:
                if found is not None:
                    self._found[site] = found
                    self._found.move_to_end(site)
                    while len(self._found) > MAX_SITES:
                        self._found.popitem(last=False)
                self._progress.pop(site, None)
                self._lock.notify_all()

    def _count(self, site: str) -> SiteBlocks | None:
        stats = self._stats_of(site)
        if stats is None:
            return None
        found = SiteBlocks(stats, time.monotonic())
        records = self._store.of_site(site)
        found.n_site_captures = len(records)
        sample = records[:: -(-len(records) // MAX_CAPTURES) or 1]
        for number, record in enumerate(sample):
            if self._closing:
                return None
            with suppress(StoreError):  # a page that is damaged or gone by now teaches nothing
                found.add(record, self._store.read(record))
            self._progress[site] = number + 1, len(sample)
            time.sleep(0)  # requests first
        found.finish()
        found.made = time.monotonic()
        return found
