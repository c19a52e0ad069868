"""How a request is answered: from what is at hand, from the store, by the origin, or not at all.

`at_once` answers hot pages without giving up the event loop; everything else goes through `look_up`.
"""

import time

from mitmproxy import http

from proxy import answer
from proxy.caching import Action, Decision, Policy, bypasses, cache_status, conditional, decide, nearest
from proxy.entry import Entry
from proxy.exchange import Exchange, hop_free
from proxy.holdings import Holdings, View
from proxy.metrics import Metrics
from store.base import StoreError

_HIT = cache_status(hit=True)

_OFFLINE = "The proxy is in offline mode: it answers from what is kept, and fetches nothing. "
_MISSING = "This page is not kept."
_METHOD = "Only GET and HEAD can be answered so."
_STORE = "The store does not answer: "
_ONLY_IF_CACHED = "The client asked for a kept page only, and there is none that may be used."

_MISS = Decision(Action.FORWARD, None, "uri-miss")
_BYPASS = Decision(Action.BYPASS, None, "bypass")
_METHOD_BYPASS = Decision(Action.BYPASS, None, "method")


class Serving:
    """Answers requests, or sends them on, as the mode and the rules of caching say."""

    def __init__(self, holdings: Holdings, policy: Policy, metrics: Metrics, *, serve_private: bool) -> None:
        self._holdings = holdings
        self._policy = policy
        self._metrics = metrics
        self._serve_private = serve_private

    def at_once(self, flow: http.HTTPFlow, exchange: Exchange) -> bool:
        """Answer, or send on, with what is at hand; tell whether that was possible."""
        if (decision := self._unasked(exchange)) is not None:
            self._act(flow, exchange, decision)
            return True
        view = self._holdings.at_hand(exchange.key)
        if view is None:
            return False
        decision = self._decide(exchange, view)
        if decision.action is Action.HIT:
            entry = entry_of(decision)
            coding = answer.coding_for(entry, exchange.request)
            body = entry.forms.get(coding)
            if body is None:
                return False
            self._hit(flow, exchange, entry, coding, body, view.source)
            return True
        if view.whole:
            self._act(flow, exchange, decision)
        return view.whole

    async def look_up(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """Answer from the store, or send the request on, or say that it cannot be answered."""
        try:
            view = self._holdings.at_hand(exchange.key)
            decision = self._decide(exchange, view) if view is not None else _MISS
            if view is None or not (view.whole or decision.action is Action.HIT):
                view = await self._holdings.look_up(exchange.key)
                decision = self._decide(exchange, view)
            if decision.action is Action.HIT:
                entry = entry_of(decision)
                coding, body = await self.body(entry, exchange)
                self._hit(flow, exchange, entry, coding, body, view.source)
                return
        except StoreError as exc:
            exchange.detail = "store-unavailable"
            if exchange.mode == "offline":
                self.refuse(flow, exchange, f"{_OFFLINE}{_STORE}{exc}")
                return
            decision = _MISS
        self._act(flow, exchange, decision)

    async def body(self, entry: Entry, exchange: Exchange) -> tuple[str, bytes]:
        """Return the coding for the client and the body in it. Raises StoreError."""
        coding = answer.coding_for(entry, exchange.request)
        body = await self._holdings.form(entry, coding)
        if body is None:  # it was opaque: there is one form only, and now the entry knows
            coding = answer.coding_for(entry, exchange.request)
            body = entry.forms[coding]
        return coding, body

    def refuse(self, flow: http.HTTPFlow, exchange: Exchange, why: str) -> None:
        """Answer 504 and say why."""
        exchange.answered = True
        exchange.result = "unavailable"
        flow.response = answer.unavailable(
            exchange.request.url, why, exchange.detail or exchange.mode, head=exchange.head
        )

    def _unasked(self, exchange: Exchange) -> Decision | None:
        """Return the decision when it does not depend on what is kept."""
        if exchange.mode == "cache":
            return None
        request = exchange.request
        if request.method not in ("GET", "HEAD"):
            return _METHOD_BYPASS
        if request.has_body or bypasses(request.url, self._policy):
            return _BYPASS
        return _MISS if exchange.mode == "record" else None

    def _decide(self, exchange: Exchange, view: View) -> Decision:
        request = exchange.request
        if exchange.mode == "cache":
            candidates = [entry.stored for entry in view.entries if not entry.capture.private]
            return decide(candidates, request, time.time_ns() // 1000, self._policy)
        candidates = [entry.stored for entry in view.entries if self._serve_private or not entry.capture.private]
        chosen = nearest(candidates, request.headers)
        return Decision(Action.HIT, chosen) if chosen is not None else _MISS

    def _act(self, flow: http.HTTPFlow, exchange: Exchange, decision: Decision) -> None:
        """Send the request on, unless that is out of the question."""
        if exchange.mode == "offline":
            self.refuse(flow, exchange, _OFFLINE + (_MISSING if decision is _MISS else _METHOD))
            return
        if decision.action is Action.REFUSE:
            exchange.detail = "only-if-cached"
            self.refuse(flow, exchange, _ONLY_IF_CACHED)
            return
        exchange.fwd = decision.fwd or "stale"
        exchange.result = "bypass" if decision.action is Action.BYPASS else "miss"
        headers = hop_free(flow.request.headers.fields)
        if decision.action in (Action.VALIDATE, Action.REFRESH):
            exchange.asked = (entry_of(decision),)
            headers = conditional(headers, [entry.stored for entry in exchange.asked])
        elif exchange.mode in ("record", "replay") and decision.action is Action.FORWARD:
            headers = unconditional(headers)  # a 304 or a part would be nothing to keep
        flow.request.headers.fields = headers
        exchange.sent = time.time_ns() // 1000

    def _hit(
        self, flow: http.HTTPFlow, exchange: Exchange, entry: Entry, coding: str, body: bytes, source: str
    ) -> None:
        exchange.answered = True
        exchange.result = "hit"
        self._metrics.hits[source].inc()
        now = time.time_ns() // 1000
        flow.response = answer.full(entry, coding, body, exchange.request, now, _HIT)


def entry_of(decision: Decision) -> Entry:
    """Return the entry that a decision is about."""
    assert decision.stored is not None
    entry = decision.stored.ref
    assert isinstance(entry, Entry)
    return entry


_CONDITIONS = frozenset(
    (b"if-match", b"if-modified-since", b"if-none-match", b"if-range", b"if-unmodified-since", b"range")
)


def unconditional(headers: tuple[tuple[bytes, bytes], ...]) -> tuple[tuple[bytes, bytes], ...]:
    """Return a request's fields without those that ask for less than the whole answer."""
    return tuple(pair for pair in headers if pair[0].lower() not in _CONDITIONS)
