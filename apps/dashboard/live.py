"""What the running proxy says of itself, and how it went over time.

The proxy's counters live in its process. The dashboard asks for them over a pipe, and a thread there answers: the
proxy's event loop takes no part in it.
"""

import json
import logging
import threading
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Protocol

from prometheus_client import generate_latest

from store.base import Bytes, SiteStats, Stats, Store, StoreError
from store.totals import SHARED

if TYPE_CHECKING:
    from proxy.service import Service  # the dashboard's own process does without mitmproxy

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 2.0
REFETCH_SECONDS = 1.5
"""Less than the one above: a page that takes longer to fetch comes behind the answer."""

_REFETCH = b"refetch "

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
class Snapshot:
    """The proxy at one moment: `metrics` as Prometheus reads them, `values` by sample name and labels."""

    mode: str = ""
    ready: bool = False
    metrics: str = ""
    values: dict[str, float] = field(default_factory=dict)

    def total(self, name: str) -> float:
        """Return a sample summed over its labels."""
        return sum(value for key, value in self.values.items() if key.partition("{")[0] == name)

    def by_label(self, name: str) -> dict[str, float]:
        """Return the samples of a metric with one label, by its value."""
        start = name + "{"
        return {key[len(start) : -1]: value for key, value in self.values.items() if key.startswith(start)}


def snapshot_of(service: "Service") -> Snapshot:
    """Return what a service says of itself, from any thread of its process."""
    values = {}
    for metric in service.metrics.registry.collect():
        for sample in metric.samples:
            if len(sample.labels) <= 1:
                label = "".join(f"{{{value}}}" for value in sample.labels.values())
                values[sample.name + label] = sample.value
    text = generate_latest(service.metrics.registry).decode()
    return Snapshot(service.mode, service.ready, text, values)


class Proxy(Protocol):
    """A running proxy, as the dashboard sees it."""

    def snapshot(self) -> Snapshot | None:
        """Return how it is now, None when it does not answer."""
        ...

    def refetch(self, url: str) -> str:
        """Let it fetch a page anew; return in a sentence what came of it."""
        ...


class ProxyHere:
    """A proxy in this process."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def snapshot(self) -> Snapshot:
        return snapshot_of(self._service)

    def refetch(self, url: str) -> str:
        return self._service.refetch(url, REFETCH_SECONDS)


class ProxyThere:
    """A proxy at the other end of a pipe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def snapshot(self) -> Snapshot | None:
        answer = self._ask(b"snapshot")
        return None if answer is None else Snapshot(**json.loads(answer))

    def refetch(self, url: str) -> str:
        answer = self._ask(_REFETCH + url.encode("utf-8", "surrogatepass"))
        return "The proxy does not answer." if answer is None else answer.decode("utf-8", "replace")

    def _ask(self, question: bytes) -> bytes | None:
        with self._lock, suppress(OSError, EOFError):
            while self._connection.poll():  # the answer to a question that was given up
                self._connection.recv_bytes()
            self._connection.send_bytes(question)
            if self._connection.poll(ANSWER_SECONDS):
                return self._connection.recv_bytes()
        return None


def tell(connection: Connection, service: "Service") -> None:
    """Answer the questions of a dashboard in another process until it is gone."""
    with suppress(OSError, EOFError):
        while question := connection.recv_bytes():
            if question.startswith(_REFETCH):
                url = question.removeprefix(_REFETCH).decode("utf-8", "surrogatepass")
                connection.send_bytes(service.refetch(url, REFETCH_SECONDS).encode("utf-8", "replace"))
            else:
                connection.send_bytes(json.dumps(asdict(snapshot_of(service))).encode())


@dataclass(frozen=True, slots=True)
class Sample:
    """The store and the proxy at one moment; `time` in seconds since the epoch, requests and hits since the start."""

    time: float
    captures: int
    bytes: Bytes
    requests: float = 0.0
    hits: float = 0.0


HITS = ("hit", "revalidated", "stale")
"""Results that were answered from what is kept."""


def hits_of(snapshot: Snapshot) -> float:
    """Return how many requests were answered from what is kept."""
    results = snapshot.by_label("pagemason_requests_total")
    return sum(results.get(name, 0.0) for name in HITS)


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

    def snapshot(self) -> Snapshot | None:
        """Return how the proxy is, at most STATS_SECONDS old; None when there is none or it does not answer."""
        if self.proxy is None:
            return None
        with self._asking:
            now = time.monotonic()
            if self._snapshot is None or now - self._snapshot[0] > STATS_SECONDS:
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
