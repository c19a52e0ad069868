"""From a response to a Stored: what can be worked out before a request asks for it (RFC 9111, sections 3, 4.2)."""

from collections.abc import Sequence
from dataclasses import replace

from blocks.model import Headers
from proxy.caching import dates, freshness, vary
from proxy.caching.fields import Index, end_to_end, index, without
from proxy.caching.model import Policy, Request, Response, Stored
from proxy.caching.negotiation import recoded
from proxy.caching.storing import personal
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


def freshen(stored: Stored, request: Request, response: Response, policy: Policy) -> Stored:
    """Return a stored response after a 304, or a HEAD that agrees, to `request` (sections 4.3.4 and 4.3.5).

    With `updated` fields and new times, as a rule. `stored` itself when the fields may be meant for the one who
    asked: they are for nobody else. Invalid and otherwise as it was when they forbid to keep it: then it is
    validated for every client from now on.
    """
    headers = updated(stored.headers, response.headers)
    said, fields = index(response.headers), index(headers)
    directives, _ = freshness.control(fields, policy)
    if personal(request, said, directives, policy):
        return stored
    named, known = vary.names(said), vary.names(fields)
    forbidden = directives.private or (directives.no_store and not directives.must_understand)
    if forbidden or named is None or known is None or not set(named) <= set(known):
        return replace(stored, invalid=True, fresh_until=0)
    renewed = Response(stored.status, headers, response.request_time, response.time)
    return remember(renewed, stored.vary, policy, coding=stored.coding, ref=stored.ref)
