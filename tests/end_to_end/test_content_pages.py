"""A real browser on thirty pages of seven types, which the proxy gives as their content."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.program import Program
from tests.end_to_end.test_browsing import CALLS_HOME, CHROMIUM, DOT
from tests.end_to_end.typed_pages import Written, written_pages
from tests.origin import Origin, Page

PAGES = written_pages()
WIDTH = 390
"""Of a phone: what fits in there fits on a desk."""


@pytest.fixture
def site(origin: Origin) -> Origin:
    fresh = {"Cache-Control": "max-age=600"}
    origin.pages |= {
        page.path: Page(page.html.encode(), {"Content-Type": "text/html; charset=utf-8", **fresh}) for page in PAGES
    }
    for path in ("/picture.png", "/favicon.ico"):
        origin.pages[path] = Page(DOT, {"Content-Type": "image/png", **fresh})
    return origin


class Reader:
    """A browser behind the proxy, which notes what goes wrong."""

    def __init__(self, browser: Any, origin: Origin) -> None:
        self.page = browser.new_page(viewport={"width": WIDTH, "height": 800})
        self.origin, self.wrong = origin, list[str]()
        self.page.on("console", lambda message: self.wrong.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("requestfailed", lambda request: self.wrong.append(f"failed: {request.url}"))
        self.page.on("request", self._asked)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(self.origin.url("/")):
            self.wrong.append(f"asked for {request.url}")

    def read(self, written: Written) -> None:
        """Open a page, and look at it as a reader does."""
        answer = self.page.goto(self.origin.url(written.path), wait_until="load")
        assert answer.headers["x-pagemason-view"].startswith("content;"), written.path
        visible = self.page.inner_text("body")
        for text in written.says:
            assert text in visible, (written.path, text)
        assert written.says[0] in self.page.inner_text("h1"), written.path
        assert "We use cookies" not in visible, written.path
        assert self.page.evaluate("[window.has_run, document.scripts.length]") == [None, 0], written.path
        assert self.page.evaluate("document.documentElement.scrollWidth") <= WIDTH, written.path


@pytest.fixture
def chromium(tmp_path: Path) -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium here")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as running:
        yield running.chromium


def test_thirty_pages_are_read_as_their_content(tmp_path: Path, site: Origin, chromium: Any) -> None:
    assert (len(PAGES), len({page.page_type for page in PAGES})) == (30, 7)
    with Program(tmp_path, "--view=content", "--set=view_seconds=60") as program:
        browser = chromium.launch(
            executable_path=CHROMIUM,
            proxy={"server": f"http://127.0.0.1:{program.port}", "bypass": f"<-loopback>,{CALLS_HOME}"},
            args=["--host-resolver-rules=" + ",".join(f"MAP {host} ~NOTFOUND" for host in CALLS_HOME.split(","))],
        )
        try:
            reader = Reader(browser, site)
            for written in PAGES:
                reader.read(written)
            assert reader.wrong == []
            reader.page.click("text=Full page")
            assert reader.page.evaluate("window.has_run") == 1  # the full page is the origin's, with its scripts
        finally:
            browser.close()
        assert program.metric('pagemason_views_total{result="content"}') == 30
        assert program.metric("pagemason_view_fallbacks_total") == 0
    assert not [path for path in site.asked if "pagemason-view" in path]
