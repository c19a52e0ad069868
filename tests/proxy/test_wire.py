"""What may come over the wire that mitmproxy alone makes a broken answer of, or runs out of memory by."""

import asyncio
import gc
import ssl
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import pytest

from proxy import wire
from tests.origin import make_authority
from tests.proxy.live import Live
from tests.proxy.raw import CHUNKED, FRESH, OK, Part, raw_origin, request, say

pytestmark = pytest.mark.filterwarnings("ignore:Passing pyOpenSSL:DeprecationWarning")


async def test_trailers_are_passed_over(confdir: Path) -> None:
    chunks = b"\r\n5\r\nhello\r\n0\r\nX-Checksum: 1\r\nX-B: 2\r\n\r\n"
    async with raw_origin([OK + FRESH + CHUNKED + chunks]) as origin, Live(confdir) as live:
        assert (await say(live.port, request(origin.url))).endswith(b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        assert (await say(live.port, request(origin.url))).endswith(b"hit\r\n\r\nhello")


async def test_interim_responses_are_passed_over(confdir: Path) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
    final = OK + FRESH + b"Content-Length: 5\r\n\r\nhello"
    async with raw_origin([hints, 0.05, hints[:20], 0.05, hints[20:] + final]) as origin, Live(confdir) as live:
        got = await say(live.port, request(origin.url))
        assert got.startswith(b"HTTP/1.1 200 OK\r\n")
        assert got.endswith(b"hello")
        assert b"preload" not in got
        assert b"pagemason; hit" in await say(live.port, request(origin.url))


@pytest.mark.parametrize(
    "endless",
    [OK + b"X: ", OK + CHUNKED + b"\r\n1;", OK + CHUNKED + b"\r\n0\r\nX: ", b"HTTP/1.1 103 Early Hints\r\nX: "],
    ids=["head", "size of a chunk", "trailers", "interim head"],
)
async def test_what_has_no_end_is_an_error(confdir: Path, endless: bytes) -> None:
    parts: list[Part] = [b"a" * wire.MOST_HEAD_BYTES, b"a" * wire.MOST_HEAD_BYTES, 60.0]
    async with raw_origin([endless, *parts]) as origin, Live(confdir) as live:
        got = await say(live.port, request(origin.url))
        assert b"no end" in got or not got.endswith(b"0\r\n\r\n")
        assert (await live.service.holdings.look_up(origin.url)).entries == []


async def test_a_request_without_an_end_is_refused(confdir: Path) -> None:
    async with Live(confdir) as live:
        got = await say(live.port, b"GET http://a.test/ HTTP/1.1\r\nX: " + b"a" * wire.MOST_HEAD_BYTES)
        assert got.startswith(b"HTTP/1.1 431 ")


class Stalled:
    """An HTTP/2 client through a proxy that takes only what it allows."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, authority: str) -> None:
        self._reader, self._writer, self._authority = reader, writer, authority
        self.http2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.http2.initiate_connection()
        self.got = {1: 0, 3: 0}

    def ask(self, stream: int, path: str) -> None:
        """Send a request."""
        fields = [(":method", "GET"), (":scheme", "https"), (":authority", self._authority), (":path", path)]
        self.http2.send_headers(stream, fields, end_stream=True)
        self._writer.write(self.http2.data_to_send())

    def allow(self, n_bytes: int, stream: int | None = None) -> None:
        """Allow bytes to be sent: on the connection, or on one stream."""
        self.http2.increment_flow_control_window(n_bytes, stream)
        self._writer.write(self.http2.data_to_send())

    async def take(self, seconds: float) -> None:
        """Read what comes."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    for event in self.http2.receive_data(await self._reader.read(1 << 16)):
                        if isinstance(event, h2.events.DataReceived):
                            self.got[event.stream_id] += len(event.data)
                    self._writer.write(self.http2.data_to_send())
        except TimeoutError:
            return


async def stalled(port: int, confdir: Path, authority: str) -> Stalled:
    """Connect through a proxy."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    context = ssl.create_default_context(cafile=str(confdir / "mitmproxy-ca-cert.pem"))
    context.set_alpn_protocols(["h2"])
    await writer.start_tls(context, server_hostname="127.0.0.1")
    return Stalled(reader, writer, authority)


async def test_a_client_that_takes_nothing_fills_no_memory(confdir: Path, tmp_path: Path) -> None:
    authority, context = make_authority(tmp_path)
    size = 48 << 20

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = b"small" if b" /small " in await reader.readuntil(b"\r\n\r\n") else bytes(size)
        writer.write(OK + b"Cache-Control: no-store\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    async with server, Live(confdir, mitmproxy={"ssl_verify_upstream_trusted_ca": str(authority)}) as live:
        client = await stalled(live.port, confdir, f"127.0.0.1:{port}")
        client.ask(1, "/")
        await client.take(1)
        (waiting,) = [
            http2.h2_conn.stream_buffers for http2 in wire._to_clients.values() if http2.h2_conn.stream_buffers
        ]
        n_bytes = sum(len(part.data) for parts in waiting.values() for part in parts)
        del waiting
        assert 0 < n_bytes < 2 * wire.MOST_WAITING_BYTES
        client.allow(1 << 20)  # to the connection, for another stream: the first one stays as it is
        client.ask(3, "/small")
        await client.take(1)
        assert client.got[3] == 5
        client.allow(1 << 30)
        client.allow(1 << 30, 1)
        for _ in range(20):
            await client.take(1)
            if client.got[1] == size:
                break
        assert client.got[1] == size
        client._writer.transport.abort()
    await asyncio.sleep(0.1)
    gc.collect()
    assert not wire._to_clients  # nothing stays of a connection
