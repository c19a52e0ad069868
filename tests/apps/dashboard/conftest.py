"""A dashboard that serves a store on free ports, and a client for it."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from apps.dashboard import live
from apps.dashboard.keys import TOKEN_FILE
from apps.dashboard.serving import serve
from blocks.model import Capture
from settings import Settings, data_directory
from store.base import Store
from store.opening import open_store
from tests.apps.dashboard.browser import CHROMIUM
from tests.origin import Origin
from tests.store.conftest import page, site_pages


@dataclass
class Answer:
    """What the dashboard answered."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Served:
    """A dashboard that runs; `store` is the one it shows, opened to be written."""

    port: int
    frame_port: int
    store: Store
    folder: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return (data_directory() / TOKEN_FILE).read_text().strip()

    def ask(
        self,
        path: str,
        form: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        method: str = "",
        port: int = 0,
    ) -> Answer:
        """Ask for a path, with a form if there is one."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=30)
        body = None if form is None else urlencode(form)
        given = {"Content-Type": "application/x-www-form-urlencoded"} if form is not None else {}
        try:
            connection.request(method or ("GET" if form is None else "POST"), path, body, {**given, **(headers or {})})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def log_in(self) -> str:
        """Return the cookie of a new session."""
        answer = self.ask("/login", {"token": self.token})
        assert answer.status == 303
        return str(answer.headers["Set-Cookie"]).partition(";")[0]

    def counted(self, site: str) -> None:
        """Wait until the blocks of a site are counted."""
        deadline = time.monotonic() + 30
        while b'"counted": true' not in self.ask(f"/site/progress.json?site={quote(site)}").body:
            self.ask(f"/site?site={quote(site)}")
            assert time.monotonic() < deadline
            time.sleep(0.05)


def sockets() -> tuple[socket.socket, socket.socket]:
    """Return two sockets that listen."""
    return socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))


@contextmanager
def serving(folder: Path, captures: list[Capture]) -> Iterator[Served]:
    """Serve a store with these captures."""
    settings = Settings(store=f"sqlite:///{folder / 'store.db'}")
    store = open_store(settings.store)
    store.keep(captures)
    reading = open_store(settings.store, create=False, read_only=True)
    servers: list[Any] = []
    pages, frames = sockets()
    thread = threading.Thread(target=serve, args=(settings, reading, None, (pages, frames), servers.append))
    served = Served(pages.getsockname()[1], frames.getsockname()[1], store, folder)
    thread.start()
    try:
        served.ask("/-/healthy")
        yield served
    finally:
        servers[0].should_exit = True
        thread.join(30)
        for end in (pages, frames):
            end.close()
        reading.close()
        store.close()


def small() -> list[Capture]:
    """Two sites: a template with pages of their own, one page in two captures; and a body that is no page."""
    before = page("http://a.test/page/1", b"<html><p>menu of all<p>before", 1_600_000_000_000_000)
    image = page("http://b.test/dot.png", b"\x89PNG", headers=((b"Content-Type", b"image/png"),))
    return [*site_pages(12), before, page("http://b.test/", b"<p>one of its own"), image]


@pytest.fixture
def served(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(live, "STATS_WAIT_SECONDS", 20.0)  # what is shown is compared, on a machine that may be busy
    monkeypatch.setattr(live, "STATS_SHARE", 1e9)
    with serving(home, small()) as running:
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium here")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture
def origin() -> Iterator[Origin]:
    running = Origin()
    yield running
    running.close()


Serving = Callable[[Path, list[Capture]], Any]
