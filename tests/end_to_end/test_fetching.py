"""A page through the proxy and back: fetched once, given again, after a restart, and with the origin gone."""

import gzip
import socket
import zlib
from contextlib import closing
from pathlib import Path

import brotli
import pytest
import zstandard

from blocks.model import Capture
from store.opening import open_store
from tests.end_to_end.program import Program, ask, run_to_end
from tests.origin import Origin, Page

BODY = b"<html><table><tr><td>menu</table>" + bytes(range(256)) * 40 + b"<p>news \xff\x00</html>"


def test_a_page_is_fetched_once_and_given_again_whatever_happens(tmp_path: Path, origin: Origin) -> None:
    origin.pages["/page"] = Page(BODY)
    url = origin.url("/page")
    with Program(tmp_path) as program:
        assert program.get(url).body == BODY
        second = program.get(url)
        assert (second.body, second.is_hit, second.headers["Age"] is not None) == (BODY, True, True)
        assert origin.asked["/page"] == 1
        assert program.stop() == 0
    with Program(tmp_path) as program:
        third = program.get(url)
        assert (third.body, third.is_hit) == (BODY, True)
    origin.close()
    with Program(tmp_path, "--mode=offline") as program:
        fourth = program.get(url)
        assert (fourth.body, fourth.is_hit) == (BODY, True)
        missing = program.get(origin.url("/other?<b>"))
        assert missing.status == 504
        assert b"/other?&lt;b&gt;" in missing.body
    assert origin.asked == {"/page": 1}


def test_the_same_over_https(tmp_path: Path, secure: tuple[Origin, str]) -> None:
    origin, trust = secure
    origin.pages["/page"] = Page(BODY)
    url = origin.url("/page")
    with Program(tmp_path, trust) as program:
        assert program.get(url).body == BODY
        assert program.get(url).is_hit
    origin.close()
    with Program(tmp_path, "--mode=offline") as program:
        kept = program.get(url)
        assert (kept.body, kept.is_hit) == (BODY, True)
        assert program.get(origin.url("/other")).status == 504
        assert program.get(url, method="POST", body=b"x").status == 504
    assert origin.asked == {"/page": 1}


@pytest.mark.parametrize(
    ("coding", "coded"),
    [
        ("gzip", gzip.compress(BODY)),
        ("deflate", zlib.compress(BODY)),
        ("br", brotli.compress(BODY)),
        ("zstd", zstandard.ZstdCompressor().compress(BODY)),
    ],
)
def test_what_the_client_accepts_decides(tmp_path: Path, origin: Origin, coding: str, coded: bytes) -> None:
    headers = {"Content-Encoding": coding, "Cache-Control": "max-age=3600", "ETag": '"1"'}
    origin.pages["/page"] = Page(coded, headers)
    url = origin.url("/page")
    with Program(tmp_path) as program:
        assert program.get(url, Accept_Encoding=coding).body == coded
    with Program(tmp_path) as program:
        plain = program.get(url)
        assert (plain.body, plain.is_hit, plain.headers["Content-Encoding"]) == (BODY, True, None)
        assert plain.headers["ETag"] == 'W/"1"'
        assert "Accept-Encoding" in plain.headers["Vary"]
        again = program.get(url, Accept_Encoding=coding)
        assert (again.is_hit, again.headers["Content-Encoding"]) == (True, coding)
        assert again.body != BODY
    assert origin.asked["/page"] == 1


def test_a_body_that_cannot_be_decoded_is_kept_as_it_came(tmp_path: Path, origin: Origin) -> None:
    for path, coding, body in (("/a", "gzip", b"not gzip"), ("/b", "x-own", b"\x00\x01"), ("/c", "br", b"")):
        origin.pages[path] = Page(body, {"Content-Encoding": coding, "Cache-Control": "max-age=3600"})
    for _ in range(2):
        with Program(tmp_path) as program:
            for path, page in origin.pages.items():
                reply = program.get(origin.url(path))
                assert (reply.body, reply.headers["Content-Encoding"]) == (page.body, page.headers["Content-Encoding"])
    assert set(origin.asked.values()) == {1}


def test_a_head_is_answered_from_what_is_kept_without_the_body(tmp_path: Path, origin: Origin) -> None:
    origin.pages["/page"] = Page(BODY)
    url = origin.url("/page")
    with Program(tmp_path) as program:
        program.get(url)
        connection = program.connect(url)
        head = ask(connection, url, method="HEAD")
        assert (head.is_hit, head.body, head.headers["Content-Length"]) == (True, b"", str(len(BODY)))
        assert ask(connection, url).body == BODY  # nothing of the body was left in the connection
        connection.close()


def test_a_large_body_passes_and_is_not_kept(tmp_path: Path, origin: Origin) -> None:
    body = bytes(300_000)
    origin.pages["/large"] = Page(body)
    with Program(tmp_path, "--set=max_body_bytes=100000") as program:
        assert program.get(origin.url("/large")).body == body
        reply = program.get(origin.url("/large"))
        assert (reply.body, reply.is_hit) == (body, False)
        program.wait_for('pagemason_not_kept_total{reason="too_large"}', 2)
    assert origin.asked["/large"] == 2


