"""What is made of an origin's answer: kept or passed, and marked for the client."""

import time

from mitmproxy import http

from blocks.model import Capture
from proxy.caching import (
    Judgement,
    Keeping,
    Policy,
    Response,
    cache_status,
    head_agrees,
    invalidated,
    judge,
    key_of_url,
    selecting_fields,
)
from proxy.caching.fields import values
from proxy.entry import Entry
from proxy.exchange import Exchange, hop_free
from proxy.freshening import freshened
from proxy.holdings import Holdings
from proxy.losses import Losses


class Receiving:
    """Takes what origins answer. Nothing here waits."""

    def __init__(self, holdings: Holdings, policy: Policy, losses: Losses) -> None:
        self._holdings = holdings
        self._policy = policy
        self._losses = losses

    def receive(self, received: http.Response, exchange: Exchange) -> Entry | None:
        """Keep an answer when that is right, and mark it; return the entry when others may be given it."""
        response = self.response_of(received, exchange)
        if response.status == 101:
            return None
        self.invalidate(response, exchange)
        if exchange.head:
            self._compare(exchange, response)
        entry, accepted = self._keep(received, exchange, response)
        status = cache_status(
            fwd=exchange.fwd,
            fwd_status=response.status if exchange.asked else None,
            stored=accepted,
            detail=exchange.detail,
        )
        mark(received, status)
        return entry if entry is not None and not entry.capture.private else None

    def response_of(self, received: http.Response, exchange: Exchange, beginning: bytes = b"") -> Response:
        """Return an answer in a form that the rules understand, with an instant of its own; `beginning` stands for
        that of a body which is not there."""
        instant = self._holdings.instant(received.timestamp_start or time.time())
        fields = received.headers.fields
        beginning = (received.raw_content or beginning)[:512]
        if values(fields, b"content-encoding"):
            beginning = b""
        return Response(
            received.status_code,
            fields,
            min(exchange.sent, instant),
            instant,
            verified=exchange.verified,
            beginning=beginning,
        )

    def invalidate(self, response: Response, exchange: Exchange) -> None:
        """Let an answer to a request that changes something invalidate what is kept (RFC 9111, section 4.4)."""
        for url in invalidated(exchange.request, response):
            if (key := key_of_url(url, self._policy)) is not None:
                self._holdings.invalidate(key, response.time)

    def _compare(self, exchange: Exchange, response: Response) -> None:
        """Let the answer to a HEAD freshen or invalidate what is kept (RFC 9111, section 4.3.5)."""
        view = self._holdings.at_hand(exchange.key)
        for entry in view.entries[:1] if view is not None else ():
            agrees = head_agrees(entry.stored, response)
            if agrees:
                freshened(self._holdings, entry, exchange.request, response, self._policy)
            elif agrees is False:
                self._holdings.invalidate(exchange.key, response.time)

    def _keep(self, received: http.Response, exchange: Exchange, response: Response) -> tuple[Entry | None, bool]:
        """Keep an answer if the mode and the rules allow; return its entry, and whether the store will have it."""
        judgement = judge(exchange.request, response, self._policy)
        exchange.shared = judgement.keeping is Keeping.SHARED
        if not self.keeps(judgement, exchange):
            return None, False
        if received.raw_content is None:
            self.lost((exchange.tee.why_not if exchange.tee is not None else "") or "too_large", exchange)
            return None, False
        request, recent = exchange.request, self._holdings.recent
        if recent.was_purged(request.url, exchange.sent):
            return None, False
        kept = self._holdings.keep(
            Capture(
                url=request.url,
                time=response.time,
                status=response.status,
                headers=response.headers,
                body=received.raw_content,
                reason=received.data.reason,
                http_version=received.data.http_version,
                request_time=response.request_time,
                key="" if exchange.key == request.url else exchange.key,
                vary=selecting_fields(request.headers, response.headers),
                private=judgement.keeping is Keeping.PRIVATE,
            )
        )
        if recent.was_invalidated(exchange.key, exchange.sent, response.time):
            self._holdings.invalidate(exchange.key, response.time)
        return kept

    def lost(self, reason: str, exchange: Exchange) -> None:
        """Count, and say, that an answer is not kept because its body is not there."""
        self._losses.report(reason, exchange.request.url)

    @staticmethod
    def keeps(judgement: Judgement, exchange: Exchange) -> bool:
        """Tell whether the mode keeps what the rules say this of."""
        if judgement.keeping is Keeping.PRIVATE:
            return exchange.mode in ("record", "replay")
        return judgement.keeping is Keeping.SHARED


def mark(response: http.Response, status: bytes) -> None:
    """Say in an origin's answer what the cache did, and take out what was for the connection to the origin."""
    fields = hop_free(response.headers.fields)
    if not values(fields, b"age"):
        fields = (*fields, (b"Age", b"0"))
    response.headers.fields = (*fields, (b"Cache-Status", status))
