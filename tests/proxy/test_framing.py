"""Where bodies end, for origins that break off and clients of every version."""

import asyncio
from pathlib import Path

import pytest

from tests.proxy.live import Live
from tests.proxy.making import count
from tests.proxy.raw import CHUNKED, FRESH, OK, Part, raw_origin, request, say

PAGE = b"Content-Type: text/html\r\n"


async def test_a_body_that_ends_with_its_connection_is_kept(confdir: Path) -> None:
    answer: list[Part] = [b"HTTP/1.0 200 OK\r\n" + FRESH + PAGE + b"\r\nhel", 0.1, b"lo"]
    async with raw_origin(answer) as origin, Live(confdir) as live:
        got = await say(live.port, request(origin.url))
        assert got.startswith(b"HTTP/1.1 200 OK\r\n")
        assert got.endswith(b"\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n")
        assert (await say(live.port, request(origin.url))).endswith(b"\r\n\r\nhello")
        (kept,) = (await live.service.holdings.look_up(origin.url)).entries
        assert kept.capture.http_version == b"HTTP/1.0"
        assert b"transfer-encoding" not in {name.lower() for name, _ in kept.capture.headers}


@pytest.mark.parametrize("head", [FRESH, b"Cache-Control: no-store\r\n"], ids=["kept", "not kept"])
async def test_connections_that_bodies_end_with_are_let_go(confdir: Path, head: bytes) -> None:
    """mitmproxy opens five to an origin for one client: the sixth page would wait for ever."""
    async with raw_origin([OK + head + PAGE + b"\r\nhello"]) as origin, Live(confdir) as live:
        reader, writer = await asyncio.open_connection("127.0.0.1", live.port)
        for number in range(8):
            writer.write(request(f"{origin.url}{number}").replace(b"Connection: close\r\n", b""))
            assert b"hello" in await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 10)
        (handler,) = live.master.addons.get("proxyserver").connections.values()
        await asyncio.sleep(0.1)
        assert len(handler.transports) == 1  # the client's
        writer.close()


@pytest.mark.parametrize("head", [FRESH, b"Cache-Control: no-store\r\n"], ids=["kept", "not kept"])
async def test_a_connection_that_is_reset_is_no_end(confdir: Path, head: bytes) -> None:
    async with raw_origin([OK + head + PAGE + b"\r\nhello", 0.2], breaks_off=True) as origin, Live(confdir) as live:
        got = await say(live.port, request(origin.url))
        assert got.endswith(b"5\r\nhello\r\n")  # and no last chunk
        assert (await live.service.holdings.look_up(origin.url)).entries == []
        assert count(live.service.metrics, "pagemason_requests_total", result="error") == 1
        assert len(live.service.flights) == 0


async def test_what_is_reset_before_anything_went_out_is_a_502(confdir: Path) -> None:
    async with raw_origin([OK + FRESH + PAGE + b"\r\nhello", 0.2], breaks_off=True) as origin, Live(confdir) as live:
        got = await say(live.port, request(origin.url, "Accept: text/markdown"))
        assert got.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
        assert (await live.service.holdings.look_up(origin.url)).entries == []


async def test_what_is_reset_while_it_is_validated_is_no_answer(confdir: Path) -> None:
    old = OK + b'Cache-Control: max-age=0, stale-if-error=60\r\nETag: "1"\r\nContent-Length: 3\r\n\r\nold'
    async with raw_origin([old], [OK + FRESH + b"\r\nnew", 0.2], breaks_off=True) as origin, Live(confdir) as live:
        assert (await say(live.port, request(origin.url))).endswith(b"\r\n\r\nold")
        got = await say(live.port, request(origin.url))
        assert b"detail=stale-if-error" in got
        assert got.endswith(b"\r\n\r\nold")
        (kept,) = (await live.service.holdings.look_up(origin.url)).entries
        assert kept.forms == {"": b"old"}


@pytest.mark.parametrize("head", [FRESH, b"Cache-Control: no-store\r\n"], ids=["kept", "not kept"])
async def test_http_1_0_is_given_no_chunks(confdir: Path, head: bytes) -> None:
    async with raw_origin([OK + head + CHUNKED + b"\r\n5\r\nhello\r\n0\r\n\r\n"]) as origin, Live(confdir) as live:
        got = await say(live.port, request(origin.url, version="1.0"))
        assert b"chunked" not in got
        assert got.endswith(b"\r\n\r\nhello")


async def test_no_content_has_no_chunks(confdir: Path) -> None:
    answer = b"HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\n\r\n"
    async with raw_origin([answer]) as origin, Live(confdir) as live:
        got = await say(live.port, request(origin.url))
        assert b"chunked" not in got
        assert got.endswith(b"\r\n\r\n")


async def test_a_transfer_coding_that_nobody_undoes_is_not_kept(confdir: Path) -> None:
    coded = b"Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    async with raw_origin([OK + FRESH + coded]) as origin, Live(confdir, mode="record") as live:
        assert (await say(live.port, request(origin.url))).endswith(coded[-15:])
        assert (await live.service.holdings.look_up(origin.url)).entries == []


async def test_a_get_with_a_large_body_is_not_taken_for_a_plain_one(confdir: Path) -> None:
    answer = OK + FRESH + b"Content-Length: 5\r\n\r\nhello"
    async with raw_origin([answer]) as origin, Live(confdir, max_body_bytes=1000) as live:
        body = b"x" * 5000
        got = await say(live.port, request(origin.url, f"Content-Length: {len(body)}", body=body))
        assert b"Cache-Status: pagemason; fwd=bypass\r\n" in got
        assert (await live.service.holdings.look_up(origin.url)).entries == []
        await say(live.port, request(origin.url))
        got = await say(live.port, request(origin.url, f"Content-Length: {len(body)}", body=body))
        assert b"Cache-Status: pagemason; fwd=bypass\r\n" in got


async def test_a_client_that_goes_away_leaves_the_page_to_the_next(confdir: Path) -> None:
    go = asyncio.Event()
    parts: list[Part] = [OK + FRESH + CHUNKED + b"\r\n5\r\nhello\r\n", go, b"0\r\n\r\n"]
    async with raw_origin(parts) as origin, Live(confdir) as live:
        reader, writer = await asyncio.open_connection("127.0.0.1", live.port)
        writer.write(request(origin.url))
        await reader.readuntil(b"hello")
        waiting = [asyncio.create_task(say(live.port, request(origin.url))) for _ in range(3)]
        await asyncio.sleep(0.2)
        writer.transport.abort()
        await asyncio.sleep(0.2)
        go.set()
        assert all(b"hello" in got for got in await asyncio.gather(*waiting))
        assert len(live.service.flights) == 0
    assert len(origin.heads) == 2
