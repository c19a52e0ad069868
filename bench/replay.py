"""The records of the corpora as web sites on loopback, and clients that ask proxies for them.

Each site has an address of its own, 127.x.y.z, and each record a URL of its own: its path, and a number where a path
was captured more than once. The origin is a process of its own.
"""

import asyncio
import http.client
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from urllib.parse import quote, urlsplit

from apps.warc.messages import Limits
from apps.warc.sources import Position, entries
from bench.corpora import folder
from blocks.model import Capture
from blocks.site import site_of

LIMITS = Limits(max_bytes=256 << 20, max_ratio=1000)

TRIES = 40
"""How often a client asks again when a proxy does not answer: another one each time."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page to be asked for: its host, its path with query, and what its body is."""

    host: str
    path: str
    digest: bytes
    n_bytes: int


def digest_of(body: bytes) -> bytes:
    """Return the digest by which bodies are compared here."""
    return blake2b(body, digest_size=16).digest()


def captures_of(names: Sequence[str]) -> list[tuple[str, str, Capture]]:
    """Return the captures of some corpora, each with its host and path. OSError when a corpus is not there."""
    hosts: dict[str, str] = {}
    times: Counter[tuple[str, str]] = Counter()
    found = []
    for name in names:
        path = folder() / f"{name}.warc.gz"
        path.open("rb").close()
        for entry in entries([path], LIMITS, Position()):
            if not isinstance(entry, Capture) or entry.status != 200 or not entry.body:
                continue
            number = len(hosts) + 1
            host = hosts.setdefault(site_of(entry.url), f"127.1.{number // 250}.{number % 250 + 1}")
            parts = urlsplit(entry.url)
            asked = quote(parts.path or "/", safe="/%:;,@!$&'()*+=~-._")
            asked += f"?{quote(parts.query, safe='/%:;,@!$&()*+=~-._?')}" if parts.query else ""
            times[host, asked] += 1
            if (n := times[host, asked]) > 1:
                asked += f"{'&' if '?' in asked else '?'}capture={n}"
            found.append((host, asked, entry))
    return found


async def serve(names: Sequence[str]) -> None:
    """Be the origin: print the port, then answer until the standard input ends."""
    answers: dict[tuple[str, str], bytes] = {}
    for host, path, capture in captures_of(names):
        kind = capture.header("Content-Type") or b"text/html"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nCache-Control: max-age=86400\r\n" % kind
        answers[host, path] = head + b"Content-Length: %d\r\n\r\n" % len(capture.body) + capture.body

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                path = request.split(b" ", 2)[1].decode("latin-1")
                host = writer.get_extra_info("sockname")[0]
                missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
                writer.write(answers.get((host, path), missing))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    hosts = sorted({host for host, _ in answers})
    first = await asyncio.start_server(answer, hosts[0], 0)
    port = first.sockets[0].getsockname()[1]
    others = [await asyncio.start_server(answer, host, port) for host in hosts[1:]]
    print(port, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for server in (first, *others):
        server.close()


@dataclass
class Traffic:
    """Clients that ask for all pages once, through all proxies in turn, and half of the time for one they had before,
    through the same proxy: another would fetch it again while it is on its way to the store.

    `ports` may be changed while they are at work. `hits` are the seconds that hits took; `again` is how often a
    proxy did not answer and another one was asked.
    """

    pages: Sequence[Page]
    ports: list[int]
    origin_port: int
    n_clients: int = 6
    hits: list[float] = field(default_factory=list)
    n_done: int = 0
    again: int = 0
    wrong: list[str] = field(default_factory=list)
    _left: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Ask for everything, and return when it is done."""
        self._left = list(range(len(self.pages)))[::-1]
        threads = [threading.Thread(target=self._client, args=(number,)) for number in range(self.n_clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _client(self, number: int) -> None:
        rng = random.Random(number)
        connections: dict[int, http.client.HTTPConnection] = {}
        had: list[tuple[Page, int]] = []
        while True:
            with self._lock:
                if not self._left:
                    break
                page = self.pages[self._left.pop()]
            had.append((page, self._ask(connections, page, rng)))
            page, port = rng.choice(had[-50:])
            self._ask(connections, page, rng, port)
            with self._lock:
                self.n_done += 1
        for connection in connections.values():
            connection.close()

    def ask_hits(self, n: int) -> None:
        """Ask for `n` pages that are all kept, one after the other."""
        rng = random.Random(0)
        connections: dict[int, http.client.HTTPConnection] = {}
        for _ in range(n):
            self._ask(connections, rng.choice(self.pages), rng)
        for connection in connections.values():
            connection.close()

    def _ask(
        self, connections: dict[int, http.client.HTTPConnection], page: Page, rng: random.Random, first: int = 0
    ) -> int:
        """Ask for a page, through the proxy at port `first` if there is one; return the port that answered."""
        for _ in range(TRIES):
            port = first if first in self.ports else rng.choice(self.ports)
            if port not in connections:
                connections[port] = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection, name = connections[port], f"{page.host}:{self.origin_port}"
            begun = time.perf_counter()
            try:
                connection.request("GET", f"http://{name}{page.path}", headers={"Host": name})
                response = connection.getresponse()
                body = response.read()
            except (OSError, http.client.HTTPException):
                connections.pop(port).close()
                self.again += 1
                time.sleep(0.05)
                continue
            taken = time.perf_counter() - begun
            if (response.getheader("Cache-Status") or "").startswith("pagemason; hit"):
                self.hits.append(taken)
            if digest_of(body) != page.digest:
                self.wrong.append(f"{name}{page.path}: status {response.status}, {len(body)} bytes")
            return port
        self.wrong.append(f"{page.host}{page.path}: no proxy answers")
        return 0


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1:]))
