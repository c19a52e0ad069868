"""What is exported is a WARC that other programs read, and holds what was imported."""

import gzip
import io
import resource
import signal
from dataclasses import replace
from pathlib import Path

import brotli
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.warc.entries import Kind, Note, Revisit
from apps.warc.writing import write_warc
from blocks.model import Capture
from tests.apps.warc.samples import entries_of, packed, record

PAGE = Capture(
    url="http://a.test/",
    time=1_714_979_289_000_000,
    status=200,
    headers=((b"Content-Type", b"text/html"), (b"Content-Length", b"7"), (b"X", b"\xe9"), (b"X", b"2")),
    body=b"<p>page",
    reason=b"OK",
    record_id="<urn:uuid:1>",
)


def written(path: Path, *captures: Capture, revisit: bool = False) -> bytes:
    assert write_warc(path, captures, software="pagemason", now=0, revisit=revisit) == len(captures)
    return path.read_bytes()


def test_a_capture_comes_back_as_it_was(tmp_path: Path) -> None:
    found = entries_of(tmp_path / "b.warc.gz", written(tmp_path / "a.warc.gz", PAGE))
    assert found == [PAGE]


def test_other_programs_read_it_and_its_digests_are_right(tmp_path: Path) -> None:
    coded = replace(PAGE, headers=((b"Content-Encoding", b"gzip"), (b"Content-Length", b"3")), coding="gzip")
    content = written(tmp_path / "a.warc.gz", PAGE, coded)
    found = []
    for response in ArchiveIterator(io.BytesIO(content), record_types=WarcRecordType.response, parse_http=False):
        response.freeze()
        assert response.verify_block_digest()
        response.parse_http(auto_decode="none")
        assert response.verify_payload_digest()
        found.append((response.http_headers.asdict(), response.reader.read()))
    assert [body for _, body in found] == [b"<p>page", b"<p>page"]
    assert found[1][0] == {"X-Archive-Orig-Content-Encoding": "gzip", "Content-Length": "7"}


def test_every_record_is_a_gzip_member(tmp_path: Path) -> None:
    content = written(tmp_path / "a.warc.gz", PAGE, PAGE)
    assert content.count(b"\x1f\x8b\x08") >= 3
    assert gzip.decompress(content).count(b"WARC/1.1\r\n") == 3


def test_import_and_export_keep_bodies_and_headers(tmp_path: Path) -> None:
    plain = b"<p>" + bytes(range(256)) * 9
    heads = [
        b"HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nContent-Encoding: br\r\nSet-Cookie: b\r\nContent-Length: 9\r\n\r\n",
        b"HTTP/1.0 404 Not Found\r\nX-A:1\r\n\r\n",
    ]
    source = packed(
        record(heads[0] + brotli.compress(plain), record_id="<1>", date="2024-05-06T07:08:09.120Z"),
        record(heads[1] + plain, record_id="<2>", date="someday"),
    )
    first = entries_of(tmp_path / "a.warc.gz", source)
    captures = [entry for entry in first if isinstance(entry, Capture)]
    again = entries_of(tmp_path / "b.warc.gz", written(tmp_path / "c.warc.gz", *captures))
    assert [(e.body, e.date, e.record_id, e.url, e.time) for e in again if isinstance(e, Capture)] == [
        (c.body, c.date, c.record_id, c.url, c.time) for c in captures
    ]
    (br, other) = (e for e in again if isinstance(e, Capture))
    assert br.headers == (
        (b"Set-Cookie", b"a"),
        (b"X-Archive-Orig-Content-Encoding", b"br"),
        (b"Set-Cookie", b"b"),
        (b"Content-Length", b"%d" % len(plain)),
    )
    assert (other.headers, other.reason) == (captures[1].headers, b"Not Found")
    assert [e.kind for e in again if isinstance(e, Note)] == []


def test_captures_without_an_id_get_different_ones(tmp_path: Path) -> None:
    content = written(tmp_path / "a.warc", replace(PAGE, record_id=""), replace(PAGE, record_id=""))
    found = [entry.record_id for entry in entries_of(tmp_path / "b.warc", content) if isinstance(entry, Capture)]
    assert len(set(found)) == 2


def test_revisits_are_written_when_asked_for(tmp_path: Path) -> None:
    later = replace(PAGE, time=PAGE.time + 5_000_000, record_id="<2>", headers=((b"X", b"later"),))
    other = replace(PAGE, url="http://b.test/", record_id="<3>")
    content = written(tmp_path / "a.warc.gz", PAGE, later, other, revisit=True)
    first, revisit, third = entries_of(tmp_path / "b.warc.gz", content)
    assert (first, third) == (PAGE, other)
    assert isinstance(revisit, Revisit)
    assert (revisit.refers_id, revisit.refers_url, revisit.refers_time) == (PAGE.record_id, PAGE.url, PAGE.time)
    assert revisit.capture == replace(later, body=b"")


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"before")

    def captures() -> list[Capture]:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        write_warc(path, (c for c in captures()), software="pagemason", now=0)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


TOKEN = st.text("abcXYZ-", min_size=1).map(str.encode)
VALUE = st.binary(max_size=20).map(lambda v: bytes(b for b in v if b not in b"\r\n").strip(b" \t"))
PLAIN = TOKEN.filter(lambda n: n.lower() not in (b"content-length", b"content-encoding", b"transfer-encoding"))


@settings(max_examples=60)
@given(st.binary(), st.lists(st.tuples(PLAIN, VALUE), max_size=5), st.integers(100, 999), st.integers(0, 10**16), VALUE)
def test_any_capture_survives_export_and_import(
    tmp_path_factory: pytest.TempPathFactory,
    body: bytes,
    headers: list[tuple[bytes, bytes]],
    status: int,
    time: int,
    reason: bytes,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    capture = replace(
        PAGE, body=body, headers=tuple(headers), status=status, time=time, reason=b" ".join(reason.split())
    )
    assert entries_of(folder / "b.warc.gz", written(folder / "a.warc.gz", capture)) == [capture]


def test_notes_name_their_kind() -> None:
    assert str(Note(Kind.SKIPPED, "a.warc: byte 3", "is gone")) == "a.warc: byte 3: is gone"


def test_a_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    path = tmp_path / "absent" / "x.warc.gz"
    with pytest.raises(FileNotFoundError) as caught:
        write_warc(path, [], software="test/1", now=0)
    assert caught.value.filename == str(path)


def test_a_file_that_there_is_no_room_for_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"before")
    handler, limits = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            write_warc(path, [PAGE], software="test/1", now=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.filename == str(path)
    assert [(file, file.read_bytes()) for file in tmp_path.iterdir()] == [(path, b"before")]
