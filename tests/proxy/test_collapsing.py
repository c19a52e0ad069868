"""Many ask for one cold page at once: the origin is asked once, and nobody waits for what is not theirs."""

import asyncio
import time
from pathlib import Path

from tests.origin import Origin, Page
from tests.proxy.live import Live
from tests.proxy.making import count

FRESH = {"Cache-Control": "max-age=100"}


async def test_a_cold_page_is_fetched_once_for_all(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", FRESH, delay_seconds=0.5)
    async with Live(confdir) as live:
        replies = await asyncio.gather(*(live.get(origin.url("/")) for _ in range(20)))
        assert {reply.body for reply in replies} == {b"one"}
        statuses = sorted(reply.cache_status for reply in replies)
        assert statuses.count("pagemason; fwd=uri-miss; stored") == 1
        assert count(live.service.metrics, "pagemason_requests_total", result="collapsed") > 5
        assert len(live.service.flights) == 0
    assert origin.asked["/"] == 1


async def test_answers_for_one_person_are_not_waited_for_twice(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"mine", {"Cache-Control": "private"}, delay_seconds=0.5)
    async with Live(confdir) as live:
        await live.get(origin.url("/"))
        before = time.monotonic()
        await asyncio.gather(*(live.get(origin.url("/")) for _ in range(8)))
        assert time.monotonic() - before < 3.5  # one after the other they would take 4 seconds and more
    assert origin.asked["/"] == 9


async def test_requests_with_a_login_wait_for_nobody(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", FRESH, delay_seconds=0.2)
    async with Live(confdir) as live:
        await asyncio.gather(*(live.get(origin.url("/"), Cookie=f"session={n}") for n in range(4)))
    assert origin.asked["/"] == 4


async def test_an_origin_that_fails_is_asked_by_the_next_in_line(confdir: Path) -> None:
    origin = Origin()
    url = origin.url("/")
    origin.close()
    async with Live(confdir) as live:
        replies = await asyncio.gather(*(live.get(url) for _ in range(5)))
        assert {reply.status for reply in replies} == {502}
        assert len(live.service.flights) == 0


async def test_nobody_waits_longer_than_the_setting_says(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", FRESH, delay_seconds=1.5)
    async with Live(confdir, collapse_seconds=0.3) as live:
        first = asyncio.create_task(live.get(origin.url("/")))
        await asyncio.sleep(0.1)
        assert (await live.get(origin.url("/"))).body == b"one"
        await first
    assert origin.asked["/"] == 2


async def test_stale_pages_are_validated_once_for_all(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", {"Cache-Control": "max-age=0", "ETag": '"1"'})
    async with Live(confdir) as live:
        await live.get(origin.url("/"))
        origin.pages["/"] = Page(b"one", {"Cache-Control": "max-age=100", "ETag": '"1"'}, delay_seconds=0.4)
        replies = await asyncio.gather(*(live.get(origin.url("/")) for _ in range(10)))
        assert {reply.body for reply in replies} == {b"one"}
    assert origin.asked["/"] == 2


async def test_replay_collapses_too(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", {}, delay_seconds=0.4)
    async with Live(confdir, mode="replay") as live:
        replies = await asyncio.gather(*(live.get(origin.url("/")) for _ in range(10)))
        assert {reply.body for reply in replies} == {b"one"}
    assert origin.asked["/"] == 1


async def fetched(port: int, url: str) -> bytes:
    """Ask for a URL over a connection of its own; return all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {url} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    try:
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


async def test_a_thousand_at_once_are_one_for_the_origin(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"the one page", FRESH, delay_seconds=1)
    async with Live(confdir) as live:
        replies = await asyncio.gather(*(fetched(live.port, origin.url("/")) for _ in range(1000)))
    assert all(reply.startswith(b"HTTP/1.1 200") and reply.endswith(b"the one page") for reply in replies)
    assert origin.asked["/"] == 1
