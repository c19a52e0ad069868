"""What the proxy counts, in a registry of its own, in base units (bytes, seconds)."""

from bisect import bisect_left
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

disable_created_metrics()  # type: ignore[no-untyped-call]

RESULTS = ("hit", "revalidated", "stale", "collapsed", "miss", "bypass", "unavailable", "error")
"""How a request was answered: from what is kept (fresh), after asking the origin whether it still holds, stale as
the rules allow, with what another request was fetching, by the origin, by the origin without a look at what is
kept, with our 504, or not at all."""

SOURCES = ("pending", "memory", "store")
"""Where a kept answer was found: accepted and not yet committed, among the hot pages, or in the database."""

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Tally:
    """Requests by result, with how long they took, and hits by source.

    A lock for each number would cost as much as finding the page: these belong to the event loop, and are put
    into shape when they are asked for.
    """

    def __init__(self) -> None:
        self.hits = dict.fromkeys(SOURCES, 0)
        self._counts = {result: [0] * (len(_BUCKETS) + 1) for result in RESULTS}
        self._seconds = dict.fromkeys(RESULTS, 0.0)

    def request(self, result: str, seconds: float) -> None:
        """Count a request."""
        self._counts[result][bisect_left(_BUCKETS, seconds)] += 1
        self._seconds[result] += seconds

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics, for the registry."""
        requests = CounterMetricFamily("pagemason_requests", "Requests answered, by result", labels=["result"])
        seconds = HistogramMetricFamily(
            "pagemason_request_seconds", "From the request's last byte to the answer's, by result", labels=["result"]
        )
        for result, counts in self._counts.items():
            so_far, buckets = 0, []
            for bound, count in zip((*map(str, _BUCKETS), "+Inf"), counts, strict=True):
                so_far += count
                buckets.append((bound, so_far))
            requests.add_metric([result], so_far)
            seconds.add_metric([result], buckets, self._seconds[result])
        hits = CounterMetricFamily("pagemason_hits", "Kept answers, by where they were found", labels=["source"])
        for source, count in self.hits.items():
            hits.add_metric([source], count)
        yield from (requests, seconds, hits)


class Metrics:
    """The counters of one process. All but the tally may be used from any thread."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.tally = Tally()
        registry.register(self.tally)
        self.captures_committed = Counter(
            "pagemason_captures_committed", "Captures whose transaction has committed", registry=registry
        )
        self.not_kept = Counter(
            "pagemason_not_kept", "Captures and changes that did not reach the store", ["reason"], registry=registry
        )
        self.queue_entries = Gauge(
            "pagemason_queue_entries", "Captures and changes accepted and not yet committed", registry=registry
        )
        self.queue_bytes = Gauge("pagemason_queue_bytes", "Bodies accepted and not yet committed", registry=registry)
        self.memory_bytes = Gauge("pagemason_memory_bytes", "Hot pages in memory", registry=registry)
        self.memory_pages = Gauge("pagemason_memory_pages", "Hot pages in memory", registry=registry)
        self.evictions = Counter("pagemason_evictions", "Pages that left the memory for others", registry=registry)
        self.read_failures = Counter(
            "pagemason_store_read_failures", "Look-ups without an answer, by reason", ["reason"], registry=registry
        )
        self.writer_restarts = Counter("pagemason_writer_restarts", "Writer processes replaced", registry=registry)
        self.views = Counter(
            "pagemason_views",
            "Pages that a content view was wanted of, by what the client was given",
            ["result"],
            registry=registry,
        )
        self.view_fallbacks = Counter(
            "pagemason_view_fallbacks",
            "Content views that became the full page, by reason",
            ["reason"],
            registry=registry,
        )
        self.view_hits = Counter("pagemason_view_hits", "Content views found in memory", registry=registry)
        self.view_seconds = Histogram(
            "pagemason_view_seconds", "Time that clients waited for a view to be made", registry=registry
        )
        self.view_memory_bytes = Gauge("pagemason_view_memory_bytes", "Content views in memory", registry=registry)
        self.errors = Counter("pagemason_errors", "Errors of ours, each with a log line", registry=registry)
