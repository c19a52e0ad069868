"""Which requests may wait for one fetch and share its response (RFC 9111, section 4)."""

from proxy.caching import freshness
from proxy.caching.fields import index
from proxy.caching.model import Policy, Request, Stored
from proxy.caching.reuse import refused_by_client
from proxy.caching.storing import is_login
from proxy.caching.vary import matches


def may_wait(request: Request, policy: Policy) -> bool:
    """Tell whether a request may wait for an equal one that is under way.

    Only requests whose responses could be for anyone: waiting for a response that is one person's costs time and
    gains nothing.
    """
    if request.method != "GET" or request.has_body or not request.plain:
        return False
    special = request.special
    if b"authorization" in special:
        return False
    return b"cookie" not in special or not is_login(special[b"cookie"], policy.cookies_ignored)


def shares(stored: Stored, request: Request, now: int, policy: Policy) -> bool:
    """Tell whether a request that waited gets the response just stored, which a shared cache may store.

    A fresh one, or one that states no lifetime: the request was there before it, and the origin would hardly have
    answered two requests of one moment differently. Not one that asks to be validated each time.
    """
    if not matches(stored, request.headers, match_language=policy.match_language):
        return False
    if stored.invalid or stored.directives.no_cache or refused_by_client(stored, request.directives, now):
        return False
    if now < stored.fresh_until:
        return True
    fields = index(stored.headers)
    directives, is_targeted = freshness.control(fields, policy)
    return freshness.explicit(fields, directives, stored.time, is_targeted=is_targeted) is None
