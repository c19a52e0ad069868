"""HTTP caching (RFC 9111) as pure functions; the time is an argument, in microseconds since the epoch.

A request's way, with the names to call:

1. `Request(method, url, headers, has_body)`, where `url` is `key_of(scheme, host, port, target, policy)`.
2. `decide(candidates, request, now, policy)` with the `Stored` values kept under that key: a `Decision`.
3. HIT, REFRESH: answer with `decision.stored`.
4. VALIDATE: forward with `conditional(request.headers, [decision.stored])`. On 304, `updated(stored.headers,
   response.headers)` are the new fields, kept with the 304's times. On failure, `usable_on_error`.
5. Otherwise `judge(request, response, policy)` says whether the response may be stored,
   `selecting_fields(request.headers, response.headers)` which request fields to keep with it (`Capture.vary`), and
   `remember(response, selecting, policy)` makes a `Stored` of it.
6. `invalidated(request, response)` are the URLs that an unsafe request invalidates, each a key without settings:
   `key_of_url(url, policy)` makes the key of it.
"""

from proxy.caching.entry import remember
from proxy.caching.invalidation import invalidated
from proxy.caching.key import key_of, key_of_url
from proxy.caching.model import (
    SECOND,
    Action,
    Decision,
    Judgement,
    Keeping,
    Policy,
    Request,
    Response,
    Stored,
)
from proxy.caching.reuse import decide, usable_on_error
from proxy.caching.status import cache_status, ttl_seconds, via
from proxy.caching.storing import bypasses, judge
from proxy.caching.validation import conditional, head_agrees, selected, updated
from proxy.caching.vary import nearest, selecting_fields

__all__ = [
    "SECOND",
    "Action",
    "Decision",
    "Judgement",
    "Keeping",
    "Policy",
    "Request",
    "Response",
    "Stored",
    "bypasses",
    "cache_status",
    "conditional",
    "decide",
    "head_agrees",
    "invalidated",
    "judge",
    "key_of",
    "key_of_url",
    "nearest",
    "remember",
    "selected",
    "selecting_fields",
    "ttl_seconds",
    "updated",
    "usable_on_error",
    "via",
]
