"""In a real Chromium: every page renders, asks no other host, runs nothing that it was given, and moves."""

import json
import os
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from blocks.model import Capture
from tests.apps.dashboard.browser import Window
from tests.apps.dashboard.conftest import Served, serving, small
from tests.end_to_end.program import Program
from tests.origin import Origin, Page
from tests.store.conftest import page

ROOT = Path(__file__).resolve().parent.parent.parent.parent
AXE = Path(os.environ.get("AXE_CORE", ROOT / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"))

MARK = "document.title='ran';window.ran=1;fetch('http://127.0.0.1:1/ran')"
PAYLOADS = (
    "<script>{}</script>",
    "<img src=x onerror={}>",
    "<svg onload={}>",
    "<svg><script>{}</script></svg>",
    '"><script>{}</script>',
    "'><script>{}</script>",
    "</title><script>{}</script>",
    "</textarea><script>{}</script>",
    "</style><script>{}</script>",
    "--><script>{}</script>",
    "<iframe srcdoc='<script>{}</script>'></iframe>",
    "<a href=javascript:{} autofocus onfocus={}>x</a>",
    "<body onload={}>",
    "<details open ontoggle={}>",
    "<input autofocus onfocus={}>",
)
"""Fifteen, each in a URL, a header, a body and a block's text: sixty."""


def addresses(served: Served, site: str = "a.test") -> dict[str, str]:
    """Return the path of a page of each kind."""
    served.counted(site)
    pages = json.loads(served.ask(f"/site/pages.json?site={quote(site)}").body)
    url = max(pages, key=lambda row: row["captures"])["url"]
    rows = json.loads(served.ask(f"/page/blocks.json?{urlencode({'url': url})}").body)
    block = next((row for row in rows if row["base"]), rows[-1])["block"]
    found = {
        "overview": "/",
        "sites": "/sites",
        "site": f"/site?{urlencode({'site': site})}",
        "page": f"/page?{urlencode({'url': url})}",
        "block": f"/block?{urlencode({'site': site, 'block': block})}",
        "rules": f"/rules?{urlencode({'host': site})}",
        "login": "/login",
    }
    if max(row["captures"] for row in pages) > 1:
        found["diff"] = f"/diff?{urlencode({'url': url})}"
    return found


@pytest.mark.parametrize("width", [1400, 390])
def test_every_page_renders_in_its_width(served: Served, chromium: Any, width: int) -> None:
    window = Window(chromium, served.url, width)
    for name, path in addresses(served).items():
        shown = window.show(path)
        assert shown.inner_text("main").strip(), name
        assert shown.evaluate("document.documentElement.scrollWidth") <= width, name
    assert window.wrong == []
    window.context.close()


def test_the_overview_shows_the_figures_of_the_store(served: Served, chromium: Any) -> None:
    window = Window(chromium, served.url)
    shown = window.show("/")
    b = served.store.stats().bytes
    for name in ("original", "exact", "block", "ondisk"):
        assert shown.inner_text(f'[data-value="exact-{name}"]') == f"{getattr(b, name):,}"
    widths = shown.eval_on_selector_all(".waterfall rect.kept", "e => e.map(r => r.getAttribute('width'))")
    most = max(b.original, b.exact, b.block, b.ondisk)
    assert widths == [f"{getattr(b, n) / most:.2%}" for n in ("original", "exact", "block", "ondisk")]
    window.context.close()


def test_pages_work_without_javascript(served: Served, chromium: Any) -> None:
    context = chromium.new_context(java_script_enabled=False)
    for name, path in addresses(served).items():
        shown = context.new_page()
        shown.goto(served.url + path)
        assert shown.inner_text("main").strip(), name
    context.close()


def test_the_frame_draws_the_page_with_its_blocks_marked(served: Served, chromium: Any) -> None:
    window = Window(chromium, served.url)
    shown = window.show(addresses(served)["page"])
    frame = shown.frames[1]
    assert frame.url.startswith(f"http://127.0.0.1:{served.frame_port}/drawn")
    assert frame.locator("[data-pm-kind]").count() > 2
    assert shown.get_attribute("iframe", "sandbox") == ""
    window.context.close()


def hostile() -> list[Capture]:
    """Pages with a payload in URL, header, title, body and a block's text."""
    captures = []
    for number, payload in enumerate(PAYLOADS):
        text = payload.replace("{}", MARK)
        headers = ((b"Content-Type", b"text/html"), (f"X-{number}".encode(), text.encode()), (text.encode(), b"x"))
        body = f"<html><head><title>{text}</title></head><body><p>{text}<div>{text}</div>{text}".encode()
        captures.append(page(f"http://evil.test/{number}?{text}", body, headers=headers))
    captures.append(page("http://<script>window.ran=1</script>.test/", b"<p>x"))
    return captures


def test_no_payload_runs_anywhere(home: Path, chromium: Any) -> None:
    with serving(home, hostile()) as served:
        served.counted("evil.test")
        window = Window(chromium, served.url)
        paths = ["/", "/sites", "/site?site=evil.test", "/site?site=%3Cscript%3Ewindow.ran=1%3C/script%3E.test"]
        for row in json.loads(served.ask("/site/pages.json?site=evil.test").body):
            query = urlencode({"url": row["url"]})
            paths += [f"/page?{query}", f"/purge?{query}", f"/sites?{urlencode({'q': row['url']})}"]
            for block in json.loads(served.ask(f"/page/blocks.json?{query}").body)[1:3]:
                paths.append(f"/block?{urlencode({'site': 'evil.test', 'block': block['block']})}")
        for path in paths:
            shown = window.show(path)
            assert [frame.evaluate("window.ran") for frame in shown.frames[:1]] == [None], path
            assert "ran" not in shown.title().split(), path
        for path in ("/page/headers.json", "/site/pages.json", "/page/blocks.json"):
            window.show(f"{path}?site=evil.test&{urlencode({'url': row['url']})}")
        for row in json.loads(served.ask("/site/pages.json?site=evil.test").body):
            alone = window.context.new_page()  # the frame's document, opened by itself
            alone.goto(f"http://127.0.0.1:{served.frame_port}/drawn?{urlencode({'url': row['url']})}")
            assert alone.evaluate("window.ran") is None
            alone.close()
        assert [text for text in window.wrong if "404" not in text] == []
        window.context.close()


def test_live_counters_move_while_traffic_runs(tmp_path: Path, chromium: Any) -> None:
    origin = Origin()
    origin.otherwise = lambda path: Page(
        f"<html><p>menu<p>{path}".encode(), {"Content-Type": "text/html", "Cache-Control": "max-age=600"}
    )
    with Program(tmp_path) as program:
        window = Window(chromium, f"http://127.0.0.1:{program.dashboard_port}")
        shown = window.show("/")
        before = shown.inner_text('[data-value="captures"]')
        for number in range(8):
            program.get(origin.url(f"/{number}"))
            program.get(origin.url(f"/{number}"))
        program.settle()
        shown.wait_for_function(
            "before => document.querySelector('[data-value=captures]').textContent !== before", arg=before
        )
        deadline = time.monotonic() + 60
        while shown.inner_text('[data-value="captures"]') != "8":
            assert time.monotonic() < deadline
            shown.wait_for_timeout(200)
        assert shown.inner_text('[data-value="hits"]') == "50.0 %"
        refused = program.get(f"http://127.0.0.1:{program.dashboard_port}/")
        assert refused.status >= 400
        assert b"Pagemason</a>" not in refused.body
        assert window.wrong == []
        window.context.close()
    origin.close()


def test_axe_finds_no_serious_violation(served: Served, chromium: Any) -> None:
    if not AXE.is_file():
        pytest.skip(f"no axe-core: npm install --prefix .venv/axe axe-core, or AXE_CORE=FILE ({AXE})")
    for scheme in ("light", "dark"):
        context = chromium.new_context(color_scheme=scheme, bypass_csp=True, viewport={"width": 1400, "height": 900})
        name, _, value = served.log_in().partition("=")
        context.add_cookies([{"name": name, "value": value, "url": served.url}])  # with the forms that change something
        shown = context.new_page()
        for name, path in addresses(served).items():
            shown.goto(served.url + path)
            assert shown.locator("text=Log out").count() == 1
            shown.add_script_tag(path=str(AXE))
            found = shown.evaluate("axe.run(document, {iframes: false}).then(r => r.violations)")
            serious = [
                (v["id"], [n["html"][:160] + n["failureSummary"][-200:] for n in v["nodes"]][:2])
                for v in found
                if v["impact"] in ("serious", "critical")
            ]
            assert serious == [], (name, scheme)
        context.close()


def test_real_pages_render_too(home: Path, corpora: Path, chromium: Any) -> None:
    from apps.cli import invoke

    url = f"sqlite:///{home / 'store.db'}"
    assert invoke(["import", str(corpora / "blog.warc.gz"), "--store", url]) == 0
    with serving(home, small()) as served:
        window = Window(chromium, served.url)
        for name, path in addresses(served, "hidemiyoshi.jp").items():
            assert window.show(path).inner_text("main").strip(), name
        assert window.wrong == []
        window.context.close()
