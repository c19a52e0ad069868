"""What is kept, seen whole: accepted a moment ago, hot, or in the store."""

import asyncio
import gzip
import threading
import time
from collections.abc import AsyncIterator, Callable

import pytest

from proxy.feed import Feed
from proxy.holdings import Holdings
from proxy.links import Link, ThreadLink
from proxy.metrics import Metrics
from proxy.operations import Settled
from proxy.reader import Reader
from store.base import Freshening
from store.memory import MemoryStore
from tests.proxy.making import FRESH, LIMITS, POLICY, capture, count, losses, memory

URL = "http://a.test/"


class Parts:
    """Holdings over a memory store, with a writer that can be held up."""

    def __init__(self, *, memory_bytes: int = 1 << 20) -> None:
        self.store, self.metrics = MemoryStore(), Metrics()
        self.reader = Reader(self.store, self.metrics)
        self.memory = memory(memory_bytes)
        self.holdings = Holdings(self.reader, self.memory, losses(self.metrics), LIMITS, POLICY)
        loop = asyncio.get_running_loop()

        def settled(all_of: list[Settled]) -> None:
            loop.call_soon_threadsafe(self.holdings.settled, all_of)

        self.may_write = threading.Event()
        self.feed = Feed(self._link, settled, losses(self.metrics), self.metrics, max_bytes=1 << 20, max_entries=50)
        self.holdings.attach(self.feed)

    def _link(self) -> Link:
        self.may_write.wait(20)
        return ThreadLink(self.store, LIMITS)

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + 60
        while not true():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)

    async def write_out(self) -> None:
        """Let the writer write, and wait until it has."""
        self.may_write.set()
        await self.until(lambda: count(self.metrics, "pagemason_queue_entries") == 0)
        await asyncio.sleep(0.05)

    async def close(self) -> None:
        self.may_write.set()
        await asyncio.to_thread(self.feed.close, 5)
        self.holdings.close()
        self.reader.close()


@pytest.fixture
async def parts() -> AsyncIterator[Parts]:
    parts = Parts()
    yield parts
    await parts.close()


async def test_a_capture_is_there_at_once_and_after_its_commit(parts: Parts) -> None:
    holdings = parts.holdings
    entry, accepted = holdings.keep(capture())
    assert accepted
    for _ in range(2):
        view = holdings.at_hand(URL)
        assert view is not None
        assert (view.entries, view.source, view.whole) == ([entry], "memory", False)
        await parts.write_out()
    parts.memory.clear()
    assert holdings.at_hand(URL) is None
    view = await holdings.look_up(URL)
    assert (len(view.entries), view.source, view.whole) == (1, "store", True)
    assert await holdings.form(view.entries[0], "") == b"<p>page</p>"


async def test_what_has_left_the_memory_before_its_commit_is_still_there(parts: Parts) -> None:
    entry, _ = parts.holdings.keep(capture())
    parts.memory.clear()
    view = parts.holdings.at_hand(URL)
    assert view is not None
    assert (view.entries, view.source) == ([entry], "pending")
    assert (await parts.holdings.look_up(URL)).entries == [entry]


async def test_changes_are_seen_at_once_and_reach_the_store_in_order(parts: Parts) -> None:
    holdings = parts.holdings
    entry, _ = holdings.keep(capture(instant=10))
    holdings.freshen(entry, Freshening((*FRESH, (b"X-New", b"1")), 11, 12))
    assert (b"X-New", b"1") in entry.stored.headers
    holdings.invalidate(URL, 20)
    assert entry.stored.invalid
    await parts.write_out()
    (record,) = parts.store.find(URL)
    assert record.freshening == Freshening((*FRESH, (b"X-New", b"1")), 11, 12, invalid=True)
    holdings.purge("http://a.test/*", 30)
    assert holdings.at_hand(URL) is None
    assert (await holdings.look_up(URL)).entries == []
    await parts.write_out()
    assert parts.store.find(URL) == []


async def test_a_purge_hides_what_the_store_still_has(parts: Parts) -> None:
    parts.store.keep([capture(instant=10)])
    parts.holdings.purge("*", 20)
    assert (await parts.holdings.look_up(URL)).entries == []
    parts.holdings.keep(capture(instant=30))
    assert len((await parts.holdings.look_up(URL)).entries) == 1


