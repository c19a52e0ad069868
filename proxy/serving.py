"""How a request is answered: from what is at hand, from the store, by the origin, or not at all.

`at_once` answers hot pages without giving up the event loop; everything else goes through `look_up`.
"""

import asyncio
import time

from mitmproxy import http

from proxy import answer
from proxy.caching import (
    Action,
    Decision,
    Policy,
    bypasses,
    cache_status,
    decide,
    may_wait,
    nearest,
    shares,
    ttl_seconds,
    via,
)
from proxy.entry import Entry, referred
from proxy.exchange import Exchange, hop_free, unconditional
from proxy.flights import Flight, Flights
from proxy.holdings import Holdings, View
from proxy.metrics import Metrics
from proxy.revalidating import Revalidating
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

    def __init__(
        self,
        holdings: Holdings,
        revalidating: Revalidating,
        flights: Flights,
        policy: Policy,
        metrics: Metrics,
        *,
        serve_private: bool,
        collapse_seconds: float,
        name_us: bool,
    ) -> None:
        self._holdings = holdings
        self._revalidating = revalidating
        self._flights = flights
        self._policy = policy
        self._metrics = metrics
        self._serve_private = serve_private
        self._collapse_seconds = collapse_seconds
        self._name_us = name_us

    def at_once(self, flow: http.HTTPFlow, exchange: Exchange) -> bool:
        """Answer, or send on, with what is at hand; tell whether that was possible."""
        if (decision := self._unasked(exchange)) is not None:
            self._act(flow, exchange, decision)
            return True
        view = self._holdings.at_hand(exchange.key)
        if view is None:
            return False
        decision = self._decide(exchange, view)
        if decision.action is Action.HIT or decision.action is Action.REFRESH:
            entry = entry_of(decision)
            coding = answer.coding_for(entry, exchange.request)
            body = entry.forms.get(coding)
            if body is None:
                return False
            self._hit(flow, exchange, decision, coding, body, view.source)
            return True
        if not view.whole or decision.stored is not None or self._flight_for(exchange, decision):
            return False
        self._act(flow, exchange, decision)
        return True

    async def look_up(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """Answer from the store, or by the origin, alone or with others, or say that it cannot be answered."""
        deadline = time.monotonic() + self._collapse_seconds
        while True:
            decision, source = await self._considered(exchange)
            flight = self._flight_for(exchange, decision)
            if flight is None or time.monotonic() >= deadline:
                break
            landed, entry = await self._wait(flight, deadline)
            if entry is not None and self._shares(entry, exchange):
                exchange.result = "collapsed"
                status = cache_status(fwd=decision.fwd, collapsed=True)
                flow.response = await self._revalidating.made(entry, exchange, status)
                return
            if landed and (entry is not None or self._flights.apart(exchange.key, time.monotonic())):
                break
        try:
            if decision.action in (Action.HIT, Action.REFRESH):
                coding, body = await self._revalidating.body(entry_of(decision), exchange)
                self._hit(flow, exchange, decision, coding, body, source)
                return
            if decision.stored is not None and decision.action in (Action.VALIDATE, Action.FORWARD):
                exchange.fwd = decision.fwd
                if await self._revalidating.validate(flow, exchange, entry_of(decision)):
                    return
                decision = Decision(Action.FORWARD, None, decision.fwd)
        except StoreError as exc:
            decision = self._without_store(flow, exchange, exc)
        if flow.response is None:
            self._act(flow, exchange, decision)

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

    async def _considered(self, exchange: Exchange) -> tuple[Decision, str]:
        """Return what to do, and where what is kept was found; the store is asked when that can change anything."""
        view = self._holdings.at_hand(exchange.key)
        decision = self._decide(exchange, view) if view is not None else _MISS
        if view is None or not (view.whole or decision.action in (Action.HIT, Action.REFRESH)):
            try:
                view = await self._holdings.look_up(exchange.key)
            except StoreError as exc:
                exchange.detail = "store-unavailable"
                exchange.failure = str(exc)
                return _MISS, ""
            decision = self._decide(exchange, view)
        exchange.considered = view.entries
        return decision, view.source

    def _without_store(self, flow: http.HTTPFlow, exchange: Exchange, exc: StoreError) -> Decision:
        """Return what to do when what is kept cannot be read."""
        flow.response = None
        exchange.answered = False
        exchange.asked = ()
        exchange.detail, exchange.failure = "store-unavailable", str(exc)
        return _MISS

    def _decide(self, exchange: Exchange, view: View) -> Decision:
        request = exchange.request
        if exchange.mode == "cache":
            candidates = [entry.stored for entry in view.entries if not entry.capture.private]
            return decide(candidates, request, time.time_ns() // 1000, self._policy)
        candidates = [entry.stored for entry in view.entries if self._serve_private or not entry.capture.private]
        chosen = nearest(candidates, request.headers)
        return Decision(Action.HIT, chosen) if chosen is not None else _MISS

    def _flight_for(self, exchange: Exchange, decision: Decision) -> Flight | None:
        """Return the fetch that a request may wait for instead of going on itself."""
        if decision.action not in (Action.FORWARD, Action.VALIDATE) or exchange.mode == "offline":
            return None
        flight = self._flights.of(exchange.key)
        if flight is None or not self._collapses(exchange):
            return None
        return flight

    def _collapses(self, exchange: Exchange) -> bool:
        if exchange.mode == "record" or not self._collapse_seconds:
            return False
        return may_wait(exchange.request, self._policy) and not self._flights.apart(exchange.key, time.monotonic())

    async def _wait(self, flight: Flight, deadline: float) -> tuple[bool, Entry | None]:
        """Wait for a fetch; return whether it has landed, and with what."""
        try:
            seconds = max(0.0, deadline - time.monotonic())
            return True, await asyncio.wait_for(asyncio.shield(flight.landed), seconds)
        except TimeoutError:
            self._flights.land(flight, None, answered=False)  # newcomers need not wait as long again
            return False, None

    def _shares(self, entry: Entry, exchange: Exchange) -> bool:
        if exchange.mode == "replay":
            return True
        return shares(entry.stored, exchange.request, time.time_ns() // 1000, self._policy)

    def _act(self, flow: http.HTTPFlow, exchange: Exchange, decision: Decision) -> None:
        """Send the request on, unless that is out of the question."""
        if exchange.mode == "offline":
            if exchange.failure:
                self.refuse(flow, exchange, f"{_OFFLINE}{_STORE}{exchange.failure}")
            else:
                self.refuse(flow, exchange, _OFFLINE + (_MISSING if decision is _MISS else _METHOD))
            return
        if decision.action is Action.REFUSE:
            exchange.detail = "only-if-cached"
            self.refuse(flow, exchange, _ONLY_IF_CACHED)
            return
        exchange.fwd = decision.fwd
        exchange.result = "bypass" if decision.action is Action.BYPASS else "miss"
        headers = hop_free(flow.request.headers.fields)
        if decision.action is Action.FORWARD:
            if exchange.mode != "cache":
                headers = unconditional(headers)  # a 304 or a part would be nothing to keep
            if self._collapses(exchange) and self._flights.of(exchange.key) is None:
                exchange.flight = self._flights.begin(exchange.key)
        if self._name_us:
            headers = (*headers, (b"Via", via(flow.request.data.http_version)))
        flow.request.headers.fields = headers
        exchange.sent = time.time_ns() // 1000

    def _hit(
        self, flow: http.HTTPFlow, exchange: Exchange, decision: Decision, coding: str, body: bytes, source: str
    ) -> None:
        entry = entry_of(decision)
        exchange.answered = True
        exchange.result = "hit"
        exchange.shared = not entry.capture.private
        self._metrics.tally.hits[source] += 1
        self._holdings.use(exchange.key)
        now = time.time_ns() // 1000
        status = _HIT
        if exchange.mode == "cache" and now >= entry.stored.fresh_until:
            exchange.result = "stale"
            status = cache_status(hit=True, ttl=ttl_seconds(entry.stored, now))
        flow.response = answer.full(entry, coding, body, exchange.request, now, status)
        if decision.action is Action.REFRESH:
            self._revalidating.refresh(flow, exchange, entry)


def entry_of(decision: Decision) -> Entry:
    """Return the entry that a decision is about."""
    assert decision.stored is not None
    return referred(decision.stored)
