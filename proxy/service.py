"""What the addon's hooks speak to: the parts of the cache, put together and taken apart again."""

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Awaitable

from mitmproxy import http

from proxy import control, freeing, refetching
from proxy.archive import Archive
from proxy.border import Border
from proxy.caching import Policy, via
from proxy.entry import Entry
from proxy.exchange import Exchange, begin
from proxy.feed import Feed
from proxy.flights import Flights
from proxy.holdings import Holdings
from proxy.links import Link, ProcessLink, ThreadLink
from proxy.losses import Losses
from proxy.memory import Memory
from proxy.metrics import Metrics
from proxy.operations import Limits, Settled
from proxy.passing import Passing, frame
from proxy.reader import Reader
from proxy.receiving import Receiving
from proxy.revalidating import Revalidating
from proxy.serving import Serving
from proxy.upkeep import chores_of
from proxy.upstream import reader_of
from proxy.views.negotiation import ViewRequest, view_request_of
from proxy.views.responses import is_html
from proxy.views.serving import Views
from settings import SPECS, Settings, data_directory, default_store
from store.base import Store, StoreError
from store.opening import open_store

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 30.0
"""How long the queue is written out for when the proxy ends."""

USES_SECONDS = 30
"""How often the store is told which pages were used."""

DEADLINE_SECONDS = 2.0
"""How long a look-up may take before the origin is asked instead."""

OFFLINE_DEADLINE_SECONDS = 10.0
"""The same where there is nobody else to ask."""

FREED_BYTES = 32 << 20
"""Bytes of large bodies that have passed before the system is given back what they took."""

POLL_SECONDS = 1.0
"""How often the store is asked whether another process has purged it."""


def policy_of(settings: Settings) -> Policy:
    """Return what the settings say to the rules of caching."""
    return Policy(
        heuristic_fraction=settings.heuristic_fraction,
        heuristic_max_seconds=settings.heuristic_max_seconds,
        cookies_ignored=settings.cookies_ignored,
        never_cache=settings.never_cache,
        targeted_cache_control=settings.targeted_cache_control,
        drop_parameters=settings.drop_parameters,
        sort_query=settings.sort_query,
    )


