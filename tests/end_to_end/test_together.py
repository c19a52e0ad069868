"""Two proxies, each a process of its own, on one Postgres."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from store.opening import open_store
from tests.end_to_end.program import Program
from tests.origin import Origin, Page

SECONDS = 20.0
"""Within which one proxy sees what another did: three or four, where the machine is not busy."""


@pytest.fixture
def proxies(tmp_path: Path, pg_url: str) -> Iterator[tuple[Program, Program]]:
    """Two proxies on one empty store."""
    with ExitStack() as stack:
        for name in ("one", "other"):
            (tmp_path / name).mkdir()
        started = [
            stack.enter_context(Program(tmp_path / name, "--set", "compact_idle_seconds=1", store=pg_url))
            for name in ("one", "other")
        ]
        yield started[0], started[1]


def within_seconds(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def site(path: str) -> Page:
    """Return a page of a site with a template."""
    menu = "".join(f"<li><a href='/{n}'>part {n}</a>" for n in range(40))
    return Page(f"<html><ul>{menu}</ul><p>this is {path}</p><p>foot</html>".encode(), {"Cache-Control": "max-age=3600"})


def test_what_one_does_the_other_sees(proxies: tuple[Program, Program], origin: Origin) -> None:
    one, other = proxies
    origin.otherwise = site
    url = origin.url("/page")
    body = one.get(url).body
    one.settle()
    assert other.get(url).is_hit
    assert other.get(url).body == body
    assert origin.asked["/page"] == 1
    assert one.get(url, method="PURGE").status == 200
    within_seconds(lambda: other.get(url, X_Pagemason_Mode="offline").status == 504)
    one.get(url)
    one.settle()
    within_seconds(lambda: other.get(url, X_Pagemason_Mode="offline").is_hit)
    one.get(url, method="POST", body=b"")
    within_seconds(lambda: not other.get(url).is_hit)


def test_a_killed_proxy_leaves_nothing_behind(proxies: tuple[Program, Program], origin: Origin, pg_url: str) -> None:
    one, other = proxies
    origin.otherwise = site
    bodies = {}
    for number in range(60):
        url = origin.url(f"/{number}")
        asked = one if number % 2 and number < 30 else other
        bodies[url] = asked.get(url).body
        if number == 29:
            one.settle()
            one.stop(signal.SIGKILL)
    other.settle()
    assert {url: other.get(url, X_Pagemason_Mode="offline").body for url in bodies} == bodies
    assert other.stop() == 0
    store = open_store(pg_url)
    store.compact()
    assert store.check() == (60, [])
    assert {record.capture.url: store.read(record).body for record in store.captures()} == bodies
    store.close()