def test_set_cookie_is_kept_and_never_given_again(tmp_path: Path, origin: Origin) -> None:
    origin.pages["/login"] = Page(BODY, {"Cache-Control": "max-age=3600", "Set-Cookie": "session=secret"})
    url = origin.url("/login")
    with Program(tmp_path, "--mode=replay", "--set=serve_private=true") as program:
        assert program.get(url).headers["Set-Cookie"] == "session=secret"
        kept = program.get(url)
        assert (kept.is_hit, kept.body, kept.headers["Set-Cookie"]) == (True, BODY, None)
    with Program(tmp_path, "--mode=replay") as program:
        assert not program.get(url).is_hit
    with Program(tmp_path, "--mode=offline") as program:
        assert program.get(url).status == 504
    assert origin.asked["/login"] == 2


def test_record_fetches_every_time_and_keeps_every_capture(tmp_path: Path, origin: Origin) -> None:
    origin.pages["/page"] = Page(b"one", {"ETag": '"1"'})
    url = origin.url("/page")
    with Program(tmp_path, "--mode=record") as program:
        assert program.get(url).body == b"one"
        assert program.get(url, If_None_Match='"1"').body == b"one"
        origin.pages["/page"] = Page(b"two", {"Cache-Control": "no-store"})
        assert program.get(url).body == b"two"
        program.settle()
        assert program.metric("pagemason_captures_committed_total") == 3
    with Program(tmp_path, "--mode=replay") as program:
        assert program.get(url).body == b"one"  # the last one is private
    assert origin.asked["/page"] == 3


def test_it_says_where_everything_is(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        assert f"store      {program.store}" in program.greeting
        assert (tmp_path / "conf" / "mitmproxy-ca-cert.pem").is_file()
        assert "mitmproxy-ca-cert.pem" in program.greeting
        assert program.dashboard("/-/healthy").status == program.dashboard("/-/ready").status == 200
        page = program.get("http://mitm.it/")
        assert (page.status, b"mitmproxy" in page.body) == (200, True)


@pytest.mark.parametrize("flag", ["--listen-port", "--dashboard-port"])
def test_a_port_in_use_is_a_sentence_that_names_the_flag(tmp_path: Path, origin: Origin, flag: str) -> None:
    store = f"--store=sqlite:///{tmp_path}/s.db"
    ended = run_to_end(store, "--listen-port=0", "--dashboard-port=0", f"{flag}={origin.port}")
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert flag in ended.stderr
    assert not (tmp_path / "s.db").exists()


def test_one_port_for_both_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ended = run_to_end(f"--store=sqlite:///{tmp_path}/s.db", f"--listen-port={port}", f"--dashboard-port={port}")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"pagemason: cannot listen on 127.0.0.1 port {port}: address already in use; ")
    assert ended.stderr.endswith("choose another with --listen-port\n")


@pytest.mark.parametrize("flag", ["--listen-host", "--dashboard-host"])
def test_a_host_that_is_none_is_a_sentence_that_names_the_flag(tmp_path: Path, flag: str) -> None:
    flags = ("--listen-port=1", "--dashboard-port=0", "--set=allow_open=true", f"--store=sqlite:///{tmp_path}/s.db")
    ended = run_to_end(*flags, f"{flag}=999.1.1.1")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("pagemason: cannot listen on 999.1.1.1 port ")
    assert ended.stderr.endswith(f"; choose another with {flag}\n")


@pytest.mark.parametrize("content", [None, b"", b"no key"], ids=["a file", "empty key", "no key"])
def test_an_authority_that_is_none_is_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    confdir = tmp_path / "conf"
    if content is None:
        confdir.write_bytes(b"")
    else:
        confdir.mkdir()
        (confdir / "mitmproxy-ca.pem").write_bytes(content)
    flags = ("--listen-port=0", "--dashboard-port=0", f"--confdir={confdir}", f"--store=sqlite:///{tmp_path}/s.db")
    ended = run_to_end(*flags)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"pagemason: {confdir}")
    assert ended.stderr.count("\n") == 1


def test_a_store_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "s.db").write_bytes(b"something else, quite long enough to be looked at as a database" * 100)
    ended = run_to_end(f"--store=sqlite:///{tmp_path}/s.db", "--listen-port=0", "--dashboard-port=0")
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1


def test_a_mitmproxy_option_that_is_not_valid_is_a_sentence(tmp_path: Path) -> None:
    store = f"--store=sqlite:///{tmp_path}/s.db"
    ended = run_to_end(store, "--listen-port=0", "--dashboard-port=0", "--set=proxyauth=nothing")
    assert ended.returncode == 1
    assert ended.stderr == "pagemason: mitmproxy: Invalid proxyauth specification.\n"


def test_a_page_is_found_however_an_archive_spells_its_port(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    headers = ((b"Content-Type", b"text/html"),)
    with closing(open_store(url, create=True)) as store:
        store.keep([Capture("http://a.test:80/x", 1_700_000_000_000_000, 200, headers, b"<p>archived", reason=b"OK")])
    with Program(tmp_path, "--mode=offline") as program:
        for _ in range(2):
            reply = program.get("http://a.test/x")
            assert (reply.status, reply.body, reply.is_hit) == (200, b"<p>archived", True)
        assert program.get("http://a.test:81/x").status == 504
