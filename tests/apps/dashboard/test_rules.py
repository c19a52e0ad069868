"""Rules that the dashboard writes: the file, the content view that follows from it, and who may."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from apps.dashboard.content import Judge
from apps.dashboard.evidence import Evidence
from apps.dashboard.reading import Here
from proxy.views.rules import Rule, Rules, load_rules, save_text, written
from proxy.views.rules_file import RulesFile
from settings import Settings, rules_file
from store.memory import MemoryStore
from tests.apps.dashboard.conftest import Served, serving
from tests.proxy.pages import article
from tests.store.conftest import page

URL = "http://www.paper.test/story/1"


@pytest.fixture
def paper(home: Path) -> Iterator[Served]:
    with serving(home, [page(f"http://www.paper.test/story/{n}", article(n)) for n in range(1, 6)]) as served:
        served.counted("paper.test")
        served.ask(f"/page?{urlencode({'url': URL})}")  # begins to read other pages of the site for the method
        served.counted("paper.test")
        yield served


def session(served: Served) -> dict[str, str]:
    return {"Cookie": served.log_in()}


def form_token(served: Served, cookie: dict[str, str]) -> str:
    match = re.search(r'name="form_token" value="([^"]+)"', served.ask("/rules", headers=cookie).text)
    assert match is not None
    return match[1]


def blocks(served: Served) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(served.ask(f"/page/blocks.json?{urlencode({'url': URL})}").body)
    return found


def content(served: Served) -> str:
    query = urlencode({"url": URL, "view": "content"})
    return served.ask(f"/drawn?{query}", port=served.frame_port).text


def test_content_is_shown_as_the_proxy_would_give_it(paper: Served) -> None:
    view = content(paper)
    assert "The mayor opens bridge number 1" in view
    assert "Section 7" not in view
    verdicts = {row["content"] for row in blocks(paper)}
    assert verdicts == {True, False, None}  # None: blocks without text
    shown = paper.ask(f"/page?{urlencode({'url': URL})}").text
    assert "compared with 4 other pages of the site" in shown
    marked = paper.ask(f"/drawn?{urlencode({'url': URL})}", port=paper.frame_port).text
    assert 'data-pm-content="yes"' in marked
    assert 'data-pm-content="no"' in marked


def test_the_editor_writes_the_file_and_the_view_follows(paper: Served) -> None:
    cookie = session(paper)
    form = {"host": "paper.test", "view": "content", "keep": ".menu\n\n", "drop": "figure\n.byline", "then": "/sites"}
    answer = paper.ask("/rules", form | {"form_token": form_token(paper, cookie)}, headers=cookie)
    assert (answer.status, answer.headers["Location"]) == (303, "/sites")
    rule = Rule("paper.test", "content", keep=(".menu",), drop=("figure", ".byline"))
    assert load_rules(rules_file(Settings())).rules == (rule,)
    assert "Section 7" in content(paper)
    assert "By Ada Tester" not in content(paper).partition("<main>")[2]
    for path in ("/rules", "/rules?host=paper.test", "/site?site=paper.test"):
        assert ".byline" in paper.ask(path).text, path
    assert json.loads(paper.ask("/rules.json").body)[0]["drop"] == "figure\n.byline"
    paper.ask(
        "/rules", {"host": "paper.test", "delete": "yes", "form_token": form_token(paper, cookie)}, headers=cookie
    )
    assert load_rules(rules_file(Settings())).rules == ()
    assert "Section 7" not in content(paper)


def test_a_block_is_kept_dropped_and_left_alone_again(paper: Served) -> None:
    cookie = session(paper)
    menu = next(row for row in blocks(paper) if "/section/0" in str(row["begins"]))
    assert menu["rule"] == ""
    form = {"host": "paper.test", "block": str(menu["block"]), "form_token": form_token(paper, cookie)}
    for decision, said, shown in (("keep", "kept", True), ("drop", "dropped", False), ("", "", False)):
        answer = paper.ask("/rules/block", form | {"decision": decision, "then": "/"}, headers=cookie)
        assert answer.status == 303
        (again,) = [row for row in blocks(paper) if row["block"] == menu["block"]]
        assert (again["rule"], again["content"]) == (said, shown)
        assert ("Section 7" in content(paper)) == shown
    assert load_rules(rules_file(Settings())).rules == ()


@pytest.mark.parametrize(
    "wrong", [{"host": ""}, {"host": "/(/"}, {"keep": "p:hover"}, {"method": "none"}, {"view": "x"}]
)
def test_a_wrong_rule_is_refused_with_a_sentence(paper: Served, wrong: dict[str, str]) -> None:
    cookie = session(paper)
    form = {"host": "paper.test", "view": "content", "form_token": form_token(paper, cookie)}
    answer = paper.ask("/rules", form | wrong, headers=cookie)
    assert answer.status == 400
    assert 'role="alert"' in answer.text
    assert not rules_file(Settings()).exists()


def test_a_file_that_cannot_be_understood_is_left_as_it_is(paper: Served) -> None:
    path = rules_file(Settings())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("- hosts: <script>\n")
    cookie = session(paper)
    for target, more in (("/rules", {"view": "content"}), ("/rules/block", {"block": "0" * 32, "decision": "keep"})):
        form = {"host": "paper.test", "form_token": form_token(paper, cookie)}
        assert "rule 1 has no host" in paper.ask(target, form | more, headers=cookie).text
    assert path.read_text() == "- hosts: <script>\n"
    assert "rule 1 has no host" in paper.ask("/rules").text


def test_nobody_writes_rules_without_the_token(paper: Served) -> None:
    cookie = session(paper)
    for path in ("/rules", "/rules/block", "/refetch"):
        form = {"host": "paper.test", "url": URL, "view": "content", "block": "0" * 32, "decision": "keep"}
        assert paper.ask(path, form).status == 403
        assert paper.ask(path, form, headers=cookie).status == 403
        forged = cookie | {"Origin": "http://evil.test"}
        assert paper.ask(path, form | {"form_token": form_token(paper, cookie)}, headers=forged).status == 403
    assert not rules_file(Settings()).exists()


def test_without_a_proxy_nothing_is_fetched(paper: Served) -> None:
    cookie = session(paper)
    form = {"form_token": form_token(paper, cookie)}
    assert "No proxy is attached" in paper.ask("/refetch", form | {"url": URL}, headers=cookie).text
    assert paper.ask("/refetch", form | {"url": "http://other.test/"}, headers=cookie).status == 404


def test_two_writers_leave_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    first, second = RulesFile(path), RulesFile(path)
    for number in range(20):
        (first, second)[number % 2].put(Rule(f"{number}.test", "content"))
    assert [rule.host for rule in first.current().rules] == [f"{number}.test" for number in range(20)]


def test_comments_of_the_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("# ours\n- host: a.test  # why\n  view: full\n")
    RulesFile(path).put(Rule("b.test", "content"))
    assert path.read_text() == "# ours\n- host: a.test  # why\n  view: full\n- host: b.test\n  view: content\n"


def test_a_page_that_cannot_be_judged_says_why(tmp_path: Path) -> None:
    store = MemoryStore()
    evidence = Evidence(Here(store), lambda site: None)
    try:
        path = tmp_path / "rules.yaml"
        save_text(path, written(Rules((Rule("a.test", method="InfoDiscoverer"),))))
        judge = Judge(RulesFile(path), evidence, 0.35)
        assert (
            "HTML" in judge.content_of(page("http://a.test/", headers=((b"Content-Type", b"image/png"),)), "a.test").why
        )
        assert judge.content_of(page("http://a.test/", b"<p>x" * 2_000_000), "a.test").why.startswith("Pages of more")
        alone = judge.content_of(page("http://a.test/", b"<p>one<p>two"), "a.test", 20)
        assert alone.why or alone.verdicts
        assert judge.content_of(page("http://b.test/", b"<p>"), "b.test", 20).reason == "the page has no text"
        judge.close()
    finally:
        evidence.close()


def test_nobody_waits_for_long_until_a_page_is_judged(tmp_path: Path) -> None:
    store = MemoryStore()
    evidence = Evidence(Here(store), lambda site: None)
    judge = Judge(RulesFile(tmp_path / "none"), evidence, 0.35)
    large = page("http://a.test/", b"".join(b"<p>paragraph %d of many" % n for n in range(40_000)))
    try:
        began = time.monotonic()
        pending = judge.content_of(large, "a.test", 0.0)
        assert time.monotonic() - began < 0.2
        assert (pending.is_pending, pending.verdicts, pending.document) == (True, (), "")
        assert len(judge.content_of(large, "a.test", 60).verdicts) == 40_000
        assert len(judge.content_of(large, "a.test", 0.0).verdicts) == 40_000
    finally:
        judge.close()
        evidence.close()