async def test_of_captures_of_one_selection_the_newest_counts(parts: Parts) -> None:
    vary = (*FRESH, (b"Vary", b"Accept-Language"))
    for instant, language in ((1, b"en"), (2, b"de"), (3, b"en")):
        parts.holdings.keep(capture(instant=instant, headers=vary, vary=((b"Accept-Language", language),)))
    view = parts.holdings.at_hand(URL)
    assert view is not None
    assert [entry.capture.time for entry in view.entries] == [3, 2]


async def test_bodies_are_made_in_the_form_a_client_takes(parts: Parts) -> None:
    coded = ((b"Content-Encoding", b"gzip"), *FRESH)
    entry, _ = parts.holdings.keep(capture(headers=coded, body=gzip.compress(b"page" * 500)))
    assert await parts.holdings.form(entry, "") == b"page" * 500
    brotli = await parts.holdings.form(entry, "br")
    assert brotli is not None
    assert len(brotli) < 100
    assert await parts.holdings.form(entry, "br") is brotli


async def test_an_opaque_body_has_one_form(parts: Parts) -> None:
    entry, _ = parts.holdings.keep(capture(headers=((b"Content-Encoding", b"gzip"), *FRESH), body=b"no"))
    assert await parts.holdings.form(entry, "br") is None
    assert await parts.holdings.form(entry, "") == b"no"
    assert (b"Content-Encoding", b"gzip") in entry.stored.served


async def test_a_full_queue_is_counted_and_the_page_is_hot_all_the_same(parts: Parts) -> None:
    accepted = [parts.holdings.keep(capture(f"{URL}{n}"))[1] for n in range(60)]
    assert accepted.count(True) == 50
    assert count(parts.metrics, "pagemason_not_kept_total", reason="queue_full") == 10
    assert parts.holdings.at_hand(f"{URL}59") is not None


async def test_another_process_s_purge_empties_the_memory(parts: Parts) -> None:
    parts.holdings.keep(capture())
    await parts.write_out()
    await parts.holdings.heed_purges()
    assert len(parts.memory) == 1
    parts.store.purge("*")
    await parts.holdings.heed_purges()
    assert len(parts.memory) == 0
    assert (await parts.holdings.look_up(URL)).entries == []


async def test_what_is_hot_follows_what_other_processes_write(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.holdings.REFRESH_SECONDS", 0.0)

    def hot() -> list[tuple[int, bool]]:
        view = parts.holdings.at_hand(URL)
        return [(entry.capture.time, entry.stored.invalid) for entry in view.entries] if view else []

    assert (await parts.holdings.look_up(URL)).entries == []
    parts.store.keep([capture(instant=1_000_000)])
    await parts.until(lambda: hot() == [(1_000_000, False)])
    parts.store.invalidate(URL, 1_000_000)
    await parts.until(lambda: hot() == [(1_000_000, True)])
    parts.store.keep([capture(instant=2_000_000)])
    await parts.until(lambda: hot() == [(2_000_000, False)])
    parts.store.purge(URL)
    await parts.until(lambda: hot() == [])


async def test_a_capture_on_its_way_to_the_store_stays_hot(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.holdings.REFRESH_SECONDS", 0.0)
    entry, _ = parts.holdings.keep(capture())
    for _ in range(20):
        view = parts.holdings.at_hand(URL)
        assert view is not None
        assert view.entries == [entry]
        await asyncio.sleep(0.01)


async def test_many_who_ask_for_one_key_ask_the_store_once(parts: Parts) -> None:
    asked = 0
    find = parts.store.find

    def counting(*args: object, **kwargs: object) -> object:
        nonlocal asked
        asked += 1
        time.sleep(0.05)
        return find(*args, **kwargs)  # type: ignore[arg-type]

    parts.store.find = counting  # type: ignore[method-assign, assignment]
    await asyncio.gather(*(parts.holdings.look_up(URL) for _ in range(500)))
    assert asked == 1


async def test_instants_are_never_the_same(parts: Parts) -> None:
    instants = [parts.holdings.instant(1.0) for _ in range(100)]
    assert len(set(instants)) == 100
