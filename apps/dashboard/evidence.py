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
from queue import SimpleQueue

from apps.site_blocks import SiteBlocks, spread
from store.base import SiteStats, Store, StoreError

logger = logging.getLogger(__name__)

MAX_SITES = 8
"""Sites that are remembered."""

RECOUNT_SECONDS = 60.0
"""How long a count of a site that keeps changing is used before it is counted again."""


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
        found = SiteBlocks(site, stats, time.monotonic())
        records = self._store.of_site(site)
        found.n_site_captures = len(records)
        sample = spread(records)
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
