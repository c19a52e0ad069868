"""Pages as they were at a time, asked for through a running proxy (RFC 7089)."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.caching import dates
from store.memory import MemoryStore
from tests.proxy.live import Live
from tests.proxy.making import capture

SECOND = 1_000_000
TIMES = [1_500_000_000 * SECOND, 1_600_000_000 * SECOND, 1_700_000_000 * SECOND]
URL = "http://a.test/page"
OWN = "http://pagemason.alt"


def http_date(time: int) -> str:
    return dates.render(time).decode()


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    """A proxy that is offline, with a page captured three times and one that is private."""
    async with Live(tmp_path, mode="offline") as running:
        store = running.service.store
        assert isinstance(store, MemoryStore)
        store.keep([capture(URL, time, body=b"<p>version %d" % n) for n, time in enumerate(TIMES)])
        store.keep([capture("http://a.test/private", TIMES[0], private=True)])
        yield running


@pytest.mark.parametrize(
    ("asked", "version"), [(0, 0), (TIMES[0], 0), (TIMES[1] - SECOND, 0), (TIMES[1], 1), (TIMES[2] + SECOND, 2)]
)
async def test_a_page_is_given_as_it_was(live: Live, asked: int, version: int) -> None:
    reply = await live.get(URL, Accept_Datetime=http_date(asked))
    assert (reply.status, reply.body) == (200, b"<p>version %d" % version)
    assert reply.headers["Memento-Datetime"] == http_date(TIMES[version])
    assert "accept-datetime" in ", ".join(reply.headers.get_all("Vary", [])).lower()
    assert f'<{URL}>;rel="original"' in reply.headers["Link"]
    memento = await live.get(reply.headers["Content-Location"])
    assert (memento.status, memento.body) == (200, reply.body)
    assert memento.headers["Memento-Datetime"] == reply.headers["Memento-Datetime"]
    assert "Accept-Datetime" not in ", ".join(memento.headers.get_all("Vary", []))
    assert memento.headers["Content-Security-Policy"] == "sandbox"


async def test_a_timegate_redirects_to_the_memento(live: Live) -> None:
    reply = await live.get(f"{OWN}/timegate/{URL}", Accept_Datetime=http_date(TIMES[1] + SECOND))
    assert reply.status == 302
    assert reply.headers["Location"] == f"{OWN}/memento/20200913122640/{URL}"
    assert reply.headers["Vary"] == "accept-datetime"
    assert 'rel="original"' in reply.headers["Link"]
    assert "Memento-Datetime" not in reply.headers
    assert (await live.get(f"{OWN}/timegate/{URL}")).headers["Location"].startswith(f"{OWN}/memento/20231114221320/")


async def test_a_timemap_names_mementos_that_are_there(live: Live) -> None:
    reply = await live.get(f"{OWN}/timemap/link/{URL}")
    assert reply.headers["Content-Type"] == "application/link-format"
    found = re.findall(r'<([^>]+)>;rel="[a-z ]*memento"', reply.body.decode())
    assert [(await live.get(url)).body for url in found] == [b"<p>version %d" % n for n in range(3)]
    head = await live.get(f"{OWN}/timemap/link/{URL}", method="HEAD")
    assert (head.status, head.body) == (200, b"")


async def test_a_time_between_two_mementos_leads_to_one(live: Live) -> None:
    reply = await live.get(f"{OWN}/memento/20180101000000/{URL}")
    assert (reply.status, reply.headers["Location"]) == (302, f"{OWN}/memento/20170714024000/{URL}")


@pytest.mark.parametrize(
    ("url", "datetime", "status"),
    [
        (URL, "yesterday", 400),
        (f"{OWN}/timegate/{URL}", "yesterday", 400),
        (f"{OWN}/timegate/http://a.test/none", "", 404),
        (f"{OWN}/timemap/link/http://a.test/private", "", 404),
        (f"{OWN}/memento/20180101000000/http://a.test/none", "", 404),
        (f"{OWN}/memento/20181301000000/{URL}", "", 404),
        (f"{OWN}/timemap/json/{URL}", "", 404),
        (f"{OWN}/", "", 404),
        ("http://a.test/none", http_date(0), 504),
        ("http://a.test/private", http_date(TIMES[0]), 504),
    ],
)
async def test_what_is_not_there_is_said(live: Live, url: str, datetime: str, status: int) -> None:
    reply = await (live.get(url, Accept_Datetime=datetime) if datetime else live.get(url))
    assert reply.status == status


async def test_a_cache_is_no_archive(tmp_path: Path) -> None:
    async with Live(tmp_path) as live:
        live.service.store.keep([capture(URL, TIMES[0])])
        assert (await live.get(f"{OWN}/timemap/link/{URL}")).status == 404
        assert (await live.get(f"{OWN}/timemap/link/{URL}", X_Pagemason_Mode="offline")).status == 200
        assert (await live.get(f"{OWN}/timemap/link/{URL}", method="POST", body=b"")).status == 405
