"""The content view over real sockets: what is asked for, what is given, and what stays as it is."""

import asyncio
import gzip
import json
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from proxy.views import rendering
from proxy.views.pool import RenderPool
from proxy.views.rules import Rule, Rules, save_text, written
from tests.end_to_end.program import Reply
from tests.origin import Origin, Page
from tests.proxy.live import Live
from tests.proxy.pages import article, paragraphs

HTML = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "max-age=600", "ETag": '"one"'}
HTML |= {"Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT", "Content-Security-Policy": "default-src 'self'"}
MARKDOWN = "text/markdown, text/html;q=0.5"


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """Processes that make views for all tests of this file: starting them takes a second."""
    pool = ProcessPoolExecutor(2, multiprocessing.get_context("spawn"), initializer=rendering.prepare)
    yield pool
    pool.shutdown()


@pytest.fixture
def shared(pool: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the proxies of a test use those processes, and leave them running."""
    monkeypatch.setattr(RenderPool, "_open", lambda _: pool)
    monkeypatch.setattr(RenderPool, "close", lambda _: None)


def put(origin: Origin, path: str = "/story/1", number: int = 1, **headers: str) -> str:
    """Put an article on the origin; return its URL."""
    fields = HTML | {name.replace("_", "-"): value for name, value in headers.items()}
    origin.pages[path] = Page(article(number), fields)
    return origin.url(path)


def is_content(reply: Reply) -> bool:
    """Whether a reply is a content view with the whole article, and without the menu."""
    text = gzip.decompress(reply.body) if reply.headers.get("Content-Encoding") == "gzip" else reply.body
    said = (reply.headers.get("X-Pagemason-View") or "").startswith("content")
    whole = all(paragraph.encode() in text for paragraph in paragraphs(1))
    return said and whole and b"Section 7" not in text


async def test_a_page_is_given_as_its_content(confdir: Path, origin: Origin) -> None:
    url = put(origin)
    async with Live(confdir, view="content") as live:
        first, again = await live.get(url), await live.get(url)
        full = await live.get(url, X_Pagemason_View="full")
    assert (is_content(first), is_content(again), again.is_hit, origin.asked["/story/1"]) == (True, True, True, 1)
    assert full.body == article(1)
    assert (full.headers["ETag"], full.headers["X-Pagemason-View"]) == ('"one"', None)
    headers = again.headers
    assert headers["ETag"].startswith('W/"pagemason-')
    assert "Last-Modified" not in headers
    assert headers["Vary"] == "Accept, Accept-Encoding"
    assert headers["Cache-Control"] == "max-age=600"
    assert "script-src" not in headers["Content-Security-Policy"]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert b"<script" not in again.body
    assert b"onerror" not in again.body
    assert f'<a href="{url}?pagemason-view=full">'.encode() in again.body
    assert 5 * len(again.body) < len(article(1))


async def test_the_link_leads_to_the_full_page_and_the_origin_does_not_see_it(confdir: Path, origin: Origin) -> None:
    url = put(origin, "/story/1?a=1")
    async with Live(confdir, view="content") as live:
        assert is_content(await live.get(url))
        full = await live.get(f"{url}&pagemason-view=full")
        assert (full.body, full.is_hit) == (article(1), True)
        assert (await live.get(origin.url("/x?pagemason-view=full"))).status == 404
        assert (await live.get(origin.url("/x?pagemason-view=full&y=1"))).status == 404
    assert list(origin.asked) == ["/story/1?a=1", "/x", "/x?y=1"]


async def test_markdown_is_given_to_those_who_accept_it(confdir: Path, origin: Origin) -> None:
    url = put(origin)
    async with Live(confdir) as live:
        reply = await live.get(url, Accept=MARKDOWN)
        assert is_content(reply)
        assert reply.headers["Content-Type"] == "text/markdown; charset=utf-8"
        assert reply.body.startswith(b"# The mayor opens bridge number 1\n")
        assert f"[Full page](<{url}?pagemason-view=full>)".encode() in reply.body
        assert f"[The second part]({origin.url('/story/other.html?page=2')})".encode() in reply.body
        html = await live.get(url, Accept="text/markdown;q=0.4, text/html")
        assert (html.body, html.headers["Vary"]) == (article(1), "Accept")
        only = await live.get(put(origin, "/story/2"), Accept="text/markdown")
        assert is_content(only)
    assert "text/html;q=0.5" in origin.seen[-1][2]["Accept"]


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "text/html"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
        ("text/plain;q=0.9, text/markdown;q=0.8", "text/plain"),
        ("application/json", "application/json"),
        ("text/markdown;q=0.3, application/json;q=0.2, text/html;q=0.1", "text/markdown"),
    ],
)
async def test_the_heaviest_format_is_given(confdir: Path, origin: Origin, accept: str, media_type: str) -> None:
    url = put(origin)
    async with Live(confdir) as live:
        reply = await live.get(url, Accept=accept, X_Pagemason_View="content")
    assert reply.headers.get_content_type() == media_type
    assert is_content(reply) or media_type == "application/json"


async def test_what_asks_for_no_page_gets_none_of_it(confdir: Path, origin: Origin) -> None:
    url = put(origin)
    async with Live(confdir, view="content") as live:
        replies = [
            await live.get(url, method="POST", body=b"a=1"),
            await live.get(url, Range="bytes=0-"),
            await live.get(url, X_Requested_With="XMLHttpRequest"),
            await live.get(url, Sec_Fetch_Dest="empty"),
            await live.get(url, Accept="image/avif,image/webp,*/*;q=0.8"),
            await live.get(url, Cache_Control="no-transform"),
        ]
    assert [reply.body for reply in replies] == [article(1)] * 6
    assert "X-Pagemason-View" not in str([reply.headers.items() for reply in replies])


async def test_what_is_no_page_stays_as_it_is(confdir: Path, origin: Origin) -> None:
    origin.pages |= {
        "/a.png": Page(b"\x89PNG", {"Content-Type": "image/png", "ETag": '"p"'}),
        "/a.html": Page(article(1), {**HTML, "Content-Disposition": "attachment; filename=a.html"}),
        "/gone": Page(article(1), HTML, 410),
        "/bad": Page(article(1), {**HTML, "Content-Encoding": "gzip"}),
    }
    async with Live(confdir, view="content") as live:
        for path, page in origin.pages.items():
            reply = await live.get(origin.url(path))
            assert (reply.status, reply.body, reply.headers["Content-Type"]) == (
                page.status,
                page.body,
                page.headers["Content-Type"],
            )
        assert (await live.get(origin.url("/a.png"), If_None_Match='"p"')).status == 304
        bad = await live.get(origin.url("/bad"))
        assert bad.headers["X-Pagemason-View"] == 'full; reason="the page cannot be decoded"'


async def test_no_transform_is_obeyed(confdir: Path, origin: Origin) -> None:
    url = put(origin, Cache_Control="max-age=600, no-transform")
    async with Live(confdir, view="content") as live:
        for _ in range(2):
            reply = await live.get(url, Accept=MARKDOWN)
            assert (reply.body, reply.headers["ETag"]) == (article(1), '"one"')
            assert reply.headers["X-Pagemason-View"] == 'full; reason="no-transform"'


async def test_doubt_gives_the_full_page_and_says_why(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"<title>t</title><img src=x.png>", HTML)
    asked = (
        b"<p>The letters of the society are for its members, who pay for their printing. Log in to read on, or write "
    )
    asked += b"to the secretary, who answers within a week and is glad of every new face among us.</p>" * 2
    form = b"<form><input name=u><input type=password></form>"
    origin.pages["/login"] = Page(b"<title>Letters</title><h1>Members</h1>" + asked + form, HTML)
    async with Live(confdir, view="content", min_confidence=0.0) as live:
        empty = await live.get(origin.url("/"))
        assert (empty.body, empty.headers["ETag"]) == (origin.pages["/"].body, '"one"')
        assert empty.headers["X-Pagemason-View"].startswith('full; reason="')
        login = await live.get(origin.url("/login"))
        assert login.headers["X-Pagemason-View"] == 'full; reason="the page is a form to log in"'
        count = live.service.metrics.registry.get_sample_value
        assert count("pagemason_view_fallbacks_total", {"reason": "empty"}) == 1
        assert count("pagemason_view_fallbacks_total", {"reason": "login"}) == 1
    url = put(origin)
    async with Live(confdir, view="content", min_confidence=1.0) as live:
        unsure = await live.get(url)
        assert unsure.body == article(1)
        assert "is below 1.00" in unsure.headers["X-Pagemason-View"]
        assert (await live.get(url, If_None_Match='"one"')).status == 304
        assert (await live.get(url, If_Modified_Since=HTML["Last-Modified"])).status == 304
        markdown = await live.get(url, Accept=MARKDOWN)
        assert b"Section 7" in markdown.body
        assert markdown.headers["X-Pagemason-View"].startswith("full; ")


async def test_a_view_has_a_tag_of_its_own(confdir: Path, origin: Origin) -> None:
    url = put(origin)
    async with Live(confdir, view="content") as live:
        tag = (await live.get(url)).headers["ETag"]
        same = await live.get(url, If_None_Match=f'"other", {tag}')
        assert (same.status, same.body, same.headers["ETag"]) == (304, b"", tag)
        assert same.headers["Vary"] == "Accept, Accept-Encoding"
        assert is_content(await live.get(url, If_None_Match='"one"'))
        assert is_content(await live.get(url, If_Modified_Since=HTML["Last-Modified"]))
        markdown = await live.get(url, If_None_Match=tag, Accept=MARKDOWN)
        assert (markdown.status, markdown.headers["ETag"] == tag) == (200, False)
        origin.pages["/story/1"] = Page(article(2), HTML | {"ETag": '"two"'})
        changed = await live.get(url, If_None_Match=tag, Cache_Control="no-cache")
        assert (changed.status, changed.headers["ETag"] == tag) == (200, False)
    assert not any("pagemason" in headers.get("If-None-Match", "") for *_, headers in origin.seen)


async def test_head_says_what_is_known_without_the_view(confdir: Path, origin: Origin) -> None:
    url = put(origin)
    async with Live(confdir, view="content") as live:
        for _ in range(2):
            reply = await live.get(url, method="HEAD", Accept=MARKDOWN)
            assert (reply.status, reply.body) == (200, b"")
            assert reply.headers["Content-Type"] == "text/markdown; charset=utf-8"
            assert "ETag" not in reply.headers
            await live.get(url)


@pytest.mark.parametrize("coding", ["gzip", "br"])
async def test_codings_on_both_sides(confdir: Path, origin: Origin, coding: str) -> None:
    from proxy.coding import encode

    origin.pages["/"] = Page(encode(article(1), coding), {**HTML, "Content-Encoding": coding})
    async with Live(confdir, view="content") as live:
        plain = await live.get(origin.url("/"), Accept_Encoding="identity")
        assert (is_content(plain), plain.headers["Content-Encoding"]) == (True, None)
        zipped = await live.get(origin.url("/"), Accept_Encoding="gzip, br")
        assert (is_content(zipped), zipped.headers["Content-Encoding"]) == (True, "gzip")
        assert gzip.decompress(zipped.body) == plain.body


async def test_strangers_steer_nothing(confdir: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.control.is_trusted", lambda flow: False)
    url = put(origin)
    async with Live(confdir) as live:
        assert (await live.get(url, X_Pagemason_View="content")).body == article(1)
    async with Live(confdir, view="content") as live:
        assert is_content(await live.get(url, X_Pagemason_View="full"))
    assert not any("Pagemason" in name for *_, headers in origin.seen for name in headers)


async def test_rules_take_effect_without_restart(confdir: Path, origin: Origin, tmp_path: Path) -> None:
    url, rules = put(origin), tmp_path / "config" / "rules.yaml"
    async with Live(confdir, rules=str(rules)) as live:

        async def given(*rule: Rule) -> Reply:
            file = live.service.views.rules_file
            before = file.rules, file.error
            if rule:
                await asyncio.to_thread(save_text, rules, written(Rules(tuple(rule))))
            async with asyncio.timeout(60):
                while (file.rules, file.error) == before:
                    await asyncio.sleep(0.05)
            return await live.get(url)

        assert (await live.get(url)).body == article(1)
        first = await given(Rule("127.0.0.*", view="content"))
        assert is_content(first)
        with_menu = await given(Rule("/^127/", view="content", keep=(".menu",), drop=("h1", ".side")))
        assert b"Section 7 of" in with_menu.body
        assert b"<h1>" not in with_menu.body.partition(b"<main>")[2]
        assert with_menu.headers["ETag"] != first.headers["ETag"]
        assert (await given(Rule("127.0.0.1", view="content"), Rule("*", view="full"))).body == article(1)
        other = await given(Rule("*", view="content", method="CETR-TM"))
        assert other.headers["X-Pagemason-View"].startswith("content")
        rules.write_text("- host: [", "utf-8")
        assert (await given()).body == other.body
        assert "is not YAML" in live.service.views.rules_file.error


async def test_other_pages_of_the_site_count(confdir: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.views.site_evidence.FIRST_PAUSE_SECONDS", 0.2)
    urls = [put(origin, f"/story/{n}", n) for n in range(1, 7)]
    async with Live(confdir) as live:
        for url in urls:
            await live.get(url)
        for _ in range(600):
            found = await live.get(urls[0], X_Pagemason_View="content", Accept="application/json")
            if b'"site_pages": 5' in found.body:
                break
            await asyncio.sleep(0.1)
        assert b'"site_pages": 5' in found.body
        assert is_content(await live.get(urls[0], X_Pagemason_View="content"))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_json_names_the_pages_with_the_same_content(confdir: Path, origin: Origin, kind: str) -> None:
    text = "".join(f"<p>{' '.join(paragraphs(number)[:2])}</p>" for number in range(1, 6))
    for path in ("/story/1", "/printed/1"):
        origin.pages[path] = Page(f"<title>Bridge</title><article><h1>Bridge</h1>{text}</article>".encode(), HTML)
    url, again = origin.url("/story/1"), origin.url("/printed/1")
    store = "memory:" if kind == "memory" else f"sqlite:///{confdir}/pages.db"
    async with Live(confdir, store=store) as live:
        await live.get(again)
        found: list[dict[str, object]] = []
        for _ in range(100):
            reply = await live.get(url, X_Pagemason_View="content", Accept="application/json")
            if found := json.loads(reply.body)["similar"]:
                break
            await asyncio.sleep(0.1)
        assert [row["url"] for row in found] == [again]
        assert len(live.service.views.cache) == 0


async def test_private_pages_are_viewed_and_not_kept(confdir: Path, origin: Origin) -> None:
    url = put(origin, Cache_Control="private")
    async with Live(confdir, view="content") as live:
        for _ in range(2):
            assert is_content(await live.get(url, Cookie="session=1"))
        assert len(live.service.views.cache) == 0
        await live.get(put(origin, "/story/2"))
        assert len(live.service.views.cache) == 1


async def test_a_view_that_is_not_made_in_time_is_the_page(confdir: Path, origin: Origin) -> None:
    url = put(origin)
    async with Live(confdir, view="content", view_seconds=0.01) as live:
        late = await live.get(url)
        assert (late.body, late.headers["X-Pagemason-View"]) == (
            article(1),
            'full; reason="not rendered in 0.01 seconds"',
        )
        for _ in range(600):
            if len(live.service.views.cache):
                break
            await asyncio.sleep(0.1)
        assert is_content(await live.get(url))


async def test_a_process_that_dies_costs_a_view_and_no_page(confdir: Path, origin: Origin) -> None:
    async with Live(confdir, view="content") as live:
        assert is_content(await live.get(put(origin)))
        for pid in live.service.views.pool.pids:
            os.kill(pid, signal.SIGKILL)
        second = await live.get(put(origin, "/story/2", 2))
        assert second.status == 200
        for _ in range(600):
            found = await live.get(origin.url("/story/2"))
            if found.headers["X-Pagemason-View"].startswith("content"):
                break
            await asyncio.sleep(0.1)
        assert found.headers["X-Pagemason-View"].startswith("content")


async def test_many_at_once_wait_for_one(confdir: Path, origin: Origin) -> None:
    url = put(origin)
    async with Live(confdir, view="content") as live:
        replies = await asyncio.gather(*(live.get(url) for _ in range(12)))
        assert all(is_content(reply) for reply in replies)
        assert len({reply.headers["ETag"] for reply in replies}) == 1


async def test_a_file_of_rules_that_is_not_there_is_named(
    confdir: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Live(confdir, rules=str(tmp_path / "ruels.yaml")):
        assert f"rules: {tmp_path}/ruels.yaml is not there" in caplog.text
