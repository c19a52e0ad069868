"""What is made of an origin's answer: kept, taken as a validation, or passed; and marked for the client."""

import logging
import time

from mitmproxy import http

from blocks.model import Capture
from proxy import answer
from proxy.caching import (
    Keeping,
    Policy,
    Response,
    cache_status,
    freshen,
    invalidated,
    judge,
    selected,
    selecting_fields,
)
from proxy.caching.fields import values
from proxy.entry import Entry
from proxy.exchange import Exchange, hop_free
from proxy.holdings import Holdings
from proxy.losses import Losses
from proxy.serving import Serving
from store.base import Freshening, StoreError

logger = logging.getLogger(__name__)


class Receiving:
    """Takes what origins answer. Nothing here waits, but for a body that a 304 has made usable again."""

    def __init__(self, holdings: Holdings, serving: Serving, policy: Policy, losses: Losses) -> None:
        self._holdings = holdings
        self._serving = serving
        self._policy = policy
        self._losses = losses

    def receive(self, flow: http.HTTPFlow, exchange: Exchange) -> Response | None:
        """Keep an answer when that is right, and mark it; or return it when it validates what is kept."""
        assert flow.response is not None
        response = self._response(flow, exchange)
        if response.status == 101:
            return None
        for url in invalidated(exchange.request, response):
            self._holdings.invalidate(url, response.time)
        if response.status == 304 and exchange.asked:
            return response
        kept = self._keep(flow, exchange, response)
        status = cache_status(
            fwd=exchange.fwd,
            fwd_status=response.status if exchange.asked else None,
            stored=kept,
            detail=exchange.detail,
        )
        mark(flow.response, status)
        return None

    async def validated(self, flow: http.HTTPFlow, exchange: Exchange, response: Response) -> None:
        """Let a 304 freshen what is kept, and answer with that (RFC 9111, section 4.3.4)."""
        chosen = selected([entry.stored for entry in exchange.asked], response)
        entry = chosen.ref if chosen is not None else None
        if not isinstance(entry, Entry):
            return
        new = freshen(entry.stored, exchange.request, response, self._policy)
        stored = self._holdings.freshen(entry, Freshening(new.headers, new.request_time, new.time, new.invalid))
        exchange.result = "revalidated"
        status = cache_status(fwd=exchange.fwd, fwd_status=304, stored=stored)
        try:
            coding, body = await self._serving.body(entry, exchange)
        except StoreError as exc:
            logger.warning("%s: validated, but its body cannot be read: %s", exchange.request.url, exc)
            exchange.detail = "store-unavailable"
            self._serving.refuse(flow, exchange, f"The page is kept, but cannot be read now: {exc}")
            return
        flow.response = answer.full(entry, coding, body, exchange.request, time.time_ns() // 1000, status)

    def _response(self, flow: http.HTTPFlow, exchange: Exchange) -> Response:
        assert flow.response is not None
        received = flow.response.timestamp_start or time.time()
        instant = self._holdings.instant(received)
        fields = flow.response.headers.fields
        return Response(
            flow.response.status_code, fields, min(exchange.sent, instant), instant, beginning=_beginning(flow)
        )

    def _keep(self, flow: http.HTTPFlow, exchange: Exchange, response: Response) -> bool:
        """Keep an answer if the mode and the rules allow; tell whether it is on its way to the store."""
        judgement = judge(exchange.request, response, self._policy)
        recording = exchange.mode in ("record", "replay")
        if judgement.keeping is Keeping.NEVER or (judgement.keeping is Keeping.PRIVATE and not recording):
            return False
        assert flow.response is not None
        body = flow.response.raw_content
        if body is None:
            self._losses.report("too_large", exchange.request.url)
            return False
        request = exchange.request
        _, accepted = self._holdings.keep(
            Capture(
                url=request.url,
                time=response.time,
                status=response.status,
                headers=response.headers,
                body=body,
                reason=flow.response.data.reason,
                http_version=flow.response.data.http_version,
                request_time=response.request_time,
                key="" if exchange.key == request.url else exchange.key,
                vary=selecting_fields(request.headers, response.headers),
                private=judgement.keeping is Keeping.PRIVATE,
            )
        )
        return accepted


def _beginning(flow: http.HTTPFlow) -> bytes:
    """Return the first bytes of the body where it is not coded."""
    assert flow.response is not None
    body = flow.response.raw_content
    if not body or values(flow.response.headers.fields, b"content-encoding"):
        return b""
    return body[:512]


def mark(response: http.Response, status: bytes) -> None:
    """Say in an origin's answer what the cache did, and take out what was for the connection to the origin."""
    fields = hop_free(response.headers.fields)
    if not values(fields, b"age"):
        fields = (*fields, (b"Age", b"0"))
    response.headers.fields = (*fields, (b"Cache-Status", status))
