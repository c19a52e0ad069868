"""`pagemason run` in a process of its own, and a client for it."""

import http.client
import os
import re
import signal
import ssl
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

CHECKOUT = Path(__file__).resolve().parent.parent.parent

COMMAND = (sys.executable, "-m", "apps.cli", "run")


@dataclass(frozen=True)
class Reply:
    """What a client was given."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def cache_status(self) -> str:
        """The last member of Cache-Status."""
        return (self.headers.get_all("Cache-Status") or [""])[-1]

    @property
    def is_hit(self) -> bool:
        """Whether it came from what is kept."""
        return self.cache_status.startswith("pagemason; hit")


class Program:
    """A running proxy. Leaving the context ends it as SIGTERM does."""

    def __init__(self, folder: Path, *arguments: str, store: str | None = None) -> None:
        self.folder = folder
        self.store = store or f"sqlite:///{folder / 'store.db'}"
        self.log = folder / "run.log"
        flags = {"store": self.store, "confdir": folder / "conf", "listen-port": 0, "dashboard-port": 0}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*COMMAND, *(f"--{name}={value}" for name, value in flags.items()), *arguments],
                cwd=CHECKOUT,
                env=os.environ | {"XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config")},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.greeting = self._greeting()
        self.port = self._port("proxy")
        self.dashboard_port = self._port("dashboard")

    def __enter__(self) -> "Program":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.stop()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it with a signal; return the exit code."""
        self.process.send_signal(number)
        try:
            return self.process.wait(60)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()

    def get(self, url: str, *, method: str = "GET", body: bytes | None = None, **headers: str) -> Reply:
        """Ask for a URL through the proxy; underscores in header names stand for hyphens."""
        connection = self.connect(url)
        try:
            return ask(connection, url, method=method, body=body, **headers)
        finally:
            connection.close()

    def connect(self, url: str) -> http.client.HTTPConnection:
        """Return a connection to the proxy for URLs of this one's origin, trusting the proxy's CA."""
        return connect(self.port, url, self.folder / "conf")

    def dashboard(self, path: str) -> Reply:
        """Ask the dashboard."""
        connection = http.client.HTTPConnection("127.0.0.1", self.dashboard_port, timeout=60)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return Reply(response.status, response.headers, response.read())
        finally:
            connection.close()

    def metric(self, name: str) -> float:
        """Return a sample of /metrics, summed over labels that are not named."""
        text = self.dashboard("/metrics").body.decode()
        labels = "" if "{" in name else r"(?:\{[^}]*\})?"
        pattern = re.compile(rf"^{re.escape(name)}{labels} (\S+)$", re.MULTILINE)
        return sum(float(value) for value in pattern.findall(text))

    def settle(self, timeout_seconds: float = 60) -> None:
        """Wait until nothing is queued for the store any more."""
        deadline = time.monotonic() + timeout_seconds
        while self.metric("pagemason_queue_entries"):
            assert time.monotonic() < deadline, "the queue was not written out"
            time.sleep(0.05)

    def wait_for(self, name: str, least: float, timeout_seconds: float = 60) -> None:
        """Wait until a sample of /metrics is at least so much."""
        deadline = time.monotonic() + timeout_seconds
        while (found := self.metric(name)) < least:
            assert time.monotonic() < deadline, f"{name} is {found}"
            time.sleep(0.05)

    def _greeting(self) -> str:
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line.startswith("CA "):
                return "".join(lines)
        self.process.wait()
        self.process.stdout.close()
        raise AssertionError(f"the program did not start: {self.log.read_text()}")

    def _port(self, what: str) -> int:
        match = re.search(rf"^{what} +http://127\.0\.0\.1:(\d+)", self.greeting, re.MULTILINE)
        assert match is not None, self.greeting
        return int(match[1])


def connect(port: int, url: str, confdir: Path) -> http.client.HTTPConnection:
    """Return a connection to a proxy for URLs of this one's origin, trusting the CA in the proxy's folder."""
    parts = urlsplit(url)
    if parts.scheme == "http":
        return http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    context = ssl.create_default_context(cafile=str(confdir / "mitmproxy-ca-cert.pem"))
    secure = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)
    secure.set_tunnel(parts.hostname or "", parts.port)
    return secure


def ask(
    connection: http.client.HTTPConnection, url: str, *, method: str = "GET", body: bytes | None = None, **headers: str
) -> Reply:
    """Ask for a URL over a connection to the proxy."""
    parts = urlsplit(url)
    target = url if parts.scheme == "http" else (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(
        method, target, body=body, headers={"Host": parts.netloc, "Accept-Encoding": "identity"} | fields
    )
    response = connection.getresponse()
    return Reply(response.status, response.headers, response.read())


def run_to_end(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Start the program expecting it to end by itself."""
    return subprocess.run([*COMMAND, *arguments], cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=False)
