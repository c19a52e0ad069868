"""Answers whose bodies go to the client as they come: those that nobody keeps, and those worth no waiting for.

By the head of an answer it is decided what becomes of it, because the head leaves before the body is there.
"""

from mitmproxy import http

from proxy.caching import Keeping, Policy, cache_status, judge
from proxy.exchange import Exchange
from proxy.extent import AT_ONCE_BYTES, ends_with_connection, is_endless, length
from proxy.receiving import Receiving, mark

_PAGE = b"<!doctype html>"


def frame(request: http.Request, response: http.Response, *, streamed: bool) -> None:
    """Let a client see where a body ends. Chunks say so, and that it has broken off; HTTP/1.0 does not know them, and
    the connection's end has to do (RFC 9112, sections 6.1 and 6.3)."""
    if request.http_version == "HTTP/1.0":
        response.headers.pop("Transfer-Encoding", None)
    elif (
        streamed
        and request.http_version == "HTTP/1.1"
        and response.status_code != 204
        and ends_with_connection(response.headers.fields)
    ):
        response.headers.fields = (*response.headers.fields, (b"Transfer-Encoding", b"chunked"))
        response.http_version = "HTTP/1.1"


class Room:
    """The memory for all bodies that are being collected on their way; `freed` is what they have let go of."""

    def __init__(self, n_bytes: int) -> None:
        self.left = n_bytes
        self.freed = 0


class Tee:
    """Collects the body of an answer that goes to the client as it comes, and has the head it came with.

    `why_not` is a label for why the body was given up: it is too large, or all of them together are.
    """

    def __init__(self, received: http.Response, max_bytes: int, room: Room) -> None:
        self._fields, self._http_version = received.headers.fields, received.http_version
        self._max_bytes, self._room = max_bytes, room
        self._parts: list[bytes] = []
        self._size = 0
        self.why_not = ""

    def __call__(self, part: bytes) -> bytes:
        """Take a part, and give it on."""
        if not self.why_not:
            if self._size + len(part) > self._max_bytes:
                self.give_up("too_large")
            elif len(part) > self._room.left:
                self.give_up("queue_full")
            else:
                self._parts.append(part)
                self._size += len(part)
                self._room.left -= len(part)
        return part

    def give_up(self, why: str) -> None:
        """Collect no more."""
        self.why_not = why
        self.release()

    def release(self) -> None:
        """Make room for others: what was collected is not needed any more."""
        self._parts.clear()
        self._room.left += self._size
        self._room.freed += self._size
        self._size = 0

    def restored(self, response: http.Response) -> http.Response:
        """Return what the origin sent, without a body when it was not collected; the response that the client is being
        given stays as it is."""
        whole = response.copy()
        whole.headers.fields, whole.http_version = self._fields, self._http_version
        whole.raw_content = None if self.why_not else b"".join(self._parts)
        self.release()
        return whole


class Passing:
    """Lets bodies pass as they come; what is collected of them takes `room_bytes` at most."""

    def __init__(self, receiving: Receiving, policy: Policy, max_bytes: int, room_bytes: int) -> None:
        self._receiving = receiving
        self._policy = policy
        self._max_bytes = max_bytes
        self.room = Room(room_bytes)

    def begin(self, received: http.Response, exchange: Exchange, *, viewed: bool) -> bool:
        """Let the body of an answer pass as it comes, where that is right; tell whether it does.

        `viewed` says that the client is to be given a view, which is made of the whole page.
        """
        if received.status_code < 200 or received.status_code == 304 or exchange.head:
            return False
        endless = received.stream or is_endless(received.headers.fields)
        if viewed and not endless:
            return False
        response = self._receiving.response_of(received, exchange)
        judgement = judge(exchange.request, response, self._policy)
        kept = self._receiving.keeps(judgement, exchange)
        if kept and not endless:
            n_bytes = length(received.headers.fields)
            comes_at_once = n_bytes is not None and n_bytes <= AT_ONCE_BYTES
            if comes_at_once or not self._is_kept_as_page(received, exchange):
                return False
            received.stream = exchange.tee = Tee(received, self._max_bytes, self.room)
        else:
            self._receiving.invalidate(response, exchange)
            if received.stream and kept:
                self._receiving.lost("too_large", exchange)
            exchange.shared = judgement.keeping is Keeping.SHARED
            received.stream = True
        exchange.streamed = True
        mark(received, cache_status(fwd=exchange.fwd, stored=exchange.tee is not None, detail=exchange.detail))
        return True

    def _is_kept_as_page(self, received: http.Response, exchange: Exchange) -> bool:
        """Tell whether an answer is kept whatever its body begins with."""
        response = self._receiving.response_of(received, exchange, beginning=_PAGE)
        return self._receiving.keeps(judge(exchange.request, response, self._policy), exchange)
