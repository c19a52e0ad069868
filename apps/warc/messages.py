"""A record's block as an HTTP response, and back.

Archives keep what a server sent, so nothing is taken for granted: lines may end in a bare LF, a reason may be
missing, the version may be HTTP/2, bytes may be Latin-1, and the body may or may not still be chunked.
"""

import re
from dataclasses import dataclass

from apps.warc.reading import parse_fields
from blocks.model import Capture, Headers
from proxy.coding import codings, dechunk, decode

_VERSION = re.compile(rb"(?:HTTP/[0-9.]{1,8}|ICY)", re.IGNORECASE)
_STATUS = re.compile(rb"\d{3}")
_EMPTY_LINE = re.compile(rb"\n\r?\n")

RENAMED = b"X-Archive-Orig-"
"""Before the name of a field that describes what the body was coded with before it was kept (as Heritrix does)."""


@dataclass(frozen=True, slots=True)
class Message:
    """An HTTP response as archived: the body still coded."""

    version: bytes
    status: int
    reason: bytes
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a body may grow in decoding: to so many bytes, and so many times its own."""

    max_bytes: int
    max_ratio: float


def parse_message(block: bytes) -> Message | None:
    """Return the response in a block, None when it does not begin with a status line."""
    line_end = block.find(b"\n", 0, 1 << 16)
    line = block[: line_end if line_end >= 0 else 1 << 16].split(None, 2)
    if len(line) < 2 or not _VERSION.fullmatch(line[0]) or not _STATUS.fullmatch(line[1]):
        return None
    if line_end < 0:
        line_end = len(block)
    # The search begins at the status line's own line end: a response may have no header fields at all.
    end = _EMPTY_LINE.search(block, line_end)
    head, body = (block[line_end : end.start()], block[end.end() :]) if end else (block[line_end:], b"")
    reason = line[2].rstrip(b"\r\t ") if len(line) > 2 else b""
    return Message(line[0], int(line[1]), reason, parse_fields(head), body)


def values(headers: Headers, name: str) -> bytes:
    """Return the values of a field, joined as one list (RFC 9110, section 5.2)."""
    wanted = name.lower().encode()
    return b", ".join(value for field, value in headers if field.lower() == wanted)


def decoded_body(headers: Headers, body: bytes, limits: Limits) -> tuple[bytes, str]:
    """Return the body after transfer and content decoding, and the content codings removed."""
    if b"chunked" in values(headers, "Transfer-Encoding").lower() and (whole := dechunk(body)) is not None:
        body = whole
    found = decode(body, values(headers, "Content-Encoding"), max_bytes=limits.max_bytes, max_ratio=limits.max_ratio)
    return found.body, found.coding


def head_of(capture: Capture) -> bytes:
    """Return the status line and header fields of a capture, true of its decoded body.

    Content-Encoding (when it was undone) and Transfer-Encoding get RENAMED before their names, Content-Length is
    corrected; everything else is as received, in order.
    """
    undone = {b"transfer-encoding"} | ({b"content-encoding"} if capture.coding else set())
    line = b"%s %03d %s" % (capture.http_version or b"HTTP/1.1", capture.status, capture.reason)
    lines = [line.rstrip(b" ") if not capture.reason else line]
    for name, value in capture.headers:
        if name.lower() in undone:
            name = RENAMED + name
        elif name.lower() == b"content-length":
            value = _corrected(value, len(capture.body))
        lines.append(name + (b": " + value if value else b":"))
    return b"\r\n".join((*lines, b"", b""))


def _corrected(value: bytes, n_bytes: int) -> bytes:
    return value if value.isdigit() and len(value) < 20 and int(value) == n_bytes else b"%d" % n_bytes


def all_codings(headers: Headers) -> str:
    """Return the content codings that a header claims, as `Capture.coding` names them."""
    return ", ".join(codings(values(headers, "Content-Encoding")))
