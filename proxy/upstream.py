"""Connections to origins that the origin has closed: while they were idle, or in the middle of a body.

mitmproxy uses a connection again until it has read that it was closed. When the origin closes in the moment in which
the next request comes, the request goes into the closed connection and fails: a 502 for a page that is there. The
kernel knows earlier, so it is asked before a request goes on.

A body without a length ends where its connection is closed. When that is broken off, asyncio knows, and mitmproxy does
not: to it the body is whole.
"""

import asyncio
import select

from mitmproxy import ctx, http
from mitmproxy.connection import ConnectionState, Server
from mitmproxy.proxy.server import ConnectionHandler, ConnectionIO

from proxy.extent import ends_with_connection

_HANGS_UP = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR

Closed = list[tuple[Server, ConnectionIO]]


def closed_by_origin(flow: http.HTTPFlow) -> Closed:
    """Return the connections, of those that a flow may use, whose other end is closed."""
    handler = _handler_of(flow)
    if handler is None or len(handler.transports) < 2:
        return []
    return [
        (connection, io)
        for connection, io in handler.transports.items()
        if isinstance(connection, Server) and connection.state is ConnectionState.OPEN and _is_closed(io)
    ]


def reader_of(flow: http.HTTPFlow, handler: ConnectionHandler | None = None) -> asyncio.StreamReader | None:
    """Return what reads the answer to a flow, when its body ends where the connection does (RFC 9112, section 6.3)."""
    response = flow.response
    if (
        response is None
        or not response.http_version.startswith("HTTP/1")
        or not ends_with_connection(response.headers.fields)
    ):
        return None
    handler = handler or _handler_of(flow)
    io = handler.transports.get(flow.server_conn) if handler is not None else None
    return io.reader if io is not None and isinstance(io.reader, asyncio.StreamReader) else None


def broke_off(reader: asyncio.StreamReader | None) -> bool:
    """Tell whether a connection has ended otherwise than by being closed (RFC 9112, section 8)."""
    return reader is not None and reader.exception() is not None


def hang_up(flow: http.HTTPFlow) -> None:
    """Close the connection that a body has ended with, of which mitmproxy may think that it can be used again: it opens
    no more than five to an origin for one client."""
    handler = _handler_of(flow)
    io = handler.transports.get(flow.server_conn) if handler is not None else None
    if io is not None and io.handler is not None:
        io.handler.cancel("the body has ended")


def _handler_of(flow: http.HTTPFlow) -> ConnectionHandler | None:
    server = ctx.master.addons.get("proxyserver") if hasattr(ctx, "master") else None
    handler: ConnectionHandler | None = server.connections.get(flow.client_conn.id) if server is not None else None
    return handler


async def let_go(closed: Closed) -> None:
    """Have mitmproxy take note that connections are closed, so that it opens new ones."""
    for connection, io in closed:
        if io.handler is not None:
            io.handler.cancel("closed by the origin")
        for _ in range(10):
            if connection.state is ConnectionState.CLOSED:
                break
            await asyncio.sleep(0)


def _is_closed(io: ConnectionIO) -> bool:
    writer = io.writer
    if not isinstance(writer, asyncio.StreamWriter):
        return False
    sock = writer.get_extra_info("socket")
    if sock is None or sock.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(sock.fileno(), _HANGS_UP)
    return bool(poll.poll(0))
