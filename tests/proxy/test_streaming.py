"""Bodies that go to the client as they come."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.origin import Origin, Page
from tests.proxy.live import Live
from tests.proxy.making import count


class Dripping:
    """An origin that sends a head and a first part, and the rest when it is told to."""

    def __init__(self, head: str) -> None:
        self.head, self.go, self.port, self.asked = head, asyncio.Event(), 0, 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        await reader.readuntil(b"\r\n\r\n")
        self.asked += 1
        head = f"HTTP/1.1 200 OK\r\n{self.head}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + b"5\r\none\n\n\r\n")
        await writer.drain()
        await self.go.wait()
        writer.write(b"5\r\ntwo\n\n\r\n0\r\n\r\n")
        await writer.drain()
        writer.close()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """Listen; give the URL."""
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


async def ask(port: int, url: str, *fields: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Ask a proxy for a URL."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    host = url.split("/")[2]
    lines = [f"GET {url} HTTP/1.1", f"Host: {host}", "Connection: close", *fields]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    return reader, writer


@pytest.mark.parametrize(
    ("head", "mode", "fields"),
    [
        ("Content-Type: text/event-stream", "cache", ()),
        ("Content-Type: Text/Event-Stream; charset=utf-8", "record", ()),
        ("Content-Type: text/event-stream", "cache", ("Accept: text/markdown",)),
        ("Content-Type: multipart/x-mixed-replace; boundary=b", "replay", ()),
        ("Content-Type: text/html\r\nCache-Control: no-store", "cache", ()),
        ("Content-Type: application/json\r\nCache-Control: private", "cache", ()),
    ],
)
async def test_what_is_not_kept_comes_at_once(confdir: Path, head: str, mode: str, fields: tuple[str, ...]) -> None:
    dripping = Dripping(head)
    async with dripping.listening() as url, Live(confdir, mode=mode, via=True) as live:
        reader, writer = await ask(live.port, url, *fields)
        got = await asyncio.wait_for(reader.readuntil(b"one\n\n"), 20)  # the origin waits before it goes on
        answered = got.lower()
        assert answered.count(b"cache-status: pagemason; fwd=") == 1
        assert b"; stored" not in answered
        assert answered.count(b"\r\nage: 0\r\n") == 1
        assert answered.count(b"\r\nvia:") == 1
        dripping.go.set()
        assert b"two\n\n" in await asyncio.wait_for(reader.read(), 20)
        writer.close()
        assert (view := live.service.holdings.at_hand(url)) is None or not view.entries
        result = "bypass" if b"fwd=bypass" in answered else "miss"
        assert count(live.service.metrics, "pagemason_requests_total", result=result) == 1


async def test_who_asks_meanwhile_does_not_wait_for_the_end(confdir: Path) -> None:
    dripping = Dripping("Content-Type: text/event-stream")
    async with dripping.listening() as url, Live(confdir) as live:
        clients = [await ask(live.port, url) for _ in range(3)]
        for reader, _ in clients:
            await asyncio.wait_for(reader.readuntil(b"one\n\n"), 20)
        dripping.go.set()
        for reader, writer in clients:
            await reader.read()
            writer.close()
    assert dripping.asked == 3


async def test_what_is_kept_comes_at_once_too(confdir: Path) -> None:
    dripping = Dripping(
        "Content-Type: text/html\r\nCache-Control: max-age=100\r\nConnection: x-hop\r\nX-Hop: 1\r\nX-A: a"
    )
    async with dripping.listening() as url, Live(confdir, via=True) as live:
        reader, writer = await ask(live.port, url)
        head = (await asyncio.wait_for(reader.readuntil(b"one\n\n"), 20)).lower()
        assert b"cache-status: pagemason; fwd=uri-miss; stored\r\n" in head
        assert b"x-hop: 1" not in head
        waiting = asyncio.create_task(live.get(url))
        await asyncio.sleep(0.2)
        dripping.go.set()
        assert b"two\n\n" in await asyncio.wait_for(reader.read(), 20)
        writer.close()
        assert (await waiting).cache_status == "pagemason; fwd=uri-miss; collapsed"
        again = await live.get(url)
        assert (again.body, again.cache_status) == (b"one\n\ntwo\n\n", "pagemason; hit")
        (kept,) = (await live.service.holdings.look_up(url)).entries
        names = [name.lower() for name, _ in kept.capture.headers]
        assert names.count(b"x-a") == 1
        assert not {b"cache-status", b"age", b"via"} & set(names)
    assert dripping.asked == 1


async def test_what_breaks_off_is_not_kept(confdir: Path) -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nTransfer-Encoding: chunked\r\n\r\n5\r\none\n\n\r\n"
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(break_off, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server, Live(confdir) as live:
        reader, writer = await ask(live.port, url)
        assert not (await asyncio.wait_for(reader.read(), 20)).endswith(b"0\r\n\r\n")
        writer.close()
        assert (await live.service.holdings.look_up(url)).entries == []
        assert count(live.service.metrics, "pagemason_requests_total", result="error") == 1
        assert len(live.service.flights) == 0


async def test_a_body_that_grows_too_large_passes_and_is_counted(confdir: Path) -> None:
    dripping = Dripping("Cache-Control: max-age=100")
    dripping.go.set()
    async with dripping.listening() as url, Live(confdir, max_body_bytes=8) as live:
        reader, writer = await ask(live.port, url)
        assert b"two\n\n" in await reader.read()
        writer.close()
        assert (await live.service.holdings.look_up(url)).entries == []
        assert count(live.service.metrics, "pagemason_not_kept_total", reason="too_large") == 1


async def test_a_page_in_a_static_files_place_is_looked_at_first(confdir: Path) -> None:
    dripping = Dripping("Content-Type: text/plain\r\nCache-Control: max-age=100")
    async with dripping.listening() as url, Live(confdir, cookies_ignored=("a",)) as live:
        reader, writer = await ask(live.port, url + "account/x.css", "Cookie: a=b")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.readuntil(b"one\n\n"), 0.5)
        dripping.go.set()
        assert b"two\n\n" in await reader.read()
        writer.close()


async def test_a_change_that_streams_invalidates_what_is_kept(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", {"Cache-Control": "max-age=100"})
    async with Live(confdir) as live:
        await live.get(origin.url("/"))
        assert (await live.get(origin.url("/"))).cache_status == "pagemason; hit"
        origin.pages["/"] = Page(b"two", {"Cache-Control": "no-store"})
        assert (await live.get(origin.url("/"), method="POST", body=b"x")).body == b"two"
        assert (await live.get(origin.url("/"))).cache_status != "pagemason; hit"
        assert count(live.service.metrics, "pagemason_errors_total") == 0


async def test_what_is_too_large_says_so_in_its_head_and_is_counted(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(bytes(5000), {"Cache-Control": "max-age=100"})
    async with Live(confdir, max_body_bytes=4000) as live:
        reply = await live.get(origin.url("/"))
        assert (reply.body, reply.cache_status) == (bytes(5000), "pagemason; fwd=uri-miss")
        assert count(live.service.metrics, "pagemason_not_kept_total", reason="too_large") == 1


async def test_what_was_on_its_way_when_it_was_purged_is_not_kept(confdir: Path) -> None:
    dripping = Dripping("Cache-Control: max-age=100")
    async with dripping.listening() as url, Live(confdir) as live:
        reader, writer = await ask(live.port, url)
        await asyncio.wait_for(reader.readuntil(b"one\n\n"), 20)
        await live.get(url, method="PURGE")
        later = asyncio.create_task(live.get(url))
        await asyncio.sleep(0.2)
        dripping.go.set()
        assert b"two\n\n" in await reader.read()
        writer.close()
        assert (await later).cache_status == "pagemason; fwd=uri-miss; stored"
        assert len((await live.service.holdings.look_up(url)).entries) == 1
        assert count(live.service.metrics, "pagemason_captures_committed_total") <= 1
    assert dripping.asked == 2


async def test_what_was_on_its_way_when_it_was_changed_is_validated(confdir: Path) -> None:
    dripping = Dripping("Cache-Control: max-age=100")
    async with dripping.listening() as url, Live(confdir) as live:
        reader, writer = await ask(live.port, url)
        await asyncio.wait_for(reader.readuntil(b"one\n\n"), 20)
        dripping.go.set()
        live.service.holdings.invalidate(url, live.service.holdings.instant(time.time()))
        await reader.read()
        writer.close()
        assert (await live.get(url)).cache_status.startswith("pagemason; fwd=stale")
        assert (await live.get(url)).is_hit
    assert dripping.asked == 2


async def test_bodies_that_are_collected_share_their_room(confdir: Path) -> None:
    dripping = Dripping("Cache-Control: max-age=100")
    async with dripping.listening() as url, Live(confdir, queue_bytes=12) as live:
        clients = [await ask(live.port, f"{url}{n}") for n in range(3)]
        for reader, _ in clients:
            await asyncio.wait_for(reader.readuntil(b"one\n\n"), 20)
        assert live.service.passing.room.left == 2
        dripping.go.set()
        for reader, writer in clients:
            assert b"two\n\n" in await reader.read()
            writer.close()
        assert live.service.passing.room.left == 12
        assert count(live.service.metrics, "pagemason_not_kept_total", reason="queue_full") >= 2


async def test_room_comes_back_when_a_client_goes_away(confdir: Path) -> None:
    dripping = Dripping("Cache-Control: max-age=100")
    async with dripping.listening() as url, Live(confdir, queue_bytes=12) as live:
        reader, writer = await ask(live.port, url)
        await asyncio.wait_for(reader.readuntil(b"one\n\n"), 20)
        assert live.service.passing.room.left == 7
        writer.transport.abort()
        for _ in range(100):
            await asyncio.sleep(0.02)
            if live.service.passing.room.left == 12:
                break
        assert live.service.passing.room.left == 12
        dripping.go.set()


async def test_what_is_no_page_comes_at_once_though_a_view_is_wanted(confdir: Path) -> None:
    dripping = Dripping("Content-Type: video/mp4\r\nCache-Control: max-age=100")
    async with dripping.listening() as url, Live(confdir) as live:
        reader, writer = await ask(live.port, url, "Accept: text/markdown")
        await asyncio.wait_for(reader.readuntil(b"one\n\n"), 20)
        dripping.go.set()
        await reader.read()
        writer.close()
        assert (await live.get(url)).body == b"one\n\ntwo\n\n"
