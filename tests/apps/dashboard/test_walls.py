"""Who is let in, and what every answer carries."""

import re
import stat
from pathlib import Path
from urllib.parse import quote

import pytest

from apps.dashboard.keys import SESSION_SECONDS, TOKEN_FILE, Keys, token_of
from settings import data_directory
from tests.apps.dashboard.conftest import Served

PAGE = "http://a.test/page/1"
PAGES = ("/", "/sites", "/site?site=a.test", f"/page?url={PAGE}", f"/diff?url={PAGE}", "/login", "/nope", "/live.json")


@pytest.mark.parametrize(
    "host", ["evil.test", "evil.test:80", "127.0.0.1.evil.test", "localhost@evil.test", "", "127.1"]
)
def test_a_foreign_host_is_refused(served: Served, host: str) -> None:
    for port in (served.port, served.frame_port):
        assert served.ask("/", headers={"Host": host}, port=port).status == 403


@pytest.mark.parametrize("host", ["localhost:1", "LOCALHOST", "127.0.0.1", "[::1]:8081"])
def test_our_own_names_are_answered(served: Served, host: str) -> None:
    assert served.ask("/live.json", headers={"Host": host}).status == 200


def test_what_came_through_the_proxy_is_refused(served: Served) -> None:
    assert served.ask("/", headers={"Via": "1.1 pagemason"}).status == 403


def test_a_write_without_token_is_refused(served: Served) -> None:
    for path in ("/purge", "/logout", "/"):
        assert served.ask(path, {"url": PAGE}).status == 403
    assert served.ask("/purge", {"url": PAGE}, headers={"Authorization": "Bearer wrong"}).status == 403
    assert served.ask("/purge", {"url": PAGE}, headers={"Cookie": "pagemason=9999999999.x.y"}).status == 403
    assert len(served.store.find(PAGE)) == 2


def test_another_sites_form_is_refused(served: Served) -> None:
    cookie = {"Cookie": served.log_in()}
    form = {"url": PAGE, "form_token": form_token(served, cookie), "word": word(served, cookie)}
    for forged in ({"Origin": "http://evil.test"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert served.ask("/purge", form, headers=cookie | forged).status == 403
    assert served.ask("/purge", form | {"form_token": "no"}, headers=cookie).status == 403
    assert served.ask("/purge", {"url": PAGE, "word": form["word"]}, headers=cookie).status == 403
    other = {"Cookie": served.log_in()}
    assert served.ask("/purge", form, headers=other).status == 403
    assert len(served.store.find(PAGE)) == 2


def test_purging_with_a_session_deletes_the_page(served: Served) -> None:
    cookie = {"Cookie": served.log_in()}
    form = {"url": PAGE, "form_token": form_token(served, cookie), "word": word(served, cookie)}
    answer = served.ask("/purge", form, headers=cookie | {"Origin": served.url, "Sec-Fetch-Site": "same-origin"})
    assert (answer.status, "2 captures" in answer.text) == (200, True)
    assert served.store.find(PAGE) == []
    assert served.ask(f"/page?url={PAGE}").status == 404


def test_a_confirmation_holds_for_what_it_was_asked_for_only(served: Served) -> None:
    cookie = {"Cookie": served.log_in()}
    form = {"url": "http://a.test/*", "form_token": form_token(served, cookie), "word": word(served, cookie)}
    assert served.ask("/purge", form, headers=cookie).status == 404
    assert served.store.stats().captures == 15


def test_the_login_takes_the_token_only_and_leads_nowhere_else(served: Served) -> None:
    assert served.ask("/login", {"token": "guess"}).status == 403
    for then, leads in (("//evil.test/", "/"), ("http://evil.test", "/"), ("/\\evil.test", "/"), ("/sites", "/sites")):
        answer = served.ask("/login", {"token": served.token, "then": then})
        assert (answer.status, answer.headers["Location"]) == (303, leads)
    cookie = answer.headers["Set-Cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(served: Served, method: str) -> None:
    assert served.ask("/", method=method).status == 405
    assert served.ask("/drawn", method=method, port=served.frame_port).status == 405


def test_a_form_that_is_too_long_is_refused(served: Served) -> None:
    assert served.ask("/login", {"token": "x" * 100_000}).status == 413


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_has_a_strict_policy(served: Served, path: str) -> None:
    headers = served.ask(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert f"frame-src http://127.0.0.1:{served.frame_port};" in policy
    assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "same-origin")
    assert "no-store" in headers["Cache-Control"]


def test_the_frames_port_shows_stored_pages_and_nothing_else(served: Served) -> None:
    answer = served.ask(f"/drawn?url={PAGE}", port=served.frame_port)
    assert answer.status == 200
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert served.ask("/drawn").status == 404
    for path in ("/", "/sites", "/metrics", "/login", "/static/style.css"):
        assert served.ask(path, port=served.frame_port).status == 404


def test_nothing_but_static_files_is_given_from_the_disk(served: Served) -> None:
    assert served.ask("/static/style.css").status == 200
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/"):
        assert served.ask(path).status in (404, 405)


def test_the_token_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    first = token_of(tmp_path / "data")
    assert token_of(tmp_path / "data") == first
    assert stat.S_IMODE((tmp_path / "data" / TOKEN_FILE).stat().st_mode) == 0o600
    assert data_directory().exists() is False


def test_a_session_ends(tmp_path: Path) -> None:
    keys, others = Keys("a" * 40), Keys("b" * 40)
    session = keys.new_session(1000.0)
    assert keys.is_session(session, 1000.0 + SESSION_SECONDS - 1)
    assert not keys.is_session(session, 1000.0 + SESSION_SECONDS)
    assert not others.is_session(session, 1001.0)
    assert not any(keys.is_session(made, 1001.0) for made in ("", ".", "..", f"9{session}", "é.x.y"))


def form_token(served: Served, cookie: dict[str, str]) -> str:
    return hidden(served, cookie, "form_token")


def word(served: Served, cookie: dict[str, str]) -> str:
    return hidden(served, cookie, "word")


def hidden(served: Served, cookie: dict[str, str], name: str) -> str:
    """Return a hidden field of the form that asks whether to purge."""
    text = served.ask(f"/purge?url={quote(PAGE)}", headers=cookie).text
    form = text[text.index('<form method="post" action="/purge"') :]
    match = re.search(rf'name="{name}" value="([^"]*)"', form)
    assert match is not None
    return match[1]


def test_the_link_to_log_in_does_not_nest(served: Served) -> None:
    first = served.ask("/login?then=/sites").text
    assert "/login?then=%2Fsites" in first
    assert "/login?then=%2Flogin" not in first
