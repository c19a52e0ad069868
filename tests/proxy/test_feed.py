"""The queue before the writer: bounded, in order, and nothing lost when a writer dies."""

import os
import signal
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from blocks.model import Capture
from proxy.feed import Feed
from proxy.links import Link, ProcessLink, ThreadLink
from proxy.metrics import Metrics
from proxy.operations import Keep, Limits, Purge, Settled
from proxy.upkeep import Chores, Upkeep
from proxy.writer import serve
from store.base import Store
from store.memory import MemoryStore
from tests.proxy.making import LIMITS, capture, count, losses


class Settling:
    """Collects what is settled."""

    def __init__(self) -> None:
        self.all: list[Settled] = []
        self._changed = threading.Condition()

    def __call__(self, settled: list[Settled]) -> None:
        with self._changed:
            self.all += settled
            self._changed.notify_all()

    def wait(self, n: int) -> None:
        """Wait until so many are settled."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.all) >= n, 20), self.all


def test_operations_reach_the_store_in_order_and_are_settled() -> None:
    store, settling, metrics = MemoryStore(), Settling(), Metrics()
    feed = Feed(
        lambda: ThreadLink(store, LIMITS), settling, losses(metrics), metrics, max_bytes=1 << 20, max_entries=100
    )
    for number in range(1, 21):
        assert feed.offer(Keep(number, capture(f"http://a.test/{number}")))
    assert feed.offer(Purge(21, "http://a.test/1*"))
    settling.wait(21)
    feed.close(5)
    assert [one.number for one in settling.all] == list(range(1, 22))
    assert len(list(store.captures())) == 9
    assert count(metrics, "pagemason_captures_committed_total") == 20
    assert (count(metrics, "pagemason_queue_entries"), count(metrics, "pagemason_queue_bytes")) == (0, 0)


def test_the_queue_is_bounded_in_bytes_and_entries() -> None:
    metrics, release = Metrics(), threading.Event()

    def slow() -> Link:
        release.wait(10)
        return ThreadLink(MemoryStore(), LIMITS)

    feed = Feed(slow, Settling(), losses(metrics), metrics, max_bytes=1000, max_entries=3)
    try:
        assert feed.offer(Keep(1, capture(body=bytes(900))))
        assert not feed.offer(Keep(2, capture(body=bytes(200))))
        assert feed.offer(Keep(3, capture(body=bytes(10))))
        assert feed.offer(Keep(4, capture(body=bytes(10))))
        assert not feed.offer(Keep(5, capture(body=b"")))
        assert feed.offer(Purge(6, "*"))  # a change has room for longer
    finally:
        release.set()
        feed.close(5)
    assert not feed.offer(Purge(7, "*"))
    assert count(metrics, "pagemason_captures_committed_total") == 3


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_writer_that_dies_or_hangs_is_replaced_and_told_again(number: int, tmp_path: Path) -> None:
    links: list[ProcessLink] = []

    def start() -> Link:
        links.append(ProcessLink(f"sqlite:///{tmp_path}/store.db", {}, LIMITS, Chores()))
        return links[-1]

    settling, metrics = Settling(), Metrics()
    feed = Feed(start, settling, losses(metrics), metrics, max_bytes=1 << 24, max_entries=10_000, silence_seconds=1.0)
    for n in range(1, 401):
        assert feed.offer(Keep(n, capture(f"http://a.test/{n}", body=os.urandom(2000))))
        if n in (100, 250):
            settling.wait(n - 60)
            pid = links[-1].pid
            assert pid is not None
            os.kill(pid, number)
        time.sleep(0.001)
    settling.wait(400)
    feed.close(20)
    assert len(links) >= 2
    assert [one for one in settling.all if one.reason] == []
    assert count(metrics, "pagemason_captures_committed_total") == 400
    from store.opening import open_store

    store = open_store(f"sqlite:///{tmp_path}/store.db")
    assert len(list(store.captures())) == 400
    assert store.check()[1] == []
    store.close()


class Laborious(MemoryStore):
    """A store that keeps a processor busy for long, or waits for long, before it keeps anything."""

    def __init__(self, *, waits: bool) -> None:
        super().__init__()
        self.waits = waits

    def keep(self, captures: Sequence[Capture]) -> list[int]:
        begun = time.monotonic()
        while time.monotonic() - begun < 2:
            if self.waits:
                time.sleep(0.1)
        return super().keep(captures)


class PulsingLink(ThreadLink):
    """A thread that works on a laborious store, with quick signs of life, and none for what it waits for."""

    @staticmethod
    def _run(connection: Connection, store: Store, limits: Limits, upkeep: Upkeep) -> None:
        with connection:
            serve(connection, lambda: store, limits, upkeep, beat_seconds=0.2)


@pytest.mark.parametrize("waits", [False, True])
def test_a_writer_that_works_for_long_is_left_alone(waits: bool) -> None:
    store, settling, metrics = Laborious(waits=waits), Settling(), Metrics()
    feed = Feed(
        lambda: PulsingLink(store, LIMITS),
        settling,
        losses(metrics),
        metrics,
        max_bytes=1000,
        max_entries=3,
        silence_seconds=1.0,
    )
    assert feed.offer(Keep(1, capture("http://a.test/1")))
    settling.wait(1)
    feed.close(5)
    assert (count(metrics, "pagemason_writer_restarts_total") > 0) == waits
