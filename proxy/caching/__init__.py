"""HTTP caching (RFC 9111) as pure functions; the time is an argument, in microseconds since the epoch.

A request's way, with the names to call:

1. `Request(method, url, headers, has_body)`, where `url` is `key_of(scheme, host, port, target, policy)`.
2. `decide(candidates, request, now, policy)` with the `Stored` values kept under that key: a `Decision`.
3. HIT, REFRESH: `answer(stored, request, size, now, coding)`, with the `coding_for` the client. REFRESH fetches
   with `refreshing(request.headers, stored)` besides.
4. VALIDATE: forward with `conditional(request.headers, [stored])`. A 304 gives
   `freshen(stored, request, response, policy)`, whose `headers` and times are to be kept and which answers the
   client as a hit does. On failure see `usable_on_error`. A 200 to a HEAD: see `head_agrees`.
5. Otherwise `judge(request, response, policy)` says whether the response may be stored,
   `selecting_fields(request.headers, response.headers)` which request fields to keep with it (`Capture.vary`), and
   `remember(response, selecting, policy)` makes a `Stored` of it. `may_wait` and `shares`: one fetch for many.
6. `invalidated(request, response)` are the URLs that an unsafe request invalidates; `key_of_url(url, policy)` makes
   the key of one. `end_to_end` takes the fields of a connection away before anything is forwarded.
"""

from proxy.caching.answering import Answer, answer
from proxy.caching.collapsing import may_wait, shares
from proxy.caching.entry import freshen, remember
from proxy.caching.fields import end_to_end
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
from proxy.caching.negotiation import coding_for
from proxy.caching.reuse import decide, usable_on_error
from proxy.caching.status import cache_status, ttl_seconds, via
from proxy.caching.storing import bypasses, judge
from proxy.caching.validation import conditional, head_agrees, refreshing, selected, updated
from proxy.caching.vary import nearest, selecting_fields

__all__ = [
    "SECOND",
    "Action",
    "Answer",
    "Decision",
    "Judgement",
    "Keeping",
    "Policy",
    "Request",
    "Response",
    "Stored",
    "answer",
    "bypasses",
    "cache_status",
    "coding_for",
    "conditional",
    "decide",
    "end_to_end",
    "freshen",
    "head_agrees",
    "invalidated",
    "judge",
    "key_of",
    "key_of_url",
    "may_wait",
    "nearest",
    "refreshing",
    "remember",
    "selected",
    "selecting_fields",
    "shares",
    "ttl_seconds",
    "updated",
    "usable_on_error",
    "via",
]
