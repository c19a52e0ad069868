"""Origins and clients that say exactly what they are told to, byte for byte, however wrong it is."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

OK = b"HTTP/1.1 200 OK\r\n"
FRESH = b"Cache-Control: max-age=100\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"

Part = bytes | float | asyncio.Event
"""Bytes to send, seconds to wait, or what to wait for."""


@dataclass
class RawOrigin:
    """Gives one answer a connection, the last one again and again, then closes it, or breaks it off."""

    answers: Sequence[Sequence[Part]]
    breaks_off: bool = False
    heads: list[bytes] = field(default_factory=list)
    connections: list[asyncio.StreamWriter] = field(default_factory=list)
    url: str = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a request."""
        self.connections.append(writer)
        try:
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
            for part in self.answers[min(len(self.heads), len(self.answers)) - 1]:
                if isinstance(part, bytes):
                    writer.write(part)
                    await writer.drain()
                elif isinstance(part, asyncio.Event):
                    await part.wait()
                else:
                    await asyncio.sleep(part)
        except (OSError, asyncio.IncompleteReadError):
            pass
        if self.breaks_off:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()  # lingering for no time: the connection is reset
        else:
            writer.close()


@asynccontextmanager
async def raw_origin(*answers: Sequence[Part], breaks_off: bool = False) -> AsyncIterator[RawOrigin]:
    """Listen on loopback."""
    origin = RawOrigin(answers, breaks_off)
    server = await asyncio.start_server(origin.answer, "127.0.0.1", 0)
    origin.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    try:
        yield origin
    finally:
        server.close()
        for writer in origin.connections:
            writer.transport.abort()
        await asyncio.sleep(0)


def request(url: str, *fields: str, method: str = "GET", version: str = "1.1", body: bytes = b"") -> bytes:
    """Return a request to a proxy, which closes the connection when it has answered."""
    host = url.split("/")[2]
    lines = [f"{method} {url} HTTP/{version}", f"Host: {host}", "Connection: close", *fields]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def say(port: int, said: bytes, seconds: float = 20) -> bytes:
    """Say something to a port; return all that is answered until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(said)
        return await asyncio.wait_for(reader.read(), seconds)
    finally:
        writer.close()
