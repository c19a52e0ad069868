"""Header fields as received: any case, repeated, of any length (RFC 9110, section 5)."""

import re
from collections.abc import Iterable, Mapping

from blocks.model import Headers

Index = Mapping[bytes, list[bytes]]
"""Lower-case field name to its values, in the order received."""

OWS = b" \t"

_MEMBER = re.compile(rb'(?:[^,"]++|"(?:[^"\\]++|\\.?)*+"?)++', re.DOTALL)
"""A list member: anything up to a comma outside a quoted string (section 5.6.4); a string that is never closed
reaches to the end. Possessive, so that it is linear."""

_CLOSED = re.compile(rb'(?:[^,"]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)

HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authentication-info",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
"""Fields of one connection: never stored, never forwarded (RFC 9110, section 7.6.1; RFC 9111, section 3.1)."""

_ALWAYS_END_TO_END = frozenset(
    (
        b"age",
        b"authorization",
        b"cache-control",
        b"cdn-cache-control",
        b"content-encoding",
        b"content-length",
        b"content-location",
        b"content-range",
        b"content-type",
        b"cookie",
        b"date",
        b"etag",
        b"expires",
        b"host",
        b"last-modified",
        b"location",
        b"pragma",
        b"set-cookie",
        b"vary",
    )
)
"""Fields that Connection cannot take away: "Cache-Control is never appropriate as a connection option" (section
7.6.1), and losing one of the others would change what a response means or to whom it may be shown."""


def index(headers: Headers) -> Index:
    """Return the values of every field by lower-case name."""
    found: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value)
    return found


def values(headers: Headers, name: bytes) -> list[bytes]:
    """Return the values of one field; `name` is in lower case."""
    return [value for field, value in headers if field.lower() == name]


def split(line: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the members of a comma-separated list, and those after a quote that is never closed (section 5.6.1).

    What stands after such a quote may be anything: the caller knows which reading of it is safe.

    >>> split(b'a, "b, c", d="e, f')
    ([b'a', b'"b, c"'], [b'd="e', b'f'])
    """
    if b'"' not in line:
        return _stripped(line.split(b",")), []
    parts = _MEMBER.findall(line)
    if not parts or _CLOSED.fullmatch(parts[-1]):
        return _stripped(parts), []
    return _stripped(parts[:-1]), _stripped(parts[-1].split(b","))


def _stripped(parts: list[bytes]) -> list[bytes]:
    return [part for part in (part.strip(OWS) for part in parts) if part]


def members(lines: Iterable[bytes]) -> list[bytes]:
    """Return the members of a list over all its lines, without empty ones; no line can hide another."""
    return [member for line in lines for part in split(line) for member in part]


def tokens(lines: Iterable[bytes]) -> list[bytes]:
    """Return the members in lower case: field names, coding names, connection options."""
    return [member.lower() for member in members(lines)]


def end_to_end(headers: Headers) -> Headers:
    """Return the fields without those of the connection and those its Connection names (section 7.6.1)."""
    named = tokens(value for name, value in headers if name.lower() == b"connection")
    dropped = HOP_BY_HOP.union(named) - _ALWAYS_END_TO_END if named else HOP_BY_HOP
    return tuple(pair for pair in headers if pair[0].lower() not in dropped)


def without(headers: Headers, names: Iterable[bytes]) -> Headers:
    """Return the fields whose lower-case name is not among `names`."""
    dropped = frozenset(names)
    return tuple(pair for pair in headers if pair[0].lower() not in dropped)
