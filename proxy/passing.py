"""Answers whose bodies go to the client as they come: those that nobody keeps, and those worth no waiting for.

By the head of an answer it is decided what becomes of it, because the head leaves before the body is there.
"""

from mitmproxy import http

from blocks.model import Headers
from proxy.caching import Keeping, Policy, cache_status, judge
from proxy.caching.fields import values
from proxy.exchange import Exchange
from proxy.receiving import Receiving, mark

AT_ONCE_BYTES = 1 << 20
"""Bodies of a known length up to this are sent when they are there whole: their parts would come together anyway."""

_ENDLESS = (b"text/event-stream", b"multipart/x-mixed-replace", b"application/grpc")
"""How the types of answers begin that may have no end. None of them is kept."""

_PAGE = b"<!doctype html>"


class Tee:
    """Collects the body of an answer that goes to the client as it comes, and has the header fields it came with."""

    def __init__(self, fields: Headers, max_bytes: int) -> None:
        self._fields, self._max_bytes = fields, max_bytes
        self._parts: list[bytes] | None = []
        self._size = 0

    def __call__(self, part: bytes) -> bytes:
        """Take a part, and give it on."""
        if self._parts is not None:
            self._parts.append(part)
            self._size += len(part)
            if self._size > self._max_bytes:
                self._parts = None
        return part

    def restore(self, response: http.Response) -> None:
        """Give a response what the origin sent; no body when it was too large to be collected."""
        response.headers.fields = self._fields
        response.raw_content = None if self._parts is None else b"".join(self._parts)


class Passing:
    """Lets bodies pass as they come."""

    def __init__(self, receiving: Receiving, policy: Policy, max_bytes: int) -> None:
        self._receiving = receiving
        self._policy = policy
        self._max_bytes = max_bytes

    def begin(self, received: http.Response, exchange: Exchange, *, viewed: bool) -> bool:
        """Let the body of an answer pass as it comes, where that is right; tell whether it does.

        `viewed` says that the client is to be given a view, which is made of the whole page.
        """
        if received.status_code < 200 or received.status_code == 304 or exchange.head:
            return False
        endless = received.stream or _is_endless(received.headers.fields)
        if viewed and not endless:
            return False
        response = self._receiving.response_of(received, exchange)
        judgement = judge(exchange.request, response, self._policy)
        kept = self._receiving.keeps(judgement, exchange)
        if kept and not endless:
            if _length(received.headers.fields) <= AT_ONCE_BYTES or not self._is_kept_as_page(received, exchange):
                return False
            received.stream = exchange.tee = Tee(received.headers.fields, self._max_bytes)
        else:
            self._receiving.invalidate(response, exchange)
            if received.stream and kept:
                self._receiving.too_large(exchange)
            exchange.shared = judgement.keeping is Keeping.SHARED
            received.stream = True
        exchange.streamed = True
        mark(received, cache_status(fwd=exchange.fwd, stored=exchange.tee is not None, detail=exchange.detail))
        return True

    def _is_kept_as_page(self, received: http.Response, exchange: Exchange) -> bool:
        """Tell whether an answer is kept whatever its body begins with."""
        response = self._receiving.response_of(received, exchange, beginning=_PAGE)
        return self._receiving.keeps(judge(exchange.request, response, self._policy), exchange)


def _is_endless(headers: Headers) -> bool:
    return any(value.strip().lower().startswith(_ENDLESS) for value in values(headers, b"content-type"))


def _length(headers: Headers) -> int:
    """Return how long a body is said to be; more than any when nothing is said."""
    lengths = values(headers, b"content-length")
    return int(lengths[0]) if lengths and lengths[0].isdigit() and len(lengths[0]) < 19 else 1 << 62
