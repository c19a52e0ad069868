"""Stale pages: asked about, refreshed behind the client's back, or standing in for an origin that is gone."""

import asyncio
from pathlib import Path

from tests.origin import Origin, Page
from tests.proxy.live import Live
from tests.proxy.making import count


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
