"""Totals of the store: read again when they are old, but nobody waits for them for long."""

import threading
import time
from contextlib import closing

import pytest

from apps.dashboard import live
from apps.dashboard.live import STATS_SECONDS, Live
from store.base import Stats, StoreUnavailable
from store.memory import MemoryStore
from tests.store.conftest import page


class Slow(MemoryStore):
    """A store whose totals take until they may be had."""

    def __init__(self) -> None:
        super().__init__()
        self.may = threading.Event()
        self.may.set()
        self.gone = False

    def stats(self) -> Stats:
        if self.gone:
            raise StoreUnavailable("the database is gone")
        found = super().stats()
        assert self.may.wait(30)
        return found


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Slow:
    monkeypatch.setattr(live, "STATS_SHARE", 1e9)  # however long it took
    store = Slow()
    store.keep([page("http://a.test/1")])
    return store


def test_totals_are_read_again_after_a_second(store: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STATS_WAIT_SECONDS", 30.0)
    with closing(Live(store, None)) as found:
        assert found.stats().captures == 1
        store.keep([page("http://a.test/2")])
        time.sleep(STATS_SECONDS + 0.05)
        assert found.stats().captures == 2
        site = found.site("a.test")
        assert site is not None
        assert site.captures == 2


def test_nobody_waits_for_new_totals_who_can_have_old_ones(store: Slow) -> None:
    with closing(Live(store, None)) as found:
        found.stats()
        store.keep([page("http://a.test/2")])
        store.may.clear()
        time.sleep(STATS_SECONDS + 0.05)
        assert found.stats().captures == 1, "it would wait for ever otherwise"
        store.may.set()
        deadline = time.monotonic() + 30
        while found.stats().captures == 1:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_totals_that_took_long_are_used_for_longer(store: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STATS_SHARE", 1e-9)
    with closing(Live(store, None)) as found:
        found.stats()
        store.gone = True
        time.sleep(STATS_SECONDS + 0.05)
        assert found.stats().captures == 1


def test_who_comes_back_after_a_while_sees_no_old_totals(store: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STATS_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(live, "OLD_SECONDS", STATS_SECONDS)
    with closing(Live(store, None)) as found:
        found.stats()
        store.keep([page("http://a.test/2")])
        time.sleep(STATS_SECONDS + 0.05)
        assert found.stats().captures == 2


def test_a_store_that_is_gone_is_said_to_be(store: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STATS_WAIT_SECONDS", 30.0)
    with closing(Live(store, None)) as found:
        found.stats()
        store.gone = True
        time.sleep(STATS_SECONDS + 0.05)
        with pytest.raises(StoreUnavailable):
            found.stats()
