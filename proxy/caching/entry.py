"""From a response to a Stored: everything that can be worked out before a request asks for it."""

from collections.abc import Sequence

from blocks.model import Headers
from proxy.caching import dates, freshness, vary
from proxy.caching.fields import HOP_BY_HOP, end_to_end, index, without
from proxy.caching.model import Policy, Response, Stored

NOT_SERVED = frozenset((b"age", b"content-length", b"set-cookie", b"set-cookie2"))
"""Fields of the stored response that a hit does not repeat: Age and length are its own, cookies were for another."""


def remember(
    response: Response,
    selecting: Headers,
    policy: Policy,
    *,
    coding: str = "",
    invalid: bool = False,
    ref: object = None,
) -> Stored:
    """Return a kept response with its freshness worked out.

    `selecting` are the request fields that its Vary names, as `vary.selecting_fields` gives them and
    `Capture.vary` keeps them; `coding` the content codings removed from its body; `invalid` an invalidation since.
    """
    fields = index(response.headers)
    directives, is_targeted = freshness.control(fields, policy)
    lifetime = freshness.explicit(fields, directives, response.time, is_targeted=is_targeted)
    if lifetime is None:
        lifetime = freshness.heuristic(response.status, fields, directives, response.time, policy)
    born = response.time - freshness.initial_age(fields, response.request_time, response.time)
    names = vary.names(fields)
    unusable = invalid or directives.no_cache or names is None
    fresh_until = born + lifetime
    return Stored(
        status=response.status,
        headers=response.headers,
        served=_served(response.headers, directives.no_cache_fields, coding),
        request_time=response.request_time,
        time=response.time,
        born=born,
        lifetime=lifetime,
        fresh_until=0 if unusable or fresh_until <= response.time else fresh_until,
        date=freshness.date_of(fields, response.time),
        directives=directives,
        etag=next(iter(fields.get(b"etag", ())), b"").strip(),
        last_modified=_last_modified(fields.get(b"last-modified", ()), response.time),
        vary=selecting,
        selecting=names or (),
        coding=coding,
        invalid=invalid or names is None,
        ref=ref,
    )


def _served(headers: Headers, withheld: Sequence[bytes], coding: str) -> Headers:
    """Return the fields a hit repeats: not those that a qualified no-cache withholds (section 5.2.2.4)."""
    decoded = (b"content-encoding", b"content-md5", b"content-digest") if coding else ()
    return without(end_to_end(headers), HOP_BY_HOP | NOT_SERVED | frozenset((*withheld, *decoded)))


def _last_modified(lines: Sequence[bytes], time: int) -> int | None:
    """Return the instant of a Last-Modified that can be used as a validator: one line, one date."""
    return dates.parse(lines[0], time) if len(lines) == 1 else None
