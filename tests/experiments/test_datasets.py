"""Data sets from WARC and truth: pages in order, labels, groups, digests, and sentences for what is no corpus."""

import json
from pathlib import Path

import pytest

from experiments.datasets import load

PAGE = b"<p>Home<p>The new bridge was opened on Monday.<p>About"
TRUTH = {"record_id": "<urn:uuid:1>", "site": "a.test", "text": "The new bridge was opened on Monday."}


def warc(*bodies: bytes, content_type: str = "text/html") -> bytes:
    parts = []
    for number, body in enumerate(bodies, 1):
        http = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        head = f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
        head += f"WARC-Target-URI: http://www.a.test/{number}\r\nWARC-Date: 2010-01-01T00:00:00Z\r\n"
        head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
        parts.append(head.encode() + http + b"\r\n\r\n")
    return b"".join(parts)


def test_pages_have_labels_from_the_truth_beside_them(tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_bytes(warc(PAGE, PAGE))
    (tmp_path / "x.truth.jsonl").write_text(json.dumps(TRUTH) + "\n")
    data = load(tmp_path / "x.warc")
    assert [sample.labels for sample in data.samples] == [[False, True, False], [None] * 3]
    assert list(data.groups()) == ["a.test 2010"]
    assert (data.kind, sorted(data.digests)) == ("text", ["x.truth.jsonl", "x.warc"])


def test_a_corpus_without_truth_has_pages_without_labels(tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_bytes(warc(PAGE))
    data = load(tmp_path / "x.warc")
    assert (data.kind, data.samples[0].labels) == ("none", [None] * 3)


@pytest.mark.parametrize("data", [b"", b"no WARC", warc(PAGE, content_type="image/gif")])
def test_a_file_without_pages_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.warc").write_bytes(data)
    with pytest.raises(ValueError, match="a WARC file of pages expected"):
        load(tmp_path / "x.warc")


def test_a_truth_that_is_no_json_lines_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_bytes(warc(PAGE))
    (tmp_path / "x.truth.jsonl").write_text('{"record_id": "1"}\nnot json\n')
    with pytest.raises(ValueError, match="line 2"):
        load(tmp_path / "x.warc")
