"""WARC records and files as crawlers write them, sound and broken."""

import gzip
from pathlib import Path

from apps.warc.captures import warc_entries
from apps.warc.entries import Entry
from apps.warc.messages import Limits

LIMITS = Limits(max_bytes=64 << 20, max_ratio=1100)

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def record(
    block: bytes = HEAD + b"<p>page",
    *,
    url: str = "http://a.test/",
    date: str | None = "2024-05-06T07:08:09Z",
    record_id: str | None = "<urn:uuid:1>",
    kind: str = "response",
    fields: str = "",
    length: int | None = None,
) -> bytes:
    """Return one record, uncompressed; None leaves a field out."""
    lines = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        *([f"WARC-Date: {date}"] if date is not None else []),
        *([f"WARC-Record-ID: {record_id}"] if record_id is not None else []),
        *fields.splitlines(),
        f"Content-Length: {len(block) if length is None else length}",
        "",
        "",
    ]
    return "\r\n".join(lines).encode() + block + b"\r\n\r\n"


def packed(*members: bytes) -> bytes:
    """Return records as a .warc.gz has them: a gzip member each."""
    return b"".join(gzip.compress(member, mtime=0) for member in members)


def entries_of(path: Path, content: bytes, limits: Limits = LIMITS) -> list[Entry]:
    """Write a file and return what it holds."""
    path.write_bytes(content)
    return list(warc_entries(path, limits, lambda offset: None))
