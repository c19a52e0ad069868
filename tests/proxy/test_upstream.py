"""An origin that closes an idle connection in the moment of the next request."""

import asyncio
import socket
import time
from pathlib import Path

from mitmproxy import http

from tests.proxy.live import Live

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok"


class Closing:
    """An origin that answers one request a connection, and closes only when it is told to."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(10)
        self.port = self._listening.getsockname()[1]

    def answer(self) -> socket.socket:
        """Take a connection and answer the request on it; blocks."""
        connection, _ = self._listening.accept()
        while b"\r\n\r\n" not in connection.recv(65536, socket.MSG_PEEK):
            time.sleep(0.01)
        connection.recv(65536)
        connection.sendall(ANSWER)
        return connection

    def close(self) -> None:
        self._listening.close()


def received(client: socket.socket) -> bytes:
    """Return an answer; blocks."""
    reply = b""
    while not reply.endswith(b"ok"):
        part = client.recv(65536)
        if not part:
            break
        reply += part
    return reply


class Meanwhile:
    """An addon: while the proxy looks at a request's fields, the origin closes its idle connection."""

    def __init__(self) -> None:
        self.idle: list[socket.socket] = []

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        while self.idle:
            self.idle.pop().close()
            time.sleep(0.02)  # the event loop does not see it


async def test_a_request_does_not_go_into_a_closed_connection(confdir: Path) -> None:
    origin, meanwhile = Closing(), Meanwhile()
    request = f"GET http://127.0.0.1:{origin.port}/ HTTP/1.1\r\nHost: 127.0.0.1:{origin.port}\r\n\r\n".encode()
    async with Live(confdir) as live:
        live.master.addons.add(meanwhile)
        client = await asyncio.to_thread(socket.create_connection, ("127.0.0.1", live.port))
        for n in range(3):
            client.sendall(request)
            meanwhile.idle = [*meanwhile.idle, await asyncio.to_thread(origin.answer)][-1:]
            assert (await asyncio.to_thread(received, client)).startswith(b"HTTP/1.1 200 OK"), n
        client.close()
    meanwhile.idle.pop().close()
    origin.close()
