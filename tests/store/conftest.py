"""Stores of every kind, empty, and captures to put into them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from blocks.model import Capture
from store.base import Store
from store.opening import open_store
from store.sql import SqlStore

MakeCapture = Callable[..., Capture]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store that does not exist yet; `memory:` has no other way in than its own object."""
    if request.param == "memory":
        return "memory:"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    return str(request.getfixturevalue("pg_url"))


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store in a database that is empty yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    return str(request.getfixturevalue("pg_url"))


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = open_store(store_url)
    yield opened
    opened.close()


@pytest.fixture
def sql_store(database_url: str) -> Iterator[SqlStore]:
    """A store in a database, empty."""
    opened = open_store(database_url)
    assert isinstance(opened, SqlStore)
    yield opened
    opened.close()


def page(
    url: str = "http://a.test/", body: bytes = b"<p>hello", time: int = 1_700_000_000_000_000, **more: object
) -> Capture:
    """Return a capture of an HTML page."""
    headers = more.pop("headers", ((b"Content-Type", b"text/html"),))
    return Capture(url, time, 200, headers, body, reason=b"OK", **more)  # type: ignore[arg-type]


def site_pages(n: int, host: str = "a.test", *, words: int = 60) -> list[Capture]:
    """Return pages of one template: navigation and footer are the same, the article differs."""
    menu = b"".join(b"<li><a href='/%d'>Section number %d of the site</a></li>" % (i, i) for i in range(40))
    pages = []
    for i in range(n):
        text = b" ".join(b"word%d" % ((i * 7919 + j * 104729) % 5003) for j in range(words))
        body = b"<html><body><ul>%s</ul><div><h1>Page %d</h1><p>%s</p></div><p>footer of all pages</p></body></html>"
        pages.append(page(f"http://{host}/page/{i}", body % (menu, i, text), 1_700_000_000_000_000 + i * 1_000_000))
    return pages
