"""A real browser on a small site through the proxy, twice, the second time with the origin switched off."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.program import Program
from tests.origin import Origin, Page

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

CALLS_HOME = "*.google.com,*.googleapis.com,*.gstatic.com"
"""What the browser asks for by itself; no flag stops all of it."""

NAV = b'<nav><a href="/">home</a> <a href="/one">one</a> <a href="/two">two</a></nav>'


def html(title: str, text: str) -> Page:
    """Return a page of the site."""
    head = f'<!doctype html><html lang="en"><head><title>{title}</title><link rel="stylesheet" href="/style.css">'
    body = f'<script src="/script.js" defer></script></head><body>{NAV.decode()}<h1>{title}</h1><p>{text}</p>'
    image = '<img src="/dot.png" alt=""></body></html>'
    return Page((head + body + image).encode(), {"Content-Type": "text/html", "Cache-Control": "max-age=3600"})


DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f00"
    "05000 1ff89993d1d0000000049454e44ae426082".replace(" ", "")
)


@pytest.fixture
def site(secure: tuple[Origin, str]) -> tuple[Origin, str]:
    origin, trust = secure
    fresh = {"Cache-Control": "max-age=3600"}
    origin.pages |= {
        "/": html("home", "welcome"),
        "/one": html("one", "the first page"),
        "/two": html("two", "the second page"),
        "/style.css": Page(b"h1 { color: rgb(1, 2, 3) }", {"Content-Type": "text/css", **fresh}),
        "/script.js": Page(b"document.title += '!'", {"Content-Type": "text/javascript", **fresh}),
        "/dot.png": Page(DOT, {"Content-Type": "image/png", **fresh}),
        "/favicon.ico": Page(DOT, {"Content-Type": "image/png", **fresh}),
    }
    return origin, trust


@pytest.fixture(scope="module")
def playwright() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium here")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as running:
        yield running


def browse(playwright: Any, program: Program, origin: Origin) -> tuple[list[str], list[str]]:
    """Walk through the site with an empty browser; return what it showed, and what went wrong."""
    browser = playwright.chromium.launch(
        executable_path=CHROMIUM,
        proxy={"server": f"http://127.0.0.1:{program.port}", "bypass": f"<-loopback>,{CALLS_HOME}"},
        args=["--host-resolver-rules=" + ",".join(f"MAP {host} ~NOTFOUND" for host in CALLS_HOME.split(","))],
    )
    try:
        page = browser.new_context(ignore_https_errors=True).new_page()
        wrong: list[str] = []
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("requestfailed", lambda request: wrong.append(request.url))
        page.goto(origin.url("/"))
        shown = []
        for name in ("one", "two", "home"):
            page.click(f"text={name}")
            page.wait_for_function(f"document.title == '{name}!'")
            colour = page.evaluate("getComputedStyle(document.querySelector('h1')).color")
            width = page.evaluate("document.querySelector('img').naturalWidth")
            shown.append(f"{page.inner_text('h1')} {page.inner_text('p')} {colour} {width}")
        return shown, wrong
    finally:
        browser.close()


def test_a_browser_sees_the_same_site_with_the_origin_gone(
    tmp_path: Path, site: tuple[Origin, str], playwright: Any
) -> None:
    origin, trust = site
    with Program(tmp_path, trust) as program:
        first, wrong = browse(playwright, program, origin)
        assert wrong == []
        assert first == [
            "one the first page rgb(1, 2, 3) 1",
            "two the second page rgb(1, 2, 3) 1",
            "home welcome rgb(1, 2, 3) 1",
        ]
    origin.close()
    with Program(tmp_path, "--mode=offline") as program:
        assert browse(playwright, program, origin) == (first, [])
