"""What the running proxy says of itself: its counters, and what comes of fetching a page anew.

The counters live in the proxy's process. The dashboard asks for them over a pipe, and a thread there answers: the
proxy's event loop takes no part in it.
"""

import json
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Protocol

from prometheus_client import generate_latest

if TYPE_CHECKING:
    from proxy.service import Service  # the dashboard's own process does without mitmproxy

ANSWER_SECONDS = 2.0
REFETCH_SECONDS = 1.5
"""Less than the one above: a page that takes longer to fetch comes behind the answer."""

_REFETCH = b"refetch "


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


HITS = ("hit", "revalidated", "stale")
"""Results that were answered from what is kept."""


def hits_of(snapshot: Snapshot) -> float:
    """Return how many requests were answered from what is kept."""
    results = snapshot.by_label("pagemason_requests_total")
    return sum(results.get(name, 0.0) for name in HITS)
