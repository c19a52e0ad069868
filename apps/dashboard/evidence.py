"""What the pages of a site have in common: on how many each block stands, which block each resembles, and what an
extraction method prepares from them.

Worked out from the pages themselves (`apps.dashboard.reading`), a site at a time, and kept in memory until the site
changes. Of a large site so many captures are read as `pagemason show` reads, spread evenly.
"""

import logging
import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, cast

from apps.dashboard.reading import BLOCKS, LESS_PRIORITY, Key, Reading
from apps.site_blocks import SiteBlocks
from extract.registry import extractor
from proxy.views.rendering import N_EVIDENCE_PAGES
from store.base import SiteStats, StoreError

logger = logging.getLogger(__name__)

MAX_SITES = 8
"""Sites that are remembered, and as many methods' evidence."""

MOST_PATIENCE_SECONDS = 0.3
"""How long the reading of a site rests for answers before it goes on all the same."""

MAX_WAITING = 8
"""Sites that wait to be read; those that were asked for before them have to be asked for again."""

QUIET_SECONDS = 3.0
"""After the start, until the model is read."""

RECOUNT_SECONDS = 60.0
"""How long what is known of a site that keeps changing is used before it is worked out again."""


@dataclass(frozen=True, slots=True)
class _Known:
    value: Any
    stats: SiteStats | None
    made: float


class Evidence:
    """Reads sites when they are asked for. `close` ends its thread."""

    def __init__(self, reading: Reading, stats_of: Callable[[str], SiteStats | None]) -> None:
        self._reading, self._stats_of = reading, stats_of
        self._known: OrderedDict[Key, _Known] = OrderedDict()
        self._progress: dict[Key, tuple[int, int]] = {}
        self._lock = threading.Condition()
        self._wanted: deque[Key] = deque()
        self._closing = False
        self._n_answering = 0
        self._thread = threading.Thread(target=self._work, name="evidence", daemon=True)
        self._thread.start()

    def blocks(self, site: str, wait_seconds: float = 0.0) -> SiteBlocks | None:
        """Return what is known of a site's blocks; None while they are being counted, which this begins.

        A site that has changed is counted again behind the answer.
        """
        return cast(SiteBlocks | None, self._get((site, BLOCKS), wait_seconds))

    def prepared(self, site: str, method: str) -> Any:
        """Return what a method has prepared from pages of a site; None while it does, which this begins."""
        return self._get((site, method), 0.0)

    def _get(self, key: Key, wait_seconds: float) -> Any:
        stats = self._stats_of(key[0])
        deadline = time.monotonic() + wait_seconds
        with self._lock:
            known = self._known.get(key)
            old = known is None or (known.stats != stats and time.monotonic() - known.made > RECOUNT_SECONDS)
            if old and stats is not None and key not in self._progress:
                self._progress[key] = 0, stats.captures if key[1] == BLOCKS else N_EVIDENCE_PAGES
                self._want(key)
            self._n_answering -= 1  # who waits for the reading must not hold it up
            while key not in self._known and key in self._progress and time.monotonic() < deadline:
                self._lock.notify_all()
                self._lock.wait(max(0.0, deadline - time.monotonic()))
            self._n_answering += 1
            known = self._known.get(key)
            return None if known is None else known.value

    def _want(self, key: Key) -> None:
        """Put a site in front of the queue: who asked last is still looking."""
        self._wanted.append(key)
        if len(self._wanted) > MAX_WAITING:
            del self._progress[self._wanted.popleft()]
        self._lock.notify_all()

    def counted(self, site: str) -> SiteBlocks | None:
        """Return what is known of a site's blocks without beginning to count them."""
        with self._lock:
            known = self._known.get((site, BLOCKS))
            return None if known is None else known.value

    def progress(self, site: str) -> tuple[int, int] | None:
        """Return how many captures of how many have been read, None when the site is not being read."""
        with self._lock:
            return next((found for key, found in self._progress.items() if key[0] == site), None)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Let the reading of sites rest while an answer is made."""
        with self._lock:
            self._n_answering += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_answering -= 1
                self._lock.notify_all()

    def close(self) -> None:
        """End the thread."""
        with self._lock:
            self._closing = True
            self._lock.notify_all()
        self._reading.close()
        self._thread.join(10)

    def _work(self) -> None:
        if self._reading.rests:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LESS_PRIORITY)
        with self._lock:  # the first answers come before it
            self._lock.wait_for(lambda: self._wanted or self._closing, QUIET_SECONDS)
        if not self._closing:
            extractor()  # reads the model before somebody waits for it
        while (key := self._next()) is not None:
            value = None
            stats = self._stats_of(key[0])
            try:
                value = self._reading.read(key, stats, self._tell(key)) if stats is not None else None
            except StoreError as exc:
                if self._closing:
                    return
                logger.warning("the pages of %s were not read: %s", key[0], exc)
            except Exception:
                logger.exception("the pages of %s were not read", key[0])
            with self._lock:
                if value is not None:
                    self._keep(key, _Known(value, stats, time.monotonic()))
                self._progress.pop(key, None)
                self._lock.notify_all()

    def _next(self) -> Key | None:
        with self._lock:
            self._lock.wait_for(lambda: self._wanted or self._closing)
            return None if self._closing else self._wanted.pop()

    def _keep(self, key: Key, known: _Known) -> None:
        self._known[key] = known
        self._known.move_to_end(key)
        alike = [each for each in self._known if (each[1] == BLOCKS) == (key[1] == BLOCKS)]
        for each in alike[:-MAX_SITES]:
            del self._known[each]

    def _tell(self, key: Key) -> Callable[[int, int], bool]:
        def tell(n: int, of: int) -> bool:
            self._progress[key] = n, of
            if self._reading.rests:
                self._give_way()
            return not self._closing

        return tell

    def _give_way(self) -> None:
        """Wait while somebody waits for an answer: a thread's priority means nothing to the interpreter's lock."""
        with self._lock:
            self._lock.wait_for(lambda: self._closing or self._n_answering <= 0, MOST_PATIENCE_SECONDS)
