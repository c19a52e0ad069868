"""Validation: what is asked, which stored response a 304 or a HEAD speaks of, what it changes (RFC 9111, 4.3)."""

from collections.abc import Sequence

from blocks.model import Headers
from proxy.caching import dates
from proxy.caching.fields import end_to_end, index, values, without
from proxy.caching.model import Response, Stored
from proxy.caching.vary import newest

CONDITIONS = frozenset((b"if-none-match", b"if-modified-since"))

_OF_ONE_CLIENT = CONDITIONS | frozenset(
    (
        b"authorization",
        b"cache-control",
        b"cookie",
        b"if-match",
        b"if-range",
        b"if-unmodified-since",
        b"pragma",
        b"proxy-authorization",
        b"range",
    )
)

NOT_UPDATED = frozenset(
    (
        b"content-encoding",
        b"content-length",
        b"content-md5",
        b"content-range",
        b"etag",
        b"last-modified",
        b"set-cookie",
        b"vary",
    )
)
"""Fields that a validation leaves as they are (section 3.2): they describe the body that is kept and how it was
selected; a cookie is for the client that asked."""

MAX_ETAGS = 8
"""Entity tags in one If-None-Match; the newest responses' come first."""


def conditions(candidates: Sequence[Stored]) -> Headers:
    """Return the fields that ask whether one of some stored responses is still current (section 4.3.1).

    () when none has a validator. Last-Modified goes along when there is one response to validate, as sent.
    """
    ordered = sorted(candidates, key=lambda stored: (stored.date, stored.time), reverse=True)
    tags = tuple(dict.fromkeys(stored.etag for stored in ordered if stored.etag))[:MAX_ETAGS]
    asked: list[tuple[bytes, bytes]] = [(b"If-None-Match", b", ".join(tags))] if tags else []
    if len(ordered) == 1 and ordered[0].last_modified is not None:
        asked.append((b"If-Modified-Since", values(ordered[0].headers, b"last-modified")[0].strip()))
    return tuple(asked)


def has_validator(stored: Stored) -> bool:
    """Tell whether an origin can be asked if a stored response is still current (section 4.3.1)."""
    return bool(stored.etag) or stored.last_modified is not None


def conditional(headers: Headers, candidates: Sequence[Stored]) -> Headers:
    """Return a request's fields with our conditions in place of the client's.

    The client's are left alone when no stored response has a validator: a 304 then answers the client, and says
    nothing about what is stored.
    """
    asked = conditions(candidates)
    return without(headers, CONDITIONS) + asked if asked else headers


def refreshing(headers: Headers, stored: Stored) -> Headers:
    """Return the fields of a request of our own for a stored response, after the client's (RFC 5861, section 3).

    Without what only concerned that client: its conditions, ranges, directives and credentials.
    """
    return without(headers, _OF_ONE_CLIENT) + conditions([stored])


def opaque(etag: bytes) -> bytes:
    """Return the part of an entity tag that weak comparison looks at (RFC 9110, section 8.8.3.2)."""
    return etag[2:] if etag[:2] in (b"W/", b"w/") else etag


def is_strong(etag: bytes) -> bool:
    """Tell whether an entity tag says that equal tags are equal bytes (RFC 9110, section 8.8.1)."""
    return etag[:1] == b'"'


def selected(candidates: Sequence[Stored], response: Response) -> Stored | None:
    """Return the stored response that a 304 speaks of, of those whose validators were sent (section 4.3.4).

    By a strong validator, else by the newest with a matching weak one. When only one was asked about it is that
    one, whatever the 304 says: nothing else could have matched the condition. None: ask again without conditions.
    """
    if len(candidates) == 1:
        return candidates[0]
    tags = [tag.strip() for tag in values(response.headers, b"etag")]
    if tags and is_strong(tags[0]):
        return newest(stored for stored in candidates if stored.etag == tags[0])
    if tags:
        return newest(stored for stored in candidates if opaque(stored.etag) == opaque(tags[0]))
    modified = values(response.headers, b"last-modified")
    if modified and (instant := dates.parse(modified[0], response.time)) is not None:
        return newest(stored for stored in candidates if stored.last_modified == instant)
    return None


def updated(kept: Headers, fresh: Headers) -> Headers:
    """Return stored fields after a validation: each field of the new response replaces all of that name (3.2).

    An Age or a Date of before says nothing about the response any more, and goes even when no new one came.
    """
    new = without(end_to_end(fresh), NOT_UPDATED)
    replaced = {name.lower() for name, _ in new} | {b"age", b"date"}
    return without(kept, replaced) + new


def head_agrees(stored: Stored, response: Response) -> bool | None:
    """Tell what a 200 to a HEAD says about a stored response: True to update it, False to invalidate it (4.3.5).

    None when it says nothing: the status is another one. Validators and length must be equal where both have one.
    """
    if response.status != 200 or stored.status != 200:
        return None
    fields, kept = index(response.headers), index(stored.headers)
    for name in (b"etag", b"last-modified", *(() if stored.coding else (b"content-length",))):
        if name in fields and name in kept and fields[name][0].strip() != kept[name][0].strip():
            return False
    return True
