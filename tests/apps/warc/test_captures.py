"""Records as captures: what the header said in order, the body decoded, the time known or worked out."""

import gzip
import zlib
from dataclasses import replace
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from apps.warc.captures import text_of
from apps.warc.entries import Kind, Note, Revisit
from apps.warc.messages import Limits, head_of, parse_message
from blocks.model import Capture
from tests.apps.warc.samples import HEAD, entries_of, packed, record

BODY = b"<html><p>\xe9t\xe9</p></html>" * 50


def only(path: Path, content: bytes) -> Capture:
    """Return the capture that a file holds."""
    (entry,) = entries_of(path, content)
    assert isinstance(entry, Capture)
    return entry


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.warc.gz"


def chunked(body: bytes) -> bytes:
    half = len(body) // 2
    return b"".join(b"%x;ext=1\r\n%s\r\n" % (len(p), p) for p in (body[:half], body[half:])) + b"0\r\nX-T: 1\r\n\r\n"


@pytest.mark.parametrize(
    ("fields", "coded", "coding"),
    [
        (b"", BODY, ""),
        (b"Content-Encoding: gzip\r\n", gzip.compress(BODY, mtime=0), "gzip"),
        (b"content-encoding: x-gzip\r\n", gzip.compress(BODY, mtime=0), "gzip"),
        (b"Content-Encoding: deflate\r\n", zlib.compress(BODY), "deflate"),
        (b"Content-Encoding: br\r\n", brotli.compress(BODY), "br"),
        (b"Content-Encoding: zstd\r\n", zstandard.compress(BODY), "zstd"),
        (
            b"Content-Encoding: br\r\nContent-Encoding: gzip\r\n",
            gzip.compress(brotli.compress(BODY), mtime=0),
            "br, gzip",
        ),
        (b"Transfer-Encoding: chunked\r\n", chunked(BODY), ""),
        (b"Content-Encoding: gzip\r\nTransfer-Encoding: Chunked\r\n", chunked(gzip.compress(BODY, mtime=0)), "gzip"),
        (b"Transfer-Encoding: chunked\r\n", BODY, ""),
    ],
)
def test_a_body_is_decoded(file: Path, fields: bytes, coded: bytes, coding: str) -> None:
    capture = only(file, packed(record(b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n" + coded)))
    assert (capture.body, capture.coding) == (BODY, coding)


@pytest.mark.parametrize("fields", [b"Content-Encoding: gzip", b"Content-Encoding: snappy"])
def test_a_body_that_cannot_be_decoded_is_kept_as_it_came(file: Path, fields: bytes) -> None:
    capture = only(file, packed(record(b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n\r\n" + BODY)))
    assert (capture.body, capture.coding) == (BODY, "")
    assert head_of(capture) == b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n\r\n"


def test_a_body_that_swells_too_far_is_kept_as_it_came(file: Path) -> None:
    bomb = gzip.compress(bytes(3 << 20))
    content = packed(record(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + bomb))
    (capture,) = entries_of(file, content, Limits(max_bytes=1 << 20, max_ratio=2000))
    assert isinstance(capture, Capture)
    assert (capture.body, capture.coding) == (bomb, "")


def test_headers_are_kept_in_order_with_repeats_and_their_bytes(file: Path) -> None:
    head = b"HTTP/1.0 404 Nicht gefunden\r\nSet-Cookie: a=1\r\nX-\xe9: \xe9\r\nset-cookie:b=2\r\nX-Empty:\r\n"
    capture = only(file, record(head + b"\r\n"))
    assert capture.headers == (
        (b"Set-Cookie", b"a=1"),
        (b"X-\xe9", b"\xe9"),
        (b"set-cookie", b"b=2"),
        (b"X-Empty", b""),
    )
    assert (capture.http_version, capture.status, capture.reason) == (b"HTTP/1.0", 404, b"Nicht gefunden")


@pytest.mark.parametrize(
    ("block", "status", "n_headers", "body"),
    [
        (b"HTTP/1.1 200 OK\nA: 1\n\nbody\r\n\r\n", 200, 1, b"body\r\n\r\n"),
        (b"HTTP/2 301\r\nLocation: /x\r\n\r\n", 301, 1, b""),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, 0, b""),
        (b"HTTP/1.1 200\r\n\r\n\r\n\r\n", 200, 0, b"\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nA: 1", 200, 1, b""),
        (b"HTTP/1.1 200 OK", 200, 0, b""),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\nx", 200, 1, b"x"),
    ],
)
def test_a_response_is_split_where_its_head_ends(block: bytes, status: int, n_headers: int, body: bytes) -> None:
    message = parse_message(block)
    assert message is not None
    assert (message.status, len(message.headers), message.body) == (status, n_headers, body)


@pytest.mark.parametrize("block", [b"", b"<html>", b"HTTP/1.1\r\n\r\n", b"HTTP/1.1 two OK\r\n\r\n", b"\xff" * 99])
def test_what_is_no_http_is_named(file: Path, block: bytes) -> None:
    (note,) = entries_of(file, record(block))
    assert isinstance(note, Note)
    assert (note.kind, note.what) == (Kind.SKIPPED, "the response for http://a.test/ is not HTTP")


@given(st.binary(), st.binary(), st.binary())
def test_any_bytes_are_a_response_or_none(a: bytes, b: bytes, c: bytes) -> None:
    parse_message(a)
    message = parse_message(b"HTTP/1.1 200 " + a + b"\r\n" + b + b"\r\n\r\n" + c)
    assert message is None or message.body.endswith(c[-1:])


def test_a_head_is_true_of_the_decoded_body() -> None:
    capture = Capture(
        url="http://a.test/",
        time=0,
        status=200,
        headers=(
            (b"content-encoding", b"gzip"),
            (b"Content-Length", b"10"),
            (b"X", b"1"),
            (b"Transfer-Encoding", b"chunked"),
            (b"X", b"2"),
        ),
        body=b"12345",
        coding="gzip",
        reason=b"OK",
    )
    assert head_of(capture) == (
        b"HTTP/1.1 200 OK\r\nX-Archive-Orig-content-encoding: gzip\r\nContent-Length: 5\r\nX: 1\r\n"
        b"X-Archive-Orig-Transfer-Encoding: chunked\r\nX: 2\r\n\r\n"
    )


def test_url_id_and_date_are_kept_as_written(file: Path) -> None:
    sound = record(url="http://a.test/é?q=<1>", record_id="<urn:X:1>", date="2024-05-06T07:08:09.10Z")
    capture = only(file, sound)
    assert (capture.url, capture.record_id) == ("http://a.test/é?q=<1>", "<urn:X:1>")
    assert (capture.time, capture.date) == (1_714_979_289_100_000, "2024-05-06T07:08:09.10Z")
    assert only(file, record()).date == ""
    assert only(file, record(url="<http://a.test/b>")).url == "http://a.test/b"
    assert text_of(b"caf\xe9 \xc3\xa9\0") == "caf%E9 é%00"


def test_a_page_without_a_date_has_the_nearest_ones(file: Path) -> None:
    dates = [
        "yesterday",
        None,
        "2024-05-06T07:08:02Z",
        "never",
        "2024-05-06T07:08:04Z",
        "",
        "x",
        "2024-05-06T07:08:07Z",
    ]
    entries = entries_of(file, packed(*(record(date=d, record_id=f"<{i}>") for i, d in enumerate(dates))))
    captures = [entry for entry in entries if isinstance(entry, Capture)]
    notes = [entry for entry in entries if isinstance(entry, Note)]
    assert [c.time // 1_000_000 % 60 for c in captures] == [2, 2, 2, 2, 4, 4, 7, 7]
    assert [c.date for c in captures] == ["yesterday", "", "", "never", "", "", "x", ""]
    assert [note.kind for note in notes] == [Kind.DATED] * 5
    assert notes[0].what == ("WARC-Date 'yesterday' is no date: dated 2024-05-06T07:08:02Z, the nearest record's date")


def test_in_a_file_without_any_date_pages_are_as_old_as_the_file(file: Path) -> None:
    capture, note = entries_of(file, record(date="soon"))
    assert isinstance(capture, Capture)
    assert capture.time == int(file.stat().st_mtime) * 1_000_000
    assert "when the file was changed" in str(note)


def test_pages_without_an_id_get_one_that_is_the_same_next_time(file: Path) -> None:
    content = packed(record(record_id=None), record(record_id=None), record(record_id=None, url="http://b.test/"))
    first = [entry.record_id for entry in entries_of(file, content) if isinstance(entry, Capture)]
    again = [entry.record_id for entry in entries_of(file, content) if isinstance(entry, Capture)]
    assert first == again
    assert len(set(first)) == 3


def test_other_records_are_no_pages(file: Path) -> None:
    content = packed(
        record(b"software: x\r\n", kind="warcinfo"),
        record(b"GET / HTTP/1.1\r\n\r\n", kind="request"),
        record(b"log", kind="resource", url="metadata://wget/log", fields="Content-Type: text/plain"),
        record(b"<p>kept", kind="resource", fields="Content-Type: text/html", record_id="<r>"),
    )
    capture = only(file, content)
    assert (capture.body, capture.headers, capture.status) == (b"<p>kept", ((b"Content-Type", b"text/html"),), 200)


def test_a_revisit_says_whose_body_it_has(file: Path) -> None:
    content = record(
        HEAD,
        kind="revisit",
        record_id="<2>",
        fields="WARC-Refers-To: <1>\nWARC-Refers-To-Target-URI: http://a.test/o\nWARC-Refers-To-Date: 2024",
    )
    (revisit,) = entries_of(file, content)
    assert isinstance(revisit, Revisit)
    assert (revisit.refers_id, revisit.refers_url, revisit.refers_time) == ("<1>", "http://a.test/o", 1704067200000000)
    assert revisit.capture == replace(only(file, record(HEAD, record_id="<2>")), body=b"")
