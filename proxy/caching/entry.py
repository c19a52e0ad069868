"""From a response to a Stored: what can be worked out before a request asks for it (RFC 9111, sections 3, 4.2)."""

from collections.abc import Sequence

from blocks.model import Headers
from proxy.caching import dates, freshness, vary
from proxy.caching.fields import Index, end_to_end, index, without
from proxy.caching.model import Policy, Response, Stored
from proxy.caching.negotiation import recoded
from proxy.caching.validation import updated

NOT_SERVED = frozenset((b"age", b"content-length", b"set-cookie"))
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
    names = vary.selecting(fields, coding)
    unusable = invalid or directives.no_cache or names is None
    fresh_until = born + lifetime
    return Stored(
        status=response.status,
        headers=response.headers,
        served=_served(response, fields, directives.no_cache_fields, coding),
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


def _served(response: Response, fields: Index, withheld: Sequence[bytes], coding: str) -> Headers:
    """Return the fields a hit repeats: not those that a qualified no-cache withholds (section 5.2.2.4).

    A response that came without a Date gets that of its arrival (RFC 9110, section 6.6.1).
    """
    served = without(end_to_end(response.headers), NOT_SERVED.union(withheld))
    if b"date" not in fields:
        served += ((b"Date", dates.render(response.time)),)
    return recoded(served) if coding else served


def _last_modified(lines: Sequence[bytes], time: int) -> int | None:
    """Return the instant of a Last-Modified that can be used as a validator: one line, one date."""
    return dates.parse(lines[0], time) if len(lines) == 1 else None


def freshen(stored: Stored, response: Response, policy: Policy) -> Stored:
    """Return a stored response after a 304, or a HEAD that agrees, with `updated` fields and new times (4.3.4, 4.3.5).

    It comes back invalid when the new fields forbid to keep it: it may answer the client whose request brought
    them, nobody else.
    """
    headers = updated(stored.headers, response.headers)
    fields = index(headers)  # its Vary is the stored one
    directives, _ = freshness.control(fields, policy)
    kept_back = directives.private or (directives.no_store and not directives.must_understand)
    named, known = vary.names(index(response.headers)), vary.names(fields)
    withdrawn = kept_back or named is None or known is None or not set(named) <= set(known)
    renewed = Response(stored.status, headers, response.request_time, response.time)
    return remember(renewed, stored.vary, policy, coding=stored.coding, invalid=withdrawn, ref=stored.ref)
