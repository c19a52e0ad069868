"""Captures, entries and parts made for tests of the proxy."""

import time
from typing import Any

from blocks.model import Capture
from proxy.caching import Policy
from proxy.entry import Entry, received_entry
from proxy.losses import Losses
from proxy.memory import Memory
from proxy.metrics import Metrics
from proxy.operations import Limits

POLICY = Policy()
LIMITS = Limits(1 << 20, 1000, patience_seconds=5)
FRESH = ((b"Content-Type", b"text/html"), (b"Cache-Control", b"max-age=3600"))


def capture(url: str = "http://a.test/", instant: int | None = None, **changes: Any) -> Capture:
    """Return a fresh capture, received now."""
    instant = instant or time.time_ns() // 1000
    values: dict[str, Any] = {"status": 200, "headers": FRESH, "body": b"<p>page</p>", "request_time": instant}
    return Capture(url=url, time=instant, **(values | changes))


def entry(url: str = "http://a.test/", instant: int | None = None, **changes: Any) -> Entry:
    """Return the entry of a capture that has just arrived."""
    return received_entry(capture(url, instant, **changes), POLICY)


def memory(limit: int = 1 << 20) -> Memory:
    """Return an empty memory."""
    return Memory(limit, Metrics())


def losses(metrics: Metrics | None = None) -> Losses:
    """Return a counter of losses."""
    return Losses(metrics or Metrics())


def count(metrics: Metrics, name: str, **labels: str) -> float:
    """Return a sample."""
    return metrics.registry.get_sample_value(name, labels) or 0.0