class Service:
    """A cache of one process over one store. Making one opens the store, and raises StoreError when it cannot.

    `start` belongs to the running event loop, `close` may be called from anywhere after it.
    """

    def __init__(self, settings: Settings, metrics: Metrics | None = None) -> None:
        self.settings = settings
        self.mode = settings.mode
        self.insecure = False
        self.policy = policy_of(settings)
        self.metrics = metrics or Metrics()
        self.losses = Losses(self.metrics)
        self.limits = Limits(settings.max_body_bytes, settings.max_decoded_ratio)
        if settings.store == default_store():
            data_directory().mkdir(parents=True, exist_ok=True)
        self.store: Store = open_store(settings.store, sites=settings.site_of)
        deadline = OFFLINE_DEADLINE_SECONDS if settings.mode == "offline" else DEADLINE_SECONDS
        self.reader = Reader(self.store, self.metrics, deadline_seconds=deadline)
        self.holdings = Holdings(
            self.reader, Memory(settings.memory_bytes, self.metrics), self.losses, self.limits, self.policy
        )
        self.archive = Archive(self.holdings, self.policy, self.metrics, serve_private=settings.serve_private)
        self.flights = Flights()
        self.border = Border(settings)
        self.receiving = Receiving(self.holdings, self.policy, self.losses)
        self.passing = Passing(self.receiving, self.policy, settings.max_body_bytes, settings.queue_bytes)
        revalidating = Revalidating(self.holdings, self.receiving, self.flights, self.policy, self.metrics)
        self.serving = Serving(
            self.holdings,
            revalidating,
            self.flights,
            self.policy,
            self.metrics,
            serve_private=settings.serve_private,
            collapse_seconds=settings.collapse_seconds,
            name_us=settings.via,
        )
        self.views = Views(settings, self.policy, self.reader, self.metrics)
        self.feed: Feed | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._poll: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        """Whether requests are served and the store answers."""
        return self.feed is not None and self.reader.well

    def start(self) -> None:
        """Begin to take captures."""
        self._loop = asyncio.get_running_loop()
        self.border.watch(self._loop)
        self.feed = Feed(
            self._link,
            self._settled,
            self.losses,
            self.metrics,
            max_bytes=self.settings.queue_bytes,
            max_entries=self.settings.queue_entries,
        )
        self.holdings.attach(self.feed)
        self._poll = self._loop.create_task(self._heed())
        self.views.start()

    def close(self) -> None:
        """Write out what is queued, and let go of everything. Waits for that."""
        if self._poll is not None:
            self._poll.cancel()
        self.views.close()
        if self.feed is not None:
            self.feed.close(DRAIN_SECONDS)
        self.holdings.close()
        self.reader.close()
        if self.reader.idle:  # a thread that hangs in the database would be pulled the ground from under
            with contextlib.suppress(Exception):
                self.store.close()

    def begin(self, flow: http.HTTPFlow) -> Exchange | None:
        """Note that a request begins; None when it is answered already, because it asked for what there is not."""
        asked = control.taken(flow)
        mode, view = self.mode, ""
        try:
            if asked:
                mode = control.chosen(asked, "mode", mode, SPECS["mode"].metadata["choices"])
                view = control.chosen(asked, "view", "", SPECS["view"].metadata["choices"]) if "view" in asked else ""
        except ValueError as exc:
            flow.response = control.sentence(400, b"Bad Request", str(exc))
            return None
        self.views.negotiate(flow, view)
        # A proxy that is offline stays offline, whoever asks.
        return begin(flow, "offline" if self.mode == "offline" else mode, self.policy, insecure=self.insecure)

    def may_be_at_once(self, exchange: Exchange) -> bool:
        """Tell whether a request can be looked at without waiting for anything."""
        return exchange.request.method != "PURGE" and not self.border.asks and not self.archive.is_asked(exchange)

    async def from_archive(self, flow: http.HTTPFlow, exchange: Exchange) -> bool:
        """Answer a request for a page at a time; tell whether it was one, and the page is kept."""
        try:
            return self.archive.is_asked(exchange) and await self.archive.answer(flow, exchange)
        except StoreError as exc:
            self.serving.refuse(flow, exchange, f"The store does not answer: {exc}")
            return True

    async def purge(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """Answer a PURGE: forget what is kept under its URL, for clients that are trusted."""
        exchange.answered, exchange.result = True, "bypass"
        if not control.is_trusted(flow):
            flow.response = control.sentence(403, b"Forbidden", "PURGE is for clients on the proxy's own machine.")
            return
        self.flights.leave(exchange.key)
        view = await self.holdings.look_up(exchange.key)
        for url in {exchange.request.url, *(entry.capture.url for entry in view.entries)}:
            self.holdings.purge(url, self.holdings.instant(time.time()))
        if view.entries:
            flow.response = control.sentence(200, b"OK", f"{exchange.request.url} is purged.")
        else:
            flow.response = control.sentence(404, b"Not Found", f"{exchange.request.url} is not kept.")

    def refetch(self, url: str, wait_seconds: float) -> str:
        """Fetch a page anew, from another thread than the loop's; return in a sentence what came of it.

        What takes longer than `wait_seconds` goes on by itself.
        """
        if self._loop is None or self.settings.proxy_mode.startswith("reverse"):
            return "This proxy fetches nothing by itself."
        return refetching.refetch(self._loop, url, self.mode, wait_seconds)

    def refuses(self, address: tuple[str, int] | None) -> str:
        """Return why no connection may be opened to an address; "" when one may."""
        if self.mode == "offline":
            return "the proxy is in offline mode"
        return self.border.refusal(address)

    def stream(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """Let the body of an answer go to the client as it comes, where that is right."""
        response = flow.response
        exchange.read_by = reader_of(flow)
        if response is None:
            return
        wanted = view_request_of(flow)
        viewed = wanted is not None and (is_html(response.headers.fields) or bool(wanted.conditions))
        if not self.passing.begin(response, exchange, viewed=viewed):
            return
        if exchange.tee is None:
            self.land(exchange, None, answered=True)
        self.views.at_once(flow, exchange, None)
        self._sign(flow, exchange)

    def break_off(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """Let a client see that an origin broke off, as far as its protocol can say that; nothing is kept."""
        exchange.result = "error"
        self.land(exchange, None, answered=False)
        if exchange.streamed:
            flow.kill()
        else:
            flow.response = control.sentence(502, b"Bad Gateway", "The origin broke off in the middle of its answer.")
        self.count(exchange)

    def finish(self, flow: http.HTTPFlow, exchange: Exchange) -> Awaitable[None] | None:
        """Put the last touch to an answer, and count it; what is returned is to be waited for."""
        wanted = view_request_of(flow)
        if not self.views.at_once(flow, exchange, wanted):
            assert wanted is not None
            return self._finish(flow, exchange, wanted)
        self._finished(flow, exchange)
        return None

    async def _finish(self, flow: http.HTTPFlow, exchange: Exchange, wanted: ViewRequest) -> None:
        await self.views.give(flow, exchange, wanted)
        self._finished(flow, exchange)

    def _finished(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        self._sign(flow, exchange)
        self.count(exchange)

    def _sign(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """Name us in an answer, if that is wanted, and frame it for the client."""
        if (response := flow.response) is not None:
            if self.settings.via:
                response.headers.fields = (*response.headers.fields, (b"Via", via(response.data.http_version)))
            frame(flow.request, response, streamed=exchange.streamed)

    def land(self, exchange: Exchange, entry: Entry | None, *, answered: bool) -> None:
        """Tell those who wait for an exchange's answer what came of it."""
        if exchange.tee is not None:
            exchange.tee.release()
        if exchange.flight is not None:
            self.flights.land(exchange.flight, entry, answered=answered)

    def count(self, exchange: Exchange) -> None:
        """Count an answered request."""
        self.metrics.tally.request(exchange.result, time.perf_counter() - exchange.started)

    def _link(self) -> Link:
        if self.settings.store == "memory:":
            return ThreadLink(self.store, self.limits, chores_of(self.settings))
        return ProcessLink(self.settings.store, self.settings.site_of, self.limits, chores_of(self.settings))

    def _settled(self, settled: list[Settled]) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody looks any more
            self._loop.call_soon_threadsafe(self.holdings.settled, settled)

    async def _heed(self) -> None:
        for second in itertools.count(1):
            await asyncio.sleep(POLL_SECONDS)
            await self.holdings.heed_purges()
            if self.passing.room.freed > FREED_BYTES:
                self.passing.room.freed = 0
                await asyncio.to_thread(freeing.give_back)
            if second % USES_SECONDS == 0 and self.settings.max_store_bytes + self.settings.max_site_bytes:
                self.holdings.tell_uses(int(time.time()))
