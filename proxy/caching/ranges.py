"""Which part of a body a Range asks for (RFC 9110, section 14)."""

import re

MAX_RANGES = 16
"""Ranges in one request that are looked at; more are a way to make work (section 17.15), and get the whole body."""

_UNIT = re.compile(rb"bytes[ \t]*=", re.IGNORECASE)
_RANGE = re.compile(rb"[ \t]*(\d{0,18})[ \t]*-[ \t]*(\d{0,18})[ \t]*")

Span = tuple[int, int]
"""First byte and the byte after the last."""

UNSATISFIABLE: Span = (-1, -1)


def span(value: bytes, size: int) -> Span | None:
    """Return the bytes to send of a body of `size`, UNSATISFIABLE, or None for the whole body.

    None is the answer to other units, to what is malformed, and to several ranges that do not join into one:
    a server may ignore Range (section 14.2), and several parts would need a multipart body.

    >>> span(b"bytes=-5", 100), span(b"bytes=0-1,2-3", 100), span(b"bytes=0-1,50-", 100), span(b"bytes=100-", 100)
    ((95, 100), (0, 4), None, (-1, -1))
    """
    unit = _UNIT.match(value)
    if unit is None:
        return None
    parts = value[unit.end() :].split(b",", MAX_RANGES)
    if len(parts) > MAX_RANGES:
        return None
    spans = []
    for part in parts:
        match = _RANGE.fullmatch(part)
        if match is None or not (match[1] or match[2]):
            return None
        found = _resolve(match[1], match[2], size)
        if found is None:
            return None
        spans.append(found)
    return _joined([found for found in spans if found[0] < found[1]])


def _resolve(first: bytes, last: bytes, size: int) -> Span | None:
    """Return the span of one range, an empty one when it is not satisfiable, None when it is not valid (14.1.2)."""
    if not first:
        return max(0, size - int(last)), size
    start, stop = int(first), int(last) + 1 if last else size
    if last and stop <= start:
        return None
    return start, min(stop, size)


def _joined(spans: list[Span]) -> Span | None:
    if not spans:
        return UNSATISFIABLE
    spans.sort()
    start, stop = spans[0]
    for next_start, next_stop in spans[1:]:
        if next_start > stop:
            return None
        stop = max(stop, next_stop)
    return start, stop
