"""What mitmproxy's connections do not do by themselves, added when the proxy starts.

Three things that origins and clients may do break an answer, or the memory, with mitmproxy alone: an HTTP/1 origin that
sends interim responses (`103 Early Hints`) or trailers, heads and trailers without an end, and an HTTP/2 client that
asks for much and takes nothing.
"""

import asyncio
import re
from collections.abc import Generator
from typing import Any
from weakref import WeakValueDictionary

from h11 import EndOfMessage, RemoteProtocolError
from h11._readers import ChunkedReader
from h11._receivebuffer import ReceiveBuffer
from mitmproxy.connection import Connection
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layers.http import HttpLayer, _http1
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import ResponseProtocolError
from mitmproxy.proxy.layers.http._http2 import Http2Server
from mitmproxy.proxy.server import ConnectionHandler

MOST_HEAD_BYTES = 1 << 20
"""A head, the size of a chunk or trailers that take more are an error of whoever sends them."""

MOST_WAITING_BYTES = 1 << 20
"""What of one answer may wait for an HTTP/2 client to take it before no more is read from the origin."""

MOST_SHARED_WAITING_BYTES = 64 << 20
"""The same where the connection to the origin carries other answers too, which then wait as well."""

LOOK_SECONDS = 0.05
"""How often it is looked whether such a client has taken something."""

Commands = Generator[commands.Command, Any, None]

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

_INTERIM = re.compile(rb"HTTP/1\.[01] 1(?!01)\d\d\b")

_to_clients: WeakValueDictionary[str, Http2Server] = WeakValueDictionary()
"""What speaks HTTP/2 with clients, by the client's id, for as long as their connections last."""

_read_head = _http1.Http1Client.read_headers
_read_request = _http1.Http1Server.read_headers
_begin_http2 = Http2Server.__init__
_drain = ConnectionHandler.drain_writers


def mend() -> None:
    """Let all connections of this process do it. Doing it twice changes nothing."""
    _http1.ChunkedReader = PlainChunks  # type: ignore[attr-defined]
    _http1.Http1Client.read_headers = _read_final_head  # type: ignore[method-assign]
    _http1.Http1Server.read_headers = _read_bounded_request  # type: ignore[method-assign]
    Http2Server.__init__ = _begin_noted_http2  # type: ignore[method-assign]
    ConnectionHandler.drain_writers = _drain_http2_too  # type: ignore[method-assign]


class PlainChunks(ChunkedReader):  # type: ignore[misc, unused-ignore]
    """Reads a chunked body and passes over its trailers, as a recipient may (RFC 9112, section 7.1.2)."""

    def __call__(self, buf: ReceiveBuffer) -> Any:
        event = super().__call__(buf)
        if event is None and len(buf) > MOST_HEAD_BYTES:
            raise RemoteProtocolError("a chunk's size or the trailers have no end")
        return EndOfMessage() if isinstance(event, EndOfMessage) else event


def _read_final_head(self: _http1.Http1Client, event: events.ConnectionEvent) -> Commands:
    """Read the head of a response, passing over interim ones (RFC 9110, section 15.2), which nobody has asked for:
    Expect is answered by mitmproxy."""
    if isinstance(event, events.DataReceived) and self.request:
        while _INTERIM.match(bytes(self.buf)[:16]):
            if self.buf.maybe_extract_lines() is None:
                break
    yield from _read_head(self, event)
    if self.response is None and self.stream_id is not None and len(self.buf) > MOST_HEAD_BYTES:
        yield commands.CloseConnection(self.conn)
        yield ReceiveHttp(ResponseProtocolError(self.stream_id, "the head of the response has no end"))


def _read_bounded_request(self: _http1.Http1Server, event: events.ConnectionEvent) -> Commands:
    yield from _read_request(self, event)
    if self.request is None and len(self.buf) > MOST_HEAD_BYTES and isinstance(event, events.DataReceived):
        yield commands.SendData(self.conn, _TOO_LARGE)
        yield commands.CloseConnection(self.conn)
        self.state = self.done


def _begin_noted_http2(self: Http2Server, context: Any) -> None:
    _begin_http2(self, context)  # type: ignore[no-untyped-call, unused-ignore]
    _to_clients[context.client.id] = self


async def _drain_http2_too(self: ConnectionHandler) -> None:
    """Wait until there is room for more from an origin: in the sockets, and in what an HTTP/2 client lets us send."""
    await _drain(self)  # type: ignore[no-untyped-call, unused-ignore]
    http2 = _to_clients.get(self.client.id)
    if http2 is None or not http2.h2_conn.stream_buffers:
        return
    task = asyncio.current_task()
    origin = next((one for one, io in self.transports.items() if io.handler is task and one is not self.client), None)
    if origin is not None:
        most = MOST_SHARED_WAITING_BYTES if origin.alpn == b"h2" else MOST_WAITING_BYTES
        while _waiting(http2, origin) > most:
            await asyncio.sleep(LOOK_SECONDS)


def _waiting(http2: Http2Server, origin: Connection) -> int:
    """Return how many bytes of what an origin has sent a client does not take yet."""
    layer = next((one for one in reversed(http2.context.layers) if isinstance(one, HttpLayer)), None)
    n_bytes = 0
    for number, parts in http2.h2_conn.stream_buffers.items():
        stream = layer.streams.get(number) if layer is not None else None
        if stream is not None and stream.context.server is origin:
            n_bytes += sum(len(part.data) for part in parts)
    return n_bytes
