"""What a hit costs: requests a second of `pagemason run` on hot pages, beside mitmproxy with a dict.

Three contenders in the same run, in turns: `pagemason run`; `mitmdump -s` with an addon that answers from a dict;
a minimal Master (Core, Proxyserver, NextLayer, TlsConfig) with the same addon. Each is pinned to one core where
that can be done, and wrk to another. Prints the median of the rounds and the ratios.

On a busy machine the processor time that a request costs says more than requests a second: it is printed beside.

    python -m bench.proxy [--rounds 5] [--seconds 4] [--pages 50] [--bytes 20000] [--json]
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
from mitmproxy import http

from bench.ports import free_port, wait_for

CHECKOUT = Path(__file__).resolve().parent.parent

FLOORS = {"mitmdump": 1.5, "minimal master": 0.8}
"""How many times the requests of each of the others ours has to answer."""


class DictAddon:
    """The simplest cache: a dict of bodies."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}

    def request(self, flow: http.HTTPFlow) -> None:
        body = self.pages.get(flow.request.pretty_url)
        if body is not None:
            flow.response = http.Response.make(200, body, {"content-type": "text/html"})

    def response(self, flow: http.HTTPFlow) -> None:
        assert flow.response is not None
        self.pages[flow.request.pretty_url] = flow.response.content or b""


addons = [DictAddon()]


async def minimal(port: int, confdir: str) -> None:
    """Run the minimal master."""
    from mitmproxy.addons import core, next_layer, proxyserver, tlsconfig
    from mitmproxy.master import Master
    from mitmproxy.options import Options

    master = Master(Options(confdir=confdir))
    master.addons.add(
        core.Core(), proxyserver.Proxyserver(), next_layer.NextLayer(), tlsconfig.TlsConfig(), DictAddon()
    )
    master.options.update(listen_host="127.0.0.1", listen_port=port, connection_strategy="lazy")
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, master.shutdown)
    await master.run()


def commands(folder: str, ports: Mapping[str, int]) -> dict[str, list[str]]:
    """Return how each contender is started."""
    confdir, python = f"{folder}/conf", sys.executable
    mitmdump = Path(python).with_name("mitmdump")
    return {
        "pagemason": [
            *(python, "-m", "apps.cli", "run", f"--listen-port={ports['pagemason']}", "--dashboard-port=0"),
            *(f"--store=sqlite:///{folder}/store.db", f"--confdir={confdir}"),
        ],
        "mitmdump": [
            *(str(mitmdump), "-q", "-s", __file__, "--listen-host", "127.0.0.1", "-p", str(ports["mitmdump"])),
            *("--set", f"confdir={confdir}"),
        ],
        "minimal master": [python, "-m", "bench.proxy", "--minimal", str(ports["minimal master"]), confdir],
    }


@contextmanager
def origin(body: bytes) -> Iterator[int]:
    """Serve a body under every path; yield the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Cache-Control", "max-age=36000")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def started(command: list[str], port: int) -> Iterator[psutil.Process]:
    """Run a contender, pinned to the first core, from when it listens."""
    process = subprocess.Popen([*_pinned(0), *command], cwd=CHECKOUT, stdout=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(30)


def _pinned(core: int) -> list[str]:
    enough = len(os.sched_getaffinity(0)) > 1 and shutil.which("taskset")
    return ["taskset", "-c", str(core)] if enough else []


def _warm(port: int, urls: list[str]) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{port}"}))
    for url in urls:
        opener.open(url).read()


@dataclass
class Contender:
    """A running proxy and what was measured of it, by round: requests a second, and microseconds of processor."""

    process: psutil.Process
    port: int
    rates: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    def measure(self, seconds: int, script: Path) -> None:
        """Measure a round by wrk, over 16 connections."""
        before = self._busy_seconds()
        command = ["wrk", "-t1", "-c16", f"-d{seconds}", "-s", str(script), f"http://127.0.0.1:{self.port}"]
        ended = subprocess.run([*_pinned(1), *command], capture_output=True, text=True, check=True).stdout
        rate, total = re.search(r"Requests/sec:\s+([\d.]+)", ended), re.search(r"(\d+) requests in", ended)
        if "Non-2xx" in ended or rate is None or total is None:
            raise RuntimeError(ended)
        self.rates.append(float(rate[1]))
        self.costs.append((self._busy_seconds() - before) / int(total[1]) * 1e6)

    def _busy_seconds(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)


def measure(rounds: int, seconds: int, n_pages: int, n_bytes: int) -> dict[str, tuple[float, float]]:
    """Return the medians of each contender: requests a second, microseconds of processor a request."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        body = (b"<p>a line of a page</p>\n" * (n_bytes // 24 + 1))[:n_bytes]
        origin_port = stack.enter_context(origin(body))
        urls = [f"http://127.0.0.1:{origin_port}/page/{n}" for n in range(n_pages)]
        script = Path(folder) / "wrk.lua"
        script.write_text(
            f"local urls = {{{', '.join(map(json.dumps, urls))}}}\nlocal n = 0\n"
            'request = function()\n  n = n % #urls + 1\n  return wrk.format("GET", urls[n])\nend\n'
        )
        ports = {name: free_port() for name in ("pagemason", "mitmdump", "minimal master")}
        contenders = {}
        for name, command in commands(folder, ports).items():
            contenders[name] = Contender(stack.enter_context(started(command, ports[name])), ports[name])
            _warm(ports[name], urls)
        for _ in range(rounds):
            for contender in contenders.values():
                contender.measure(seconds, script)
        return {name: (statistics.median(one.rates), statistics.median(one.costs)) for name, one in contenders.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--bytes", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--minimal", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.minimal:
        asyncio.run(minimal(int(chosen.minimal[0]), chosen.minimal[1]))
        return 0
    if shutil.which("wrk") is None:
        sys.exit("bench.proxy needs wrk (apt-get install wrk)")
    found = measure(chosen.rounds, chosen.seconds, chosen.pages, chosen.bytes)
    rate, cost = found["pagemason"]
    ratios = {name: rate / found[name][0] for name in FLOORS}
    costs = {name: found[name][1] / cost for name in FLOORS}
    if chosen.json:
        print(json.dumps({"measured": found, "ratios": ratios, "ratios_of_cost": costs}))
        return 0 if all(ratios[name] >= floor for name, floor in FLOORS.items()) else 1
    for name, (rate, cost) in found.items():
        print(f"{name:16} {rate:8.0f} requests/s {cost:8.0f} us of processor a request")
    for name, floor in FLOORS.items():
        print(f"pagemason / {name:16} {ratios[name]:5.2f}, by processor time {costs[name]:5.2f}  (at least {floor})")
    return 0 if all(ratios[name] >= floor for name, floor in FLOORS.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
