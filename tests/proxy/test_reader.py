"""Look-ups have a deadline, and a store that fails is left alone for a while."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from proxy.metrics import Metrics
from proxy.reader import FAILURES_TO_OPEN, Breaker, Reader
from store.base import DamagedPage, Store, StoreUnavailable
from store.memory import MemoryStore
from tests.proxy.making import capture, count


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def reader(metrics: Metrics) -> Iterator[Reader]:
    store = MemoryStore()
    store.keep([capture()])
    reader = Reader(store, metrics, threads=2, deadline_seconds=0.2)
    yield reader
    reader.close()


async def test_a_question_is_answered_off_the_loop(reader: Reader) -> None:
    records = await reader.ask(lambda store: store.find("http://a.test/"))
    assert len(records) == 1
    assert await reader.ask(lambda store: threading.current_thread()) is not threading.current_thread()


async def test_a_store_that_hangs_is_unavailable_in_time_and_then_left_alone(reader: Reader, metrics: Metrics) -> None:
    release = threading.Event()

    def hang(store: Store) -> None:
        release.wait(10)

    try:
        answers = await asyncio.gather(*(reader.ask(hang) for _ in range(FAILURES_TO_OPEN)), return_exceptions=True)
        assert all(isinstance(answer, StoreUnavailable) for answer in answers)
        assert not reader.well
        with pytest.raises(StoreUnavailable, match="left alone"):
            await reader.ask(lambda store: 1)
        assert count(metrics, "pagemason_store_read_failures_total", reason="deadline") == FAILURES_TO_OPEN
        assert count(metrics, "pagemason_store_read_failures_total", reason="paused") == 1
    finally:
        release.set()


async def test_errors_of_the_store_reach_who_asked(reader: Reader) -> None:
    def damaged(store: Store) -> None:
        raise DamagedPage("http://a.test/: not what was kept")

    for _ in range(FAILURES_TO_OPEN + 1):
        with pytest.raises(DamagedPage):
            await reader.ask(damaged)
    assert reader.well  # it answers


def test_the_breaker_asks_once_a_pause_and_pauses_grow() -> None:
    breaker = Breaker()
    for _ in range(FAILURES_TO_OPEN):
        assert breaker.allows(0.0)
        breaker.failed(0.0)
    assert not breaker.allows(0.5)
    assert [breaker.allows(1.1), breaker.allows(1.2)] == [True, False]
    breaker.failed(1.3)
    assert [breaker.allows(3.2), breaker.allows(3.4)] == [False, True]
    breaker.succeeded()
    assert breaker.closed
    assert breaker.allows(3.5)
