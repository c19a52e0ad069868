"""A page that is fetched anew because the person who runs the proxy wants it."""

import asyncio
from pathlib import Path

import pytest

from tests.origin import Origin, Page
from tests.proxy.live import Live

FRESH = {"Content-Type": "text/html", "Cache-Control": "max-age=600", "ETag": '"one"'}


async def refetch(live: Live, url: str) -> str:
    return await asyncio.to_thread(live.service.refetch, url, 10.0)


async def test_a_fresh_page_is_fetched_anew(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"<p>one", FRESH)
    async with Live(confdir) as live:
        assert (await live.get(origin.url("/"))).body == b"<p>one"
        origin.pages["/"] = Page(b"<p>two", FRESH | {"ETag": '"two"'})
        assert (await live.get(origin.url("/"))).body == b"<p>one"
        assert await refetch(live, origin.url("/")) == "The origin answered 200, and the answer is kept."
        again = await live.get(origin.url("/"))
        assert (again.body, again.is_hit) == (b"<p>two", True)


async def test_what_is_not_kept_is_said(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"<p>one", {"Content-Type": "text/html", "Cache-Control": "no-store"})
    async with Live(confdir) as live:
        assert await refetch(live, origin.url("/")) == "The origin answered 200; this answer is not kept."
        assert await refetch(live, "http://127.0.0.1:1/") == "The origin gives no answer."
        assert "X-Pagemason" not in str(origin.seen)


@pytest.mark.parametrize(("mode", "said"), [("replay", "and the answer is kept"), ("offline", "nothing is fetched")])
async def test_modes_decide(confdir: Path, origin: Origin, mode: str, said: str) -> None:
    origin.pages["/"] = Page(b"<p>one", {"Content-Type": "text/html", "Cache-Control": "no-store"})
    async with Live(confdir, mode=mode) as live:
        assert said in await refetch(live, origin.url("/"))
    assert len(origin.seen) == (mode == "replay")


async def test_a_slow_origin_is_not_waited_for(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"<p>one", FRESH)
    async with Live(confdir) as live:
        assert await asyncio.to_thread(live.service.refetch, origin.url("/"), 0.0) == "The page is being fetched."
        while not (await live.get(origin.url("/"))).is_hit:
            await asyncio.sleep(0.05)
