"""Stale pages: asked about, refreshed behind the client's back, or standing in for an origin that is gone."""

import asyncio
from pathlib import Path

import pytest

from proxy import fetching
from tests.origin import Origin, Page
from tests.proxy.live import Live
from tests.proxy.making import count
from tests.proxy.raw import CHUNKED, FRESH, OK, Part, raw_origin, request, say


def stale(body: bytes = b"one") -> Page:
    """Return a page that is to be validated every time."""
    return Page(body, {"Cache-Control": "max-age=0", "ETag": '"1"'})


async def test_a_304_makes_a_stale_page_fresh_for_everyone(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = stale()
    async with Live(confdir) as live:
        await live.get(origin.url("/"))
        origin.pages["/"].headers |= {"Cache-Control": "max-age=100", "X-New": "1"}
        second = await live.get(origin.url("/"))
        assert (second.status, second.body, second.headers["X-New"]) == (200, b"one", "1")
        assert second.cache_status == "pagemason; fwd=stale; fwd-status=304; stored"
        assert origin.seen[-1][2]["If-None-Match"] == '"1"'
        assert (await live.get(origin.url("/"))).is_hit
        assert count(live.service.metrics, "pagemason_requests_total", result="revalidated") == 1
    assert origin.asked["/"] == 2


async def test_a_page_that_has_changed_takes_the_place_of_the_old_one(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = stale()
    async with Live(confdir) as live:
        await live.get(origin.url("/"))
        origin.pages["/"] = Page(b"two", {"Cache-Control": "max-age=100", "ETag": '"2"'})
        second = await live.get(origin.url("/"))
        assert (second.body, second.cache_status) == (b"two", "pagemason; fwd=stale; fwd-status=200; stored")
        third = await live.get(origin.url("/"))
        assert (third.body, third.is_hit) == (b"two", True)


async def test_a_client_s_condition_is_answered_after_validation(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = stale()
    async with Live(confdir) as live:
        await live.get(origin.url("/"))
        reply = await live.get(origin.url("/"), If_None_Match='"1"')
        assert (reply.status, reply.body) == (304, b"")
        part = await live.get(origin.url("/"), Range="bytes=1-")
        assert (part.status, part.body) == (206, b"ne")


async def test_stale_while_revalidate_answers_at_once_and_asks_once(confdir: Path, origin: Origin) -> None:
    headers = {"Cache-Control": "max-age=0, stale-while-revalidate=60", "ETag": '"1"'}
    origin.pages["/"] = Page(b"one", headers)
    async with Live(confdir) as live:
        await live.get(origin.url("/"))
        origin.pages["/"] = Page(b"two", {"Cache-Control": "max-age=100", "ETag": '"2"'}, delay_seconds=0.3)
        replies = await asyncio.gather(*(live.get(origin.url("/")) for _ in range(5)))
        assert {reply.body for reply in replies} == {b"one"}
        assert all(reply.cache_status.startswith("pagemason; hit; ttl=") for reply in replies)
        await asyncio.sleep(0.6)
        assert (await live.get(origin.url("/"))).body == b"two"
    assert origin.asked["/"] == 2


async def test_a_stale_page_stands_in_for_an_origin_that_is_gone_and_then_not(confdir: Path, origin: Origin) -> None:
    origin.pages["/in"] = Page(b"in", {"Cache-Control": "max-age=0, stale-if-error=60", "ETag": '"1"'})
    origin.pages["/out"] = Page(b"out", {"Cache-Control": "max-age=0, stale-if-error=0", "ETag": '"1"'})
    origin.pages["/must"] = Page(b"must", {"Cache-Control": "max-age=0, must-revalidate", "ETag": '"1"'})
    origin.pages["/plain"] = Page(b"plain", {"Cache-Control": "max-age=0"})
    async with Live(confdir) as live:
        for path in origin.pages:
            await live.get(origin.url(path))
        await asyncio.sleep(1.1)
        origin.close()
        reply = await live.get(origin.url("/in"))
        assert (reply.status, reply.body) == (200, b"in")
        assert reply.cache_status == "pagemason; fwd=stale; detail=stale-if-error"
        assert (await live.get(origin.url("/plain"))).body == b"plain"  # nothing forbids it, and nobody else has it
        for path in ("/out", "/must"):
            gone = await live.get(origin.url(path))
            assert (gone.status, b"does not answer" in gone.body) == (504, True)
        assert (await live.get(origin.url("/never-seen"))).status == 502


async def test_a_stale_page_stands_in_until_its_window_ends(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", {"Cache-Control": "max-age=0, stale-if-error=3", "ETag": '"1"'})
    async with Live(confdir) as live:
        await live.get(origin.url("/"))
        origin.close()
        assert (await live.get(origin.url("/"))).body == b"one"
        await asyncio.sleep(4.1)
        assert (await live.get(origin.url("/"))).status == 504


async def test_stale_if_error_covers_server_errors(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", {"Cache-Control": "max-age=0, stale-if-error=60", "ETag": '"1"'})
    async with Live(confdir) as live:
        await live.get(origin.url("/"))
        origin.pages["/"] = Page(b"broken", {}, 503)
        reply = await live.get(origin.url("/"))
        assert (reply.status, reply.body) == (200, b"one")
        assert reply.cache_status == "pagemason; fwd=stale; fwd-status=503; detail=stale-if-error"
        origin.pages["/"] = Page(b"not here", {}, 404)
        assert (await live.get(origin.url("/"))).status == 404


async def test_a_head_freshens_or_invalidates(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = stale()
    async with Live(confdir) as live:
        await live.get(origin.url("/"))
        origin.pages["/"].headers["Cache-Control"] = "max-age=100"
        assert (await live.get(origin.url("/"), method="HEAD", Cache_Control="no-store")).status == 200
        fresh = await live.get(origin.url("/"))
        assert (fresh.is_hit, fresh.body) == (True, b"one")
        origin.pages["/"] = Page(b"other", {"Cache-Control": "max-age=100", "ETag": '"2"'})
        await live.get(origin.url("/"), method="HEAD", Cache_Control="no-store")
        assert (await live.get(origin.url("/"))).body == b"other"


STALE = OK + b'Cache-Control: max-age=0, stale-if-error=600\r\nETag: "1"\r\nContent-Length: 3\r\n\r\nold'


@pytest.mark.parametrize(
    ("head", "is_kept"),
    [
        (FRESH + b"Content-Length: 2000000\r\n", True),
        (FRESH + b"Content-Length: 5000000\r\n", False),
        (b"Cache-Control: no-store\r\nContent-Type: text/event-stream\r\nContent-Length: 8\r\n", False),
    ],
    ids=["large", "larger than what is kept", "endless"],
)
async def test_a_page_that_has_become_too_much_to_wait_for_comes_through(
    confdir: Path, head: bytes, is_kept: bool
) -> None:
    body = bytes(int(head.split()[-1]))
    new = OK + head + b"\r\n" + body
    async with raw_origin([STALE], [new]) as origin, Live(confdir, max_body_bytes=4_000_000) as live:
        await say(live.port, request(origin.url))
        got = await say(live.port, request(origin.url))
        assert got.endswith(b"\r\n\r\n" + body)
        assert b"fwd=stale; stored\r\n" in got if is_kept else b"fwd=stale\r\n" in got
        assert (b"; hit" in await say(live.port, request(origin.url))) is is_kept
        assert len(live.service.flights) == 0


async def test_a_page_that_has_become_slow_comes_through(confdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "BODY_SECONDS", 0.2)
    slow: list[Part] = [OK + FRESH + CHUNKED + b"\r\n3\r\nnew\r\n", 0.6, b"0\r\n\r\n"]
    async with raw_origin([STALE], slow) as origin, Live(confdir) as live:
        await say(live.port, request(origin.url))
        many = await asyncio.gather(*(say(live.port, request(origin.url)) for _ in range(4)))
        assert all(b"new" in got for got in many)
        assert sum(b"collapsed" in got for got in many) == 3
        assert (await say(live.port, request(origin.url))).endswith(b"new")
    assert len(origin.heads) == 3


async def test_an_origin_that_is_slow_to_fail_is_stood_in_for(confdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "BODY_SECONDS", 0.2)
    failing: list[Part] = [b"HTTP/1.1 503 Unavailable\r\nContent-Length: 9\r\n\r\n", 5.0]
    async with raw_origin([STALE], failing) as origin, Live(confdir) as live:
        await say(live.port, request(origin.url))
        assert b"detail=stale-if-error" in await say(live.port, request(origin.url))


async def test_what_is_refreshed_and_has_no_end_is_asked_for_anew(confdir: Path) -> None:
    old = OK + b"Cache-Control: max-age=0, stale-while-revalidate=600\r\nContent-Length: 3\r\n\r\nold"
    events: list[Part] = [OK + b"Content-Type: text/event-stream\r\n\r\ndata: new\n\n", 0.5]
    async with raw_origin([old], events) as origin, Live(confdir) as live:
        await say(live.port, request(origin.url))
        assert b"; hit; ttl=" in await say(live.port, request(origin.url))
        await asyncio.sleep(0.3)
        assert b"data: new" in await say(live.port, request(origin.url))
