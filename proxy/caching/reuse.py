"""Whether a stored response answers a request (RFC 9111, section 4)."""

from collections.abc import Sequence

from proxy.caching.directives import Directives
from proxy.caching.model import SECOND, Action, Decision, Policy, Request, Stored
from proxy.caching.storing import bypasses
from proxy.caching.validation import has_validator
from proxy.caching.vary import matches, newest

ERRORS = frozenset((500, 502, 503, 504))
"""Status codes for which stale-if-error speaks (RFC 5861, section 4)."""

_BYPASS_METHOD = Decision(Action.BYPASS, None, "method")
_BYPASS = Decision(Action.BYPASS, None, "bypass")
_BYPASS_REQUEST = Decision(Action.BYPASS, None, "request")
_REFUSE = Decision(Action.REFUSE)
_URI_MISS = Decision(Action.FORWARD, None, "uri-miss")
_VARY_MISS = Decision(Action.FORWARD, None, "vary-miss")
_FORWARD_REQUEST = Decision(Action.FORWARD, None, "request")


def decide(candidates: Sequence[Stored], request: Request, now: int, policy: Policy) -> Decision:
    """Say how a request is answered, given the responses stored under its key, in any order."""
    if (
        request.plain
        and len(candidates) == 1
        and now < candidates[0].fresh_until
        and request.method == "GET"
        and not candidates[0].selecting
        and not request.has_body
        and not policy.never_cache
    ):
        return Decision(Action.HIT, candidates[0])  # the common case, decided in a microsecond
    if request.method not in ("GET", "HEAD"):
        return _BYPASS_METHOD
    if request.has_body or bypasses(request.url, policy):
        return _BYPASS  # a body may select the answer, and is in no key (RFC 9110, section 9.3.1)
    directives = request.directives
    decision = _choose(candidates, request, directives, now, policy)
    forwards = decision.action not in (Action.HIT, Action.REFRESH)
    return _REFUSE if forwards and directives.only_if_cached else decision


def _choose(
    candidates: Sequence[Stored], request: Request, directives: Directives, now: int, policy: Policy
) -> Decision:
    if directives.no_store:
        return _BYPASS_REQUEST
    if b"if-match" in request.special or b"if-unmodified-since" in request.special:
        return _FORWARD_REQUEST  # only the origin can evaluate them (section 4.3.2)
    if not candidates:
        return _URI_MISS
    language = policy.match_language
    variants = [one for one in candidates if matches(one, request.headers, match_language=language)]
    chosen = newest(variants)
    if chosen is None:
        return _VARY_MISS
    return _use(chosen, directives, now)


def _use(stored: Stored, directives: Directives, now: int) -> Decision:
    """Say whether the selected response may be used as it is (sections 4.2 and 5.2.1)."""
    forward = Action.VALIDATE if has_validator(stored) else Action.FORWARD
    if refused_by_client(stored, directives, now):
        return Decision(forward, stored, "request")
    if now < stored.fresh_until:
        return Decision(Action.HIT, stored)
    if may_be_stale(stored):
        staleness = stored.staleness(now)
        if directives.max_stale is not None and staleness <= directives.max_stale * SECOND:
            return Decision(Action.HIT, stored)
        window = stored.directives.stale_while_revalidate
        if window is not None and staleness <= window * SECOND:
            return Decision(Action.REFRESH, stored)
    return Decision(forward, stored, "stale")


def refused_by_client(stored: Stored, directives: Directives, now: int) -> bool:
    """Tell whether the client wants something fresher (sections 5.2.1.1, 5.2.1.3, 5.2.1.4).

    `max-age=0`, which a browser's reload sends, does not count against an immutable response that is fresh; a
    plain no-cache does (RFC 8246, section 2.1).
    """
    if directives.no_cache:
        return True
    age = stored.age(now)
    if directives.max_age is not None and age > directives.max_age * SECOND:
        kept = directives.max_age == 0 and stored.directives.immutable and now < stored.fresh_until
        if not kept and not _tolerated(stored, directives, age):
            return True
    return directives.min_fresh is not None and stored.lifetime - age < directives.min_fresh * SECOND


def _tolerated(stored: Stored, directives: Directives, age: int) -> bool:
    """Tell whether max-stale lifts the client's own max-age (section 5.2.1.1: "unless max-stale is also present")."""
    if directives.max_stale is None or directives.max_age is None or not may_be_stale(stored):
        return False
    return age <= (directives.max_age + directives.max_stale) * SECOND


def may_be_stale(stored: Stored) -> bool:
    """Tell whether nothing forbids to use a response after its lifetime (section 4.2.4)."""
    said = stored.directives
    forbidden = said.no_cache or said.must_revalidate or said.proxy_revalidate or said.s_maxage is not None
    return not forbidden and not stored.invalid


def usable_on_error(stored: Stored, request: Request, now: int, policy: Policy, status: int | None = None) -> bool:
    """Tell whether a stale response may stand in for an origin that answers with `status`, or not at all (None).

    stale-if-error of the response or the request opens a window (RFC 5861, section 4). Without one, a cache that
    is disconnected may use what it has (RFC 9111, section 4.2.4), here for `disconnected_stale_seconds`.
    """
    if not may_be_stale(stored) or (status is not None and status not in ERRORS):
        return False
    asked = request.directives
    if asked.no_cache or asked.no_store:
        return False
    windows = [window for window in (stored.directives.stale_if_error, asked.stale_if_error) if window is not None]
    if not windows and status is None:
        windows = [policy.disconnected_stale_seconds]
    return bool(windows) and stored.staleness(now) <= max(windows) * SECOND
