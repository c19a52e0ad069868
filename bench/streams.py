"""Origins for `bench.soak`: three sites whose pages come whole, in chunks, slowly, without an end, or break off."""

import gzip
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")

OWN_BYTES = 12_000
LARGE_BYTES = 1_500_000
PARTS = 20
PART_SECONDS = 0.1
EVENT = b"data: tick\n\n"

KINDS = {0: "slow", 7: "chunked", 14: "broken", 21: "events", 28: "large", 35: "until closed"}
"""The pages, of each forty by number, that do not come whole and at once."""


def kind_of(number: int) -> str:
    """Return how the page of a number comes."""
    return KINDS.get(number % 40, "whole")


def body_of(host: str, path: str) -> bytes:
    """Return a page: the template of its site, and text of its own; large ones repeat theirs."""
    menu = "".join(f"<li><a href='/{i}'>Section {i} of {host}</a></li>" for i in range(60))
    own = random.Random(host + path).randbytes(OWN_BYTES // 2).hex()
    text = "".join(f"<p>{own[i : i + 600]}</p>" for i in range(0, len(own), 600))
    if kind_of(_number(path)) == "large":
        text *= LARGE_BYTES // len(text)
    return f"<html><body><ul>{menu}</ul><div><h1>{path}</h1>{text}</div><p>footer</p></body></html>".encode()


def _number(path: str) -> int:
    return int(path.rpartition("/")[2])


class Handler(BaseHTTPRequestHandler):
    """Answers every path with its page, in its way."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        kind = kind_of(_number(self.path))
        body = body_of(self.headers["Host"].split(":")[0], self.path)
        with suppress(OSError):  # clients go away from what has no end
            if kind == "whole":
                self._head(length=len(body))
                self.wfile.write(body)
            elif kind == "events":
                self._head("text/event-stream", "no-store")
                while True:
                    self._chunk(EVENT)
                    time.sleep(PART_SECONDS)
            elif kind == "until closed":
                self._head(chunked=False)
                self.wfile.write(body)
                self.close_connection = True
            else:
                self._stream(body, kind)

    def _stream(self, body: bytes, kind: str) -> None:
        """Send a page in chunks; a large one gzipped, as far as the client takes it so."""
        zipped = kind == "large" and "gzip" in self.headers.get("Accept-Encoding", "")
        self._head(zipped=zipped)
        sent = gzip.compress(body, 1) if zipped else body
        step = len(sent) // PARTS + 1
        for at in range(0, len(sent), step):
            if kind == "broken" and at > len(sent) // 2:
                self.close_connection = True
                return
            self._chunk(sent[at : at + step])
            if kind == "slow":
                time.sleep(PART_SECONDS)
        self.wfile.write(b"0\r\nX-Checksum: none\r\n\r\n")

    def _head(
        self,
        media_type: str = "text/html",
        control: str = "max-age=36000",
        *,
        length: int | None = None,
        chunked: bool = True,
        zipped: bool = False,
    ) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Cache-Control", control)
        if zipped:
            self.send_header("Content-Encoding", "gzip")
        if length is not None:
            self.send_header("Content-Length", str(length))
        elif chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, part: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def origin(host: str, port: int) -> Iterator[int]:
    """Serve a site; yield its port."""
    server = ThreadingHTTPServer((host, port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
