"""Answers made of what is kept: which fields a client is given, in which content coding."""

import html
import time

from mitmproxy import http

from blocks.model import Headers
from proxy.caching import Request, cache_status, negotiation
from proxy.caching import answer as answer_from
from proxy.entry import Entry

CODINGS = ("br", "gzip", "zstd", "deflate")
"""The codings that bodies are sent in, besides the one they came in."""

_BODILESS = frozenset((204, 304))


def coding_for(entry: Entry, request: Request) -> str:
    """Return the content coding in which the client is given an entry's body; the origin's when it may choose."""
    original = entry.original
    if not original:
        return ""
    return negotiation.coding_for(entry.stored, request, (original, *CODINGS) if original in CODINGS else CODINGS)


def full(
    entry: Entry, coding: str, body: bytes, request: Request, now: int, status: bytes, *, whole: bool = False
) -> http.Response:
    """Return the answer to a request from an entry, with its body in a coding: all of it, a part, or a 304.

    `whole` overrules what the request says: the response it asked about is not the one it is given.
    """
    capture, head = entry.capture, request.method == "HEAD"
    if not (request.plain or whole):
        made = answer_from(entry.stored, request, len(body), now, coding)
        if made.status != capture.status:
            fields = (*made.headers, (b"Cache-Status", status))
            if made.status not in _BODILESS:
                fields = (*fields, (b"Content-Length", b"%d" % (made.stop - made.start)))
            return response(made.status, b"", fields, b"" if head else body[made.start : made.stop])
    age = (b"Age", b"%d" % entry.stored.age_seconds(now))
    fields = (*_fields(entry, coding, len(body)), age, (b"Cache-Status", status))
    return response(capture.status, capture.reason, fields, b"" if head else body)


def _fields(entry: Entry, coding: str, n_bytes: int) -> Headers:
    """Return the header fields of a full answer, without Age and Cache-Status; worked out once a coding."""
    fields = entry.answers.get(coding)
    if fields is None:
        fields = entry.stored.served
        if coding:
            fields = (*fields, (b"Content-Encoding", coding.encode()))
        if entry.capture.status not in _BODILESS:
            fields = (*fields, (b"Content-Length", b"%d" % n_bytes))
        entry.answers[coding] = fields
    return fields


def response(status: int, reason: bytes, fields: Headers, body: bytes) -> http.Response:
    """Return a response of these parts as they are; the constructors would check the type of each again."""
    headers = http.Headers.__new__(http.Headers)
    headers.fields = fields
    data = http.ResponseData.__new__(http.ResponseData)
    data.http_version, data.status_code, data.reason = b"HTTP/1.1", status, reason
    data.headers, data.content, data.trailers = headers, body, None
    data.timestamp_start = data.timestamp_end = time.time()
    made = http.Response.__new__(http.Response)
    made.data = data
    return made


def unavailable(url: str, why: str, detail: str, *, head: bool = False) -> http.Response:
    """Return a 504 whose page says, to people, what is missing and why; `detail` goes to Cache-Status."""
    page = _UNAVAILABLE.format(url=html.escape(url), why=html.escape(why)).encode("utf-8", "replace")
    fields = (
        (b"Content-Type", b"text/html; charset=utf-8"),
        (b"Cache-Control", b"no-store"),
        (b"Content-Length", b"%d" % len(page)),
        (b"Cache-Status", cache_status(detail=detail)),
        (b"Age", b"0"),
    )
    return response(504, b"Gateway Timeout", fields, b"" if head else page)


_UNAVAILABLE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not available</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 4rem auto; padding: 0 1rem;
       color: #222; background: #fff; }}
code {{ overflow-wrap: anywhere; }}
@media (prefers-color-scheme: dark) {{ body {{ color: #ddd; background: #181818; }} }}
</style>
</head>
<body>
<h1>This page is not available</h1>
<p><code>{url}</code></p>
<p>{why}</p>
<p><small>Pagemason, HTTP 504</small></p>
</body>
</html>
"""
