"""Files into a store: each capture once, whatever else is in the file named."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.warc.entries import Entry, Kind, Note
from apps.warc.importing import BATCH_BYTES, Tally, import_entries
from apps.warc.sources import Position, entries, size_of
from apps.warc.writing import write_warc
from blocks.model import Capture
from store.base import Store, StoreUnavailable
from store.memory import MemoryStore
from tests.apps.warc.samples import HEAD, LIMITS, packed, record


def imported(store: Store, *paths: Path) -> tuple[Tally, list[Note]]:
    notes: list[Note] = []
    tally = import_entries(
        entries(paths, LIMITS, Position()), lambda: store, committed=lambda t: None, noted=notes.append
    )
    return tally, notes


def bodies(store: Store) -> list[tuple[str, bytes]]:
    return [(r.capture.url, store.read(r).body) for r in store.captures()]


@pytest.fixture
def store() -> Store:
    return MemoryStore()


def test_the_same_file_again_adds_nothing(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    records = [record(HEAD + b"%d" % i, record_id=f"<{i}>", url=f"http://a.test/{i % 3}") for i in range(9)]
    file.write_bytes(packed(*records, record(record_id=None), record(record_id=None), records[0]))
    assert imported(store, file)[0] == Tally(captures=11, skipped=1)
    assert imported(store, file)[0] == Tally(captures=0, skipped=12)
    assert len(bodies(store)) == 11


def test_an_export_of_captures_without_ids_adds_nothing(store: Store, tmp_path: Path) -> None:
    captures = [Capture("http://a.test/", 1_000_001 * i, 200, (), b"x") for i in range(3)]
    store.keep(captures)
    write_warc(tmp_path / "a.warc", (store.read(r) for r in store.captures()), software="pagemason", now=0)
    assert imported(store, tmp_path / "a.warc")[0] == Tally(captures=0, skipped=3)


def test_equal_captures_of_one_moment_are_two(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(record(record_id="<1>") + record(record_id="<2>"))
    assert imported(store, tmp_path / "a.warc")[0].captures == 2


def test_what_was_whole_is_kept_and_the_rest_named(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "cut.warc.gz"
    file.write_bytes(packed(record(), record(record_id="<2>"))[:-20])
    tally, notes = imported(store, file)
    assert tally == Tally(captures=1, damaged=1)
    assert str(notes[0]) == f"{file}: byte {len(packed(record()))}: the gzip member is cut off"


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08junk", b"\0\1\2", b"WARC/1.1\r\n", b"{}", b"{", b"plain text"])
def test_a_file_without_a_page_leaves_the_store_alone(tmp_path: Path, content: bytes) -> None:
    def opened() -> Store:
        raise AssertionError("the store was opened")

    (tmp_path / "a").write_bytes(content)
    notes: list[Note] = []
    found = entries([tmp_path / "a"], LIMITS, Position())
    assert import_entries(found, opened, committed=lambda t: None, noted=notes.append).damaged == 1
    assert str(notes[0]).startswith(f"{tmp_path / 'a'}: ")


def test_missing_and_unreadable_files_are_named_and_the_others_kept(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(record())
    (tmp_path / "empty").mkdir()
    tally, notes = imported(store, tmp_path / "no", tmp_path / "empty", tmp_path / "a.warc", Path("/proc/self/mem"))
    assert tally == Tally(captures=1, damaged=3)
    assert str(notes[0]) == f"{tmp_path / 'no'}: cannot be read: No such file or directory"
    assert str(notes[1]) == f"{tmp_path / 'empty'}: holds no page"
    assert str(notes[2]).startswith("/proc/self/mem: cannot be read: ")


BODY = b"<p>the same"
SHA1 = "sha1:" + base64.b32encode(hashlib.sha1(BODY).digest()).decode()
REVISIT = b"HTTP/1.1 200 OK\r\nX: revisit\r\n\r\n"


@pytest.mark.parametrize(
    "fields",
    [
        "WARC-Refers-To: <urn:uuid:1>",
        "WARC-Refers-To-Target-URI: http://a.test/\nWARC-Refers-To-Date: 2024-05-06T07:08:09Z",
        f"WARC-Payload-Digest: {SHA1}",
        f"WARC-Payload-Digest: {SHA1}\nWARC-Refers-To: <urn:uuid:1>",
    ],
)
@pytest.mark.parametrize("apart", [False, True], ids=["one batch", "store"])
def test_a_revisit_has_the_body_it_refers_to(store: Store, tmp_path: Path, fields: str, apart: bool) -> None:
    original = record(b"HTTP/1.1 200 OK\r\nX: first\r\n\r\n" + BODY)
    revisit = record(REVISIT, kind="revisit", record_id="<2>", date="2024-05-07", fields=fields)
    (tmp_path / "1.warc").write_bytes(original if apart else original + revisit)
    (tmp_path / "2.warc").write_bytes(revisit)
    imported(store, tmp_path / "1.warc")
    imported(store, tmp_path / "2.warc")
    newest, first = (store.read(r) for r in store.find("http://a.test/"))
    assert (newest.body, newest.headers, newest.date) == (BODY, ((b"X", b"revisit"),), "2024-05-07")
    assert first.headers == ((b"X", b"first"),)


@pytest.mark.parametrize(
    "fields",
    [
        "WARC-Refers-To: <9>",
        "WARC-Refers-To-Target-URI: http://other.test/\nWARC-Refers-To-Date: 2024-05-06T07:08:09Z",
        "WARC-Refers-To: <urn:uuid:1>\nWARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "",
    ],
)
def test_a_revisit_of_an_unknown_body_is_skipped_and_named(store: Store, tmp_path: Path, fields: str) -> None:
    revisit = record(REVISIT, kind="revisit", record_id="<2>", date="2024-05-07", fields=fields)
    (tmp_path / "1.warc").write_bytes(record(HEAD + BODY) + revisit)
    tally, notes = imported(store, tmp_path / "1.warc")
    assert tally == Tally(captures=1, skipped=1)
    assert "the body of the revisit of http://a.test/ is not here" in str(notes[0])


def test_a_304_revisit_is_the_page_it_confirms(store: Store, tmp_path: Path) -> None:
    revisit = record(
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
        kind="revisit",
        record_id="<2>",
        date="2024-05-07",
        fields="WARC-Refers-To: <urn:uuid:1>",
    )
    (tmp_path / "1.warc").write_bytes(record(HEAD + BODY) + revisit)
    imported(store, tmp_path / "1.warc")
    newest = store.read(store.find("http://a.test/")[0])
    assert (newest.status, newest.body, newest.record_id) == (200, BODY, "<2>")


def test_a_har_file_has_decoded_bodies(store: Store, tmp_path: Path) -> None:
    def entry(url: str, content: dict[str, Any], status: int = 200, headers: tuple[str, ...] = ()) -> dict[str, Any]:
        fields = [dict(zip(("name", "value"), h.split("=", 1), strict=True)) for h in headers]
        return {
            "startedDateTime": "2024-05-06T07:08:09.000Z",
            "time": 1.5,
            "request": {"url": url, "headers": [{"name": "Accept-Language", "value": "de"}]},
            "response": {"status": status, "httpVersion": "h2", "headers": fields, "content": content},
        }

    headers = ("content-encoding=br", "set-cookie=a=1\nb=2", "vary=Accept-Language", ":status=200")
    log = [
        entry("http://a.test/1", {"text": "<p>é", "mimeType": "text/html; charset=ISO-8859-1"}, headers=headers),
        entry("http://a.test/2", {"text": base64.b64encode(bytes(range(256))).decode(), "encoding": "base64"}),
        entry("http://a.test/3", {"text": "\ud800"}),
        entry("http://a.test/4", {"size": 10}),
        entry("http://a.test/5", {}, status=0),
        entry("http://a.test/6", {"text": "!", "encoding": "base64"}),
        {"request": []},
        entry("http://a.test/7", {}, status=204),
    ]
    file = tmp_path / "a.har"
    file.write_text(json.dumps({"log": {"entries": log}}))
    tally, notes = imported(store, file)
    assert tally == Tally(captures=4, skipped=2, damaged=2)
    assert [str(n)[: len(f"{file}: entry 3")] for n in notes] == [f"{file}: entry {i}" for i in (3, 4, 5, 6)]
    kept = [body for _, body in bodies(store)]
    assert kept == ["<p>é".encode("latin-1"), bytes(range(256)), b"\xed\xa0\x80", b""]
    first = store.read(store.find("http://a.test/1")[0])
    assert first.headers[:3] == ((b"content-encoding", b"br"), (b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"))
    assert (first.coding, first.http_version, first.vary) == ("br", b"HTTP/2", ((b"Accept-Language", b"de"),))
    assert first.time - first.request_time == 1500
    assert imported(store, file)[0].captures == 0


@pytest.mark.parametrize(
    "text", ['{"log": 3}', '{"log": {"entries": {}}}', '{"log": {}}', '{"entries": [], "log": []}']
)
def test_what_is_no_har_file_is_said_in_words(store: Store, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.har").write_text(text)
    _, notes = imported(store, tmp_path / "a.har")
    assert [str(note) for note in notes] == [f"{tmp_path}/a.har: is no HAR file: it has no list log.entries"]


def test_a_har_entry_says_what_is_missing(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.har").write_text('{"log": {"entries": [{"request": {"url": "http://a.test/"}, "response": {}}]}}')
    _, notes = imported(store, tmp_path / "a.har")
    assert [str(note) for note in notes] == [f"{tmp_path}/a.har: entry 0: is no HAR entry: 'status' is missing"]


def test_a_folder_of_saved_pages(store: Store, tmp_path: Path) -> None:
    files = {
        "www.a.test/index.html": b"<p>home",
        "www.a.test/b/index.html": b"<p>b",
        "www.a.test/list?page=2&x=%20y": b"<!DOCTYPE html><p>list",
        "www.a.test/logo.png": b"\x89PNG",
        "b.test+8080/ä.htm": b"<p>port",
        "notes/readme.html": b"<p>file",
        "crawl.warc": record(),
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "loop").symlink_to(tmp_path)
    tally, notes = imported(store, tmp_path)
    assert (tally.captures, notes) == (6, [])
    assert {url for url, _ in bodies(store)} == {
        "http://www.a.test/",
        "http://www.a.test/b/",
        "http://www.a.test/list?page=2&x=%20y",
        "http://b.test:8080/%C3%A4.htm",
        f"file://{tmp_path}/notes/readme.html",
        "http://a.test/",
    }
    assert imported(store, tmp_path)[0].captures == 0


def test_one_page_by_itself(store: Store, tmp_path: Path) -> None:
    host = tmp_path / "a.test"
    host.mkdir()
    (host / "x.html").write_bytes(b"<p>x")
    imported(store, host / "x.html")
    imported(store, host)
    assert bodies(store) == [("http://a.test/x.html", b"<p>x")]


def test_sizes_add_up_to_the_position_reached(tmp_path: Path, store: Store) -> None:
    (tmp_path / "a.test").mkdir()
    (tmp_path / "a.test" / "x.html").write_bytes(b"<p>x")
    (tmp_path / "a.warc.gz").write_bytes(packed(record(), record(record_id="<2>")))
    position = Position()
    for _ in entries([tmp_path], LIMITS, position):
        assert position.done <= size_of([tmp_path])
    assert position.done == size_of([tmp_path])


def test_batches_end_with_enough_bytes(store: Store) -> None:
    sizes: list[int] = []

    def captures() -> Iterator[Entry]:
        for i in range(5):
            yield Capture(f"http://a.test/{i}", i, 200, (), bytes(BATCH_BYTES // 2))
        yield Note(Kind.SKIPPED, "here", "nothing")

    import_entries(captures(), lambda: store, committed=lambda t: sizes.append(t.captures), noted=lambda n: None)
    assert sizes == [2, 4, 5]


def test_when_the_store_fails_the_reading_stops() -> None:
    def captures() -> Iterator[Entry]:
        while True:
            yield Capture("http://a.test/", 0, 200, (), bytes(1 << 20))

    def opened() -> Store:
        raise StoreUnavailable("gone")

    with pytest.raises(StoreUnavailable):
        import_entries(captures(), opened, committed=lambda t: None, noted=lambda n: None)
    assert not [thread for thread in threading.enumerate() if thread.name == "reading"]


def test_when_the_reading_fails_the_import_does() -> None:
    def captures() -> Iterator[Entry]:
        yield Capture("http://a.test/", 0, 200, (), b"")
        raise RecursionError("deep")

    with pytest.raises(RecursionError):
        import_entries(captures(), MemoryStore, committed=lambda t: None, noted=lambda n: None)
