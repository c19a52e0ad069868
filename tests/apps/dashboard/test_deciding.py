"""What people decide in the dashboard of a running proxy reaches its clients: in a real Chromium."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.apps.dashboard.browser import Window
from tests.end_to_end.program import Program
from tests.origin import Origin, Page
from tests.proxy.pages import article

HTML = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "max-age=600"}


def content(program: Program, url: str) -> str:
    reply = program.get(url, X_Pagemason_View="content", Accept="text/markdown")
    assert (reply.headers["X-Pagemason-View"] or "").startswith("content")
    return reply.body.decode()


def test_what_is_decided_takes_effect(tmp_path: Path, origin: Origin, chromium: Any) -> None:
    origin.pages["/story"] = Page(article(1), HTML)
    url = origin.url("/story")
    with Program(tmp_path, "--set=view_seconds=60") as program:
        assert "Section 7" not in content(program, url)
        program.settle()
        window = Window(chromium, f"http://127.0.0.1:{program.dashboard_port}")
        page = f"/page?{urlencode({'url': url})}"
        log_in(window, tmp_path, page)
        menu = window.page.locator("tr", has_text="/section/0").first
        menu.get_by_role("button", name="Keep").click()
        window.page.wait_for_load_state()
        assert "Section 7" in until(window, program, url, "Section 7", there=True)
        menu.get_by_role("button", name="Undo").click()
        window.page.wait_for_load_state()
        assert "Section 7" not in until(window, program, url, "Section 7", there=False)

        window.show("/site?site=127.0.0.1")
        window.page.select_option("#view", "content")
        window.page.fill("#drop", ".byline\nfigure")
        window.page.get_by_role("button", name="Save", exact=True).click()
        window.page.wait_for_load_state()
        assert "By Ada Tester" not in until(window, program, url, "By Ada Tester", there=False)
        assert (program.get(url).headers["X-Pagemason-View"] or "").startswith("content")  # the host's rule says so

        origin.pages["/story"] = Page(article(2), HTML)
        window.show(page)
        window.page.get_by_role("button", name="Fetch it anew").click()
        assert "The origin answered 200, and the answer is kept." in window.page.inner_text("main")
        program.settle()
        assert program.get(url, X_Pagemason_View="full").body == article(2)
        window.page.click("text=The page and its captures")
        assert window.page.locator("section.table", has_text="Captures").first.locator("tbody tr").count() == 2
        assert window.wrong == []
        window.context.close()


def log_in(window: Window, folder: Path, then: str) -> None:
    """Log in with the token of the proxy's data directory, and go on to a page."""
    window.show(f"/login?{urlencode({'then': then})}")
    window.page.fill("#token", (folder / "data" / "pagemason" / "dashboard-token").read_text().strip())
    window.page.click("main button")
    window.page.wait_for_load_state()
    window.page.wait_for_timeout(150)


def until(window: Window, program: Program, url: str, text: str, *, there: bool) -> str:
    """Return the content view once a text is there or gone; as it is after ten seconds."""
    for _ in range(50):
        found = content(program, url)
        if (text in found) == there:
            break
        window.page.wait_for_timeout(200)
    return found
