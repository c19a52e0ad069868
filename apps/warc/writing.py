"""Captures as a WARC file (ISO 28500:2017, WARC/1.1): a gzip member a record, nothing half-written."""

import base64
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO
from uuid import uuid4

from apps.warc.captures import MADE_DATE
from apps.warc.dates import format_date, parse_date
from apps.warc.entries import Names
from apps.warc.messages import head_of
from blocks.model import Capture

_REVISIT_PROFILE = b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

Fields = list[tuple[bytes, bytes]]


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file that takes the place of `path` when all has been written to it, and vanishes when an error comes
    first. OSError names `path`."""
    hidden = f".{path.name}."
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=hidden, delete=False) as file:
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
                mask = os.umask(0)
                os.umask(mask)
                Path(file.name).chmod(0o666 & ~mask)
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as exc:
        if exc.errno is None or (exc.filename and not Path(exc.filename).name.startswith(hidden)):
            raise
        raise OSError(exc.errno, exc.strerror, str(path)) from exc


def write_warc(
    path: Path,
    captures: Iterable[Capture],
    *,
    software: str,
    now: int,
    revisit: bool = False,
    written: Callable[[int], None] = lambda n: None,
) -> int:
    """Write captures to a WARC file, gzipped when its name ends in .gz, and return how many.

    With `revisit`, a body that a capture just before (of equal captures that come together) or any other of the same
    host has brought is not written again. `now` is the file's own date in microseconds; `written` is told the
    count after each record. OSError when the file cannot be written; it is then left as it was.
    """
    earlier = _Earlier() if revisit else None
    names = Names()
    n = 0
    with whole_or_nothing(path) as file:
        pack = _member if path.name.endswith(".gz") else bytes
        file.write(pack(_warcinfo(software, now, path.name)))
        for n, capture in enumerate(captures, 1):
            record_id = capture.record_id or names.name(capture)
            file.write(pack(_response(capture, record_id, earlier)))
            written(n)
    return n


def _member(record: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(record) + packer.flush()


def _record(fields: Fields, *block: bytes) -> bytes:
    """Return a record; what would end a line inside a value becomes a space."""
    fields = [*fields, (b"Content-Length", b"%d" % sum(map(len, block)))]
    head = b"".join(name + b": " + b" ".join(value.splitlines()) + b"\r\n" for name, value in fields)
    return b"".join((b"WARC/1.1\r\n", head, b"\r\n", *block, b"\r\n\r\n"))


def _warcinfo(software: str, now: int, name: str) -> bytes:
    block = f"software: {software}\r\nformat: WARC File Format 1.1\r\n".encode()
    return _record(
        [
            (b"WARC-Type", b"warcinfo"),
            (b"WARC-Record-ID", f"<{uuid4().urn}>".encode()),
            (b"WARC-Date", format_date(now).encode()),
            (b"WARC-Filename", name.encode("utf-8", "replace")),
            (b"Content-Type", b"application/warc-fields"),
        ],
        block,
    )


class _Earlier:
    """The bodies that the captures of one host have brought, by payload digest.

    Captures come host by host, so that is all that need be remembered.
    """

    def __init__(self) -> None:
        self._host = ""
        self._bodies: dict[bytes, tuple[Capture, str]] = {}

    def find(self, capture: Capture, record_id: str, digest: bytes) -> Fields:
        """Return the fields that refer to an earlier capture with this body; none when this is the first."""
        host = capture.url.split("/", 3)[2:3]
        if host != [self._host]:
            self._host = host[0] if host else ""
            self._bodies.clear()
        if (found := self._bodies.get(digest)) is None:
            bare = Capture(capture.url, capture.time, capture.status, (), b"", date=capture.date)
            self._bodies[digest] = (bare, record_id)
            return []
        original, original_id = found
        return [
            (b"WARC-Profile", _REVISIT_PROFILE),
            (b"WARC-Refers-To", original_id.encode()),
            (b"WARC-Refers-To-Target-URI", original.url.encode()),
            (b"WARC-Refers-To-Date", (original.date or format_date(original.time)).encode()),
        ]


def _response(capture: Capture, record_id: str, earlier: _Earlier | None) -> bytes:
    """Return a capture as a response record, or a revisit record when its body was written before."""
    head = head_of(capture)
    payload = sha1(capture.body, usedforsecurity=False).digest()
    refers = earlier.find(capture, record_id, payload) if earlier and capture.body else []
    block = (head,) if refers else (head, capture.body)
    hashed = sha1(usedforsecurity=False)
    for part in block:
        hashed.update(part)
    return _record(
        [
            (b"WARC-Type", b"revisit" if refers else b"response"),
            (b"WARC-Record-ID", record_id.encode()),
            (b"WARC-Target-URI", capture.url.encode()),
            *_dates(capture),
            *refers,
            (b"WARC-Block-Digest", _digest(hashed.digest())),
            (b"WARC-Payload-Digest", _digest(payload)),
            (b"Content-Type", b"application/http;msgtype=response"),
        ],
        *block,
    )


def _dates(capture: Capture) -> Fields:
    """Return WARC-Date as received, and beside one that is no date the time that was made of it."""
    if not capture.date:
        return [(b"WARC-Date", format_date(capture.time).encode())]
    made = (
        [] if parse_date(capture.date) == capture.time else [(MADE_DATE.encode(), format_date(capture.time).encode())]
    )
    return [(b"WARC-Date", capture.date.encode()), *made]


def _digest(digest: bytes) -> bytes:
    return b"sha1:" + base64.b32encode(digest)
