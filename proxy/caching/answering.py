"""What a client gets from a stored response: all of it, a part, or that nothing has changed (RFC 9111, 4, 4.3.2)."""

import re
from typing import NamedTuple

from blocks.model import Headers
from proxy.caching import dates
from proxy.caching.fields import without
from proxy.caching.model import SECOND, Request, Stored
from proxy.caching.ranges import UNSATISFIABLE, span
from proxy.caching.validation import is_strong, opaque

_ETAG = re.compile(rb'[Ww]/"[^"]*+"|"[^"]*+"|[^\s,"][^,]*+')
"""An entity tag (RFC 9110, section 8.8.3), or what stands in the place of one."""

OF_THE_BODY = frozenset(
    (b"content-encoding", b"content-language", b"content-length", b"content-md5", b"content-range", b"content-type")
)
"""Fields that a 304 leaves out: it has no body, and the client has them (RFC 9110, section 15.4.5)."""


class Answer(NamedTuple):
    """An answer made of a stored response: its status and fields, and the bytes of the body from `start` to `stop`.

    The fields have an Age, and no Content-Length or Cache-Status: the caller knows what it sends. A HEAD is
    answered without the bytes.
    """

    status: int
    headers: Headers
    start: int
    stop: int


def answer(stored: Stored, request: Request, size: int, now: int, coding: str = "") -> Answer:
    """Return the answer to a request that a stored response was chosen for. `size` is that of the body kept.

    `coding` is the content coding in which the caller will send it, as `negotiation.coding_for` says.
    """
    headers = (*stored.served, (b"Age", b"%d" % stored.age_seconds(now)))
    if not request.plain and stored.status == 200:
        if not_modified(stored, request):
            return Answer(304, without(headers, OF_THE_BODY), 0, 0)
        if not coding and (part := asked_part(stored, request, size)) is not None:
            return _part(part, headers, size)
    if coding:
        headers = (*headers, (b"Content-Encoding", coding.encode()))
    return Answer(stored.status, headers, 0, size)


def _part(part: tuple[int, int], headers: Headers, size: int) -> Answer:
    """Return a 206 with one range, or a 416 (RFC 9110, sections 15.3.7 and 15.5.17)."""
    if part == UNSATISFIABLE:
        return Answer(416, (*without(headers, OF_THE_BODY), (b"Content-Range", b"bytes */%d" % size)), 0, 0)
    start, stop = part
    said = (b"Content-Range", b"bytes %d-%d/%d" % (start, stop - 1, size))
    return Answer(206, (*without(headers, (b"content-range",)), said), start, stop)


def not_modified(stored: Stored, request: Request) -> bool:
    """Tell whether a conditional request finds the stored response unchanged (RFC 9111, section 4.3.2).

    If-None-Match comes first and is compared weakly; If-Modified-Since counts only without it (RFC 9110, section
    13.2.2) and is compared with Last-Modified, else with the Date, else with the time the response came.
    """
    if request.method not in ("GET", "HEAD"):
        return False
    if (tags := request.special.get(b"if-none-match")) is not None:
        return tags.strip() == b"*" or lists(tags, stored.etag)
    since = request.special.get(b"if-modified-since")
    if since is None:
        return False
    instant = dates.parse(since, stored.time)
    modified = stored.last_modified if stored.last_modified is not None else stored.date
    return instant is not None and modified // SECOND <= instant // SECOND


def lists(tags: bytes, etag: bytes) -> bool:
    """Tell whether an If-None-Match lists an entity tag, by weak comparison (RFC 9110, section 8.8.3.2)."""
    if not etag:
        return False
    wanted = opaque(etag)
    return any(opaque(tag.strip()) == wanted for tag in _ETAG.findall(tags))


def asked_part(stored: Stored, request: Request, size: int) -> tuple[int, int] | None:
    """Return the part of the body that a GET asks for, None for the whole (RFC 9110, sections 13.2.2 and 14.2)."""
    value = request.special.get(b"range")
    if value is None or request.method != "GET":
        return None
    condition = request.special.get(b"if-range")
    if condition is not None and not _same_bytes(stored, condition.strip()):
        return None
    return span(value, size)


def _same_bytes(stored: Stored, condition: bytes) -> bool:
    """Tell whether an If-Range names the stored bytes, by a strong validator (RFC 9110, section 13.1.5).

    A date is one when it is the Last-Modified, and that lies a second or more before the Date (section 8.8.2.2).
    A body that is coded again has no strong validator.
    """
    if stored.coding:
        return False
    if condition[:1] in (b'"', b"W", b"w") and b'"' in condition:
        return is_strong(condition) and condition == stored.etag
    instant = dates.parse(condition, stored.time)
    if instant is None or stored.last_modified is None:
        return False
    return instant == stored.last_modified and stored.date - stored.last_modified >= SECOND
