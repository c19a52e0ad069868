"""The totals of the store and the proxy's counters, and how they went over time."""

import logging
import threading
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from apps.dashboard.counters import Proxy, Snapshot, hits_of
from store.base import Bytes, SiteStats, Stats, Store, StoreError
from store.totals import SHARED

logger = logging.getLogger(__name__)

SAMPLE_SECONDS = 5.0
N_SAMPLES = 720
"""An hour."""

STATS_SECONDS = 1.0
"""How long the totals of the store, and the proxy's counters, are used before they are asked for again."""

STATS_SHARE = 0.1
"""Of the time, what reading the totals may take."""

STATS_WAIT_SECONDS = 0.1
"""How long an answer waits for totals while it has others that are not much older."""

OLD_SECONDS = 60.0
"""Totals older than this are shown to nobody: who comes back to the dashboard waits for new ones."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The store and the proxy at one moment; `time` in seconds since the epoch, requests and hits since the start."""

    time: float
    captures: int
    bytes: Bytes
    requests: float = 0.0
    hits: float = 0.0


class Live:
    """The totals of the store, the proxy's counters, and a sample of both every few seconds."""

    def __init__(self, store: Store, proxy: Proxy | None) -> None:
        self._store, self.proxy = store, proxy
        self._stats: tuple[float, Stats] | None = None
        self._stats_took = 0.0
        self._sites: dict[str, SiteStats] = {}
        self._reading: Future[Stats] | None = None
        self._reader = ThreadPoolExecutor(1, "totals")
        self._snapshot: tuple[float, Snapshot] | None = None
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._end = threading.Event()
        self.samples: deque[Sample] = deque(maxlen=N_SAMPLES)
        self._thread = threading.Thread(target=self._run, name="samples", daemon=True)

    def start(self) -> None:
        """Begin to take samples."""
        self._thread.start()

    def stats(self) -> Stats:
        """Return the totals of the store, at most STATS_SECONDS old, or somewhat older when reading them takes long.
        StoreError when it does not answer."""
        with self._lock:
            kept = self._stats
            age = time.monotonic() - kept[0] if kept else OLD_SECONDS
            if kept and age <= max(STATS_SECONDS, self._stats_took / STATS_SHARE):
                return kept[1]
            if self._reading is None or self._reading.done():
                self._reading = self._reader.submit(self._read)
            reading = self._reading
        try:
            return reading.result(STATS_WAIT_SECONDS if age < OLD_SECONDS else None)
        except TimeoutError:
            return kept[1] if kept else reading.result()

    def site(self, name: str) -> SiteStats | None:
        """Return the totals of a site, None when nothing of it is kept. StoreError."""
        self.stats()
        return self._sites.get(name)

    def _read(self) -> Stats:
        began = time.monotonic()
        found = self._store.stats()
        sites = {row.site: row for row in found.by_site if row.site != SHARED}
        with self._lock:
            self._stats, self._stats_took, self._sites = (began, found), time.monotonic() - began, sites
        return found

    def snapshot(self, max_age_seconds: float = STATS_SECONDS) -> Snapshot | None:
        """Return how the proxy is, or was a moment ago; None when there is none or it does not answer."""
        if self.proxy is None:
            return None
        with self._asking:
            now = time.monotonic()
            if self._snapshot is None or now - self._snapshot[0] > max_age_seconds:
                found = self.proxy.snapshot()
                self._snapshot = None if found is None else (now, found)
            return self._snapshot[1] if self._snapshot else None

    def sample(self) -> Sample:
        """Take a sample now."""
        stats, snapshot = self.stats(), self.snapshot() or Snapshot()
        requests = snapshot.total("pagemason_requests_total")
        return Sample(time.time(), stats.captures, stats.bytes, requests, hits_of(snapshot))

    def close(self) -> None:
        """Take no more samples."""
        self._end.set()
        self._reader.shutdown(wait=False, cancel_futures=True)
        if self._thread.ident is not None:
            self._thread.join(10)

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                self.samples.append(self.sample())
            except StoreError as exc:
                logger.warning("no sample was taken: %s", exc)
            self._end.wait(SAMPLE_SECONDS)


def ratios(samples: list[Sample]) -> list[tuple[float, float]]:
    """Return the share of requests answered from what is kept between neighbouring samples, where there were any."""
    found = []
    for before, after in pairwise(samples):
        requests = after.requests - before.requests
        if requests > 0:
            found.append((after.time, min(1.0, max(0.0, (after.hits - before.hits) / requests))))
    return found


def figures(value: Any) -> dict[str, int]:
    """Return the four figures by name."""
    return {name: getattr(value, name) for name in ("original", "exact", "block", "ondisk")}
