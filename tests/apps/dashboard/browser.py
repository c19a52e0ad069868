"""A real browser's page that notes what goes wrong."""

import shutil
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


class Window:
    """A browser's page that notes what goes wrong: console errors, requests to other hosts, dialogs."""

    def __init__(self, chromium: Any, base: str, width: int = 1400) -> None:
        self.context = chromium.new_context(viewport={"width": width, "height": 900})
        self.page = self.context.new_page()
        self.base, self.wrong = base, list[str]()
        self.page.on("console", lambda m: self.wrong.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"dialog {dialog.message}"))
        self.context.on("request", self._asked)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith("http://127.0.0.1:") or request.url.startswith("http://127.0.0.1:1/"):
            self.wrong.append(f"asked for {request.url}")

    def show(self, path: str) -> Any:
        self.page.goto(self.base + path, wait_until="load")
        self.page.wait_for_timeout(150)
        return self.page
