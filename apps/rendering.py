"""Boxes of a page as a headless Chromium draws it, for VIPS and CombPS (the extra `vision`).

The page runs no scripts and reaches no network: what it links to is not in an archive, and it must not call home.
"""

import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from extract.protocol import MissingExtra, Page
from extract.segmenters.boxes import Box, Boxes, annotated

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright, Route

WIDTH, HEIGHT = 1280, 1024
"""Of the window, in CSS pixels."""

TIMEOUT_MS = 15_000
MAX_CHARACTERS = 4_000_000
"""A longer source is not drawn: it has no boxes."""

_ATTRIBUTE = "data-pagemason-node"
_URL = "http://page.invalid/"
_CLEAR = "rgba(0, 0, 0, 0)"

_MEASURE = """name => [...document.querySelectorAll(`[${name}]`)].map(each => {
  const box = each.getBoundingClientRect(), style = getComputedStyle(each);
  if (!box.width || !box.height || style.visibility === 'hidden') return null;
  return [Number(each.getAttribute(name)), box.left + scrollX, box.top + scrollY, box.width, box.height,
    style.backgroundColor, parseFloat(style.fontSize), Number(style.fontWeight)];
}).filter(each => each && Number.isFinite(each[0]))"""


class Chromium(AbstractContextManager["Chromium"]):
    """A browser that measures pages while the context lasts; call it with a page."""

    def __init__(self, executable: str = "") -> None:
        self._executable = executable or shutil.which("chromium") or shutil.which("chromium-browser") or ""
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    def __enter__(self) -> "Chromium":
        try:
            from playwright.sync_api import Error, sync_playwright
        except ImportError as exc:
            raise MissingExtra("rendering needs playwright: pip install 'pagemason[vision]'") from exc
        if not self._executable:
            raise MissingExtra("rendering needs a Chromium: install one, such as Debian's package `chromium`")
        self._playwright = sync_playwright().start()
        try:
            self._browser = self._playwright.chromium.launch(executable_path=self._executable)
        except Error as exc:
            self._playwright.stop()
            raise MissingExtra(f"{self._executable} does not start: {str(exc).splitlines()[0]}") from exc
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._browser is not None:
            self._browser.close()
        if self._playwright is not None:
            self._playwright.stop()

    def __call__(self, page: Page) -> Boxes:
        """Return the boxes of a page's nodes; none for a page that the browser does not draw in time."""
        from playwright.sync_api import Error

        if self._browser is None:
            raise RuntimeError("the browser is not running: use `with Chromium() as render`")
        if len(page.source) > MAX_CHARACTERS:
            return {}
        body = annotated(page, _ATTRIBUTE).encode("utf-8", "replace")
        context = self._browser.new_context(
            java_script_enabled=False, viewport={"width": WIDTH, "height": HEIGHT}, service_workers="block"
        )
        try:
            tab = context.new_page()
            tab.route("**/*", lambda route: _answer(route, body))
            tab.goto(_URL, wait_until="domcontentloaded", timeout=TIMEOUT_MS)
            rows: list[list[Any]] = tab.evaluate(_MEASURE, _ATTRIBUTE)
        except Error:
            return {}
        finally:
            context.close()
        return _boxes(rows)


def _answer(route: "Route", body: bytes) -> None:
    """Answer the page's own URL, and nothing else."""
    if route.request.url == _URL:
        route.fulfill(status=200, content_type="text/html; charset=utf-8", body=body)
    else:
        route.abort()


def _boxes(rows: list[list[Any]]) -> Mapping[int, Box]:
    found = {}
    for node, left, top, width, height, background, size, weight in rows:
        colour = "" if background == _CLEAR else background
        found[int(node)] = Box(left, top, width, height, colour, size, int(weight or 400))
    return found
