"""Asking the origin whether what is kept still holds (RFC 9111, section 4.3), before or after the client's answer.

The question is a fetch of our own, so that what is kept can stand in for an origin that does not answer.
"""

import asyncio
import logging
import time

from mitmproxy import http

from proxy import answer
from proxy.caching import Policy, cache_status, conditional, selected, usable_on_error
from proxy.caching.validation import refreshing
from proxy.entry import Entry
from proxy.exchange import Exchange, hop_free, unconditional
from proxy.fetching import TooMuchError, fetch
from proxy.flights import Flight, Flights
from proxy.freshening import freshened
from proxy.holdings import Holdings
from proxy.metrics import Metrics
from proxy.receiving import Receiving

logger = logging.getLogger(__name__)

_GONE = "The origin does not answer, and the page that is kept is too old to stand in for it."


class Revalidating:
    """Validates entries: for a client that waits, or in the background."""

    def __init__(
        self, holdings: Holdings, receiving: Receiving, flights: Flights, policy: Policy, metrics: Metrics
    ) -> None:
        self._holdings = holdings
        self._receiving = receiving
        self._flights = flights
        self._policy = policy
        self._metrics = metrics
        self._tasks: set[asyncio.Task[None]] = set()

    async def validate(self, flow: http.HTTPFlow, exchange: Exchange, entry: Entry) -> bool:
        """Ask the origin about an entry and answer with it, or with what the origin has instead; False when that is
        so much that the request had better go on. Raises StoreError when the entry holds but cannot be read."""
        flight = self._flights.begin(exchange.key) if self._flights.of(exchange.key) is None else None
        shared: Entry | None = None
        received: http.Response | None = None
        exchange.asked, exchange.sent = (entry,), time.time_ns() // 1000
        try:
            plain = unconditional(hop_free(exchange.request.headers))
            received = await fetch(flow, conditional(plain, [entry.stored]))
            shared = await self._answer(flow, exchange, entry, received)
        except TooMuchError:
            exchange.asked = ()
        finally:
            if flight is not None:
                self._flights.land(flight, shared, answered=received is not None)
        return exchange.answered

    async def _answer(
        self, flow: http.HTTPFlow, exchange: Exchange, entry: Entry, received: http.Response | None
    ) -> Entry | None:
        """Answer the client; return the entry that others may be given as well."""
        status = received.status_code if received is not None else None
        if received is not None and status == 304:
            return await self._holds(flow, exchange, entry, received)
        now = time.time_ns() // 1000
        if usable_on_error(entry.stored, exchange.request, now, self._policy, status):
            exchange.result = "stale"
            said = cache_status(fwd=exchange.fwd, fwd_status=status, detail="stale-if-error")
            flow.response = await self.made(entry, exchange, said)
            return entry
        exchange.answered = True
        if received is None:
            exchange.result = "unavailable"
            flow.response = answer.unavailable(exchange.request.url, _GONE, "origin-unavailable", head=exchange.head)
            return None
        exchange.result = "miss"
        flow.response = received
        kept = self._receiving.receive(received, exchange)
        if kept is None and received.status_code < 500 and not exchange.head:
            self._holdings.invalidate(exchange.key, entry.stored.time)  # it was replaced by what may not be kept
        return kept

    async def _holds(
        self, flow: http.HTTPFlow, exchange: Exchange, entry: Entry, received: http.Response
    ) -> Entry | None:
        response = self._receiving.response_of(received, exchange)
        if selected([entry.stored], response) is None:
            logger.warning("%s: a 304 that is about nothing kept", exchange.request.url)
        stored = freshened(self._holdings, entry, exchange.request, response, self._policy)
        exchange.result = "revalidated"
        flow.response = await self.made(entry, exchange, cache_status(fwd=exchange.fwd, fwd_status=304, stored=stored))
        return None if entry.stored.invalid else entry

    async def made(self, entry: Entry, exchange: Exchange, status: bytes) -> http.Response:
        """Return the answer from an entry. Raises StoreError when its body cannot be read."""
        exchange.answered = True
        exchange.shared = not entry.capture.private
        coding, body = await self.body(entry, exchange)
        return answer.full(entry, coding, body, exchange.request, time.time_ns() // 1000, status)

    async def body(self, entry: Entry, exchange: Exchange) -> tuple[str, bytes]:
        """Return the coding for the client and the body in it. Raises StoreError."""
        coding = answer.coding_for(entry, exchange.request)
        body = await self._holdings.form(entry, coding)
        if body is None:  # it was opaque: there is one form only, and now the entry knows
            coding = answer.coding_for(entry, exchange.request)
            body = entry.forms[coding]
        return coding, body

    def refresh(self, flow: http.HTTPFlow, exchange: Exchange, entry: Entry) -> None:
        """Validate an entry in the background, unless that is under way (RFC 5861, section 3)."""
        if self._flights.of(exchange.key) is None:
            flight = self._flights.begin(exchange.key)
            task = asyncio.get_running_loop().create_task(self._refresh(flow, exchange, entry, flight))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _refresh(self, flow: http.HTTPFlow, exchange: Exchange, entry: Entry, flight: Flight) -> None:
        own = exchange.own(refreshing(hop_free(exchange.request.headers), entry.stored))
        own.asked = (entry,)
        shared: Entry | None = None
        received: http.Response | None = None
        try:
            received = await fetch(flow, own.request.headers, "GET")
            if received is None:
                return
            if received.status_code != 304:
                shared = self._receiving.receive(received, own)
                return
            response = self._receiving.response_of(received, own)
            freshened(self._holdings, entry, own.request, response, self._policy)
            shared = None if entry.stored.invalid else entry
        except TooMuchError:
            self._holdings.invalidate(exchange.key, entry.stored.time)  # whoever asks next sees it come
        except Exception:
            self._metrics.errors.inc()
            logger.exception("%s: not refreshed", exchange.request.url)
        finally:
            self._flights.land(flight, shared, answered=received is not None)
