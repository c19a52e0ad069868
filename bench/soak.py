"""Hours in minutes: traffic through `pagemason run` that is larger than its store may become.

    python -m bench.soak [--minutes 15] [--budget-mb 24] [--json]

Three sites on loopback give pages of one template each, with text of their own that does not compress, more of them
than the budget has room for; clients ask for new pages and, half of the time, for pages asked for before. Some pages
come in chunks, slowly, large, or until the connection is closed; some break off, which the client must see each time;
some have no end, and the client goes away. One client takes what it gets slowly.

Every two seconds the store's files and the memory of all processes (PSS) are measured. It fails when the files were
ever above 1.25 of the budget and 16 MB (a log, and packs being written anew), when memory was above its ceiling or grew
by more than a quarter from the first half to the second, when an answer was wrong, or when the store is not sound at
the end.
"""

import argparse
import hashlib
import http.client
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench.ports import free_port, wait_for
from bench.streams import EVENT, HOSTS, body_of, kind_of, origin

CHECKOUT = Path(__file__).resolve().parent.parent

CLIENTS = 5
SLOW_CLIENT = 4
SLOW_SECONDS = 0.02
PIECE = 1 << 16
MEMORY_MB = 900
SLACK_MB = 16


@dataclass
class Client:
    """Asks for pages until told to stop."""

    port: int
    origin_port: int
    number: int
    stopping: threading.Event
    n_requests: int = 0
    n_bytes: int = 0
    wrong: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Ask, over one connection as long as it lasts."""
        rng = random.Random(self.number)
        last = 0
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while not self.stopping.is_set():
            if rng.random() < 0.5 or not last:
                last += 1
                page = last
            else:
                page = max(1, last - int(rng.expovariate(1 / 40)))
            host, path = HOSTS[page % len(HOSTS)], f"/{self.number}/{page}"
            try:
                if wrong := self._ask(connection, host, path, kind_of(page)):
                    self.wrong.append(f"{host}{path}, {kind_of(page)}: {wrong}")
            except (OSError, http.client.HTTPException) as exc:
                self.wrong.append(f"{host}{path}, {kind_of(page)}: {exc!r}")
                connection.close()
        connection.close()

    def _ask(self, connection: http.client.HTTPConnection, host: str, path: str, kind: str) -> str:
        """Ask for a page; return what is wrong with the answer."""
        authority = f"{host}:{self.origin_port}"
        connection.request("GET", f"http://{authority}{path}", headers={"Host": authority})
        response = connection.getresponse()
        self.n_requests += 1
        if kind == "events":
            got = response.read(3 * len(EVENT))
            connection.close()
            return "" if got == 3 * EVENT else f"{got[:50]!r}"
        try:
            body = b"".join(self._pieces(response))
        except http.client.IncompleteRead:
            connection.close()
            return "" if kind == "broken" else "it breaks off"
        self.n_bytes += len(body)
        if response.status == 200 and kind != "broken" and _digest(body) == _digest(body_of(host, path)):
            return ""
        return f"status {response.status}, {len(body)} bytes"

    def _pieces(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        while piece := response.read(PIECE):
            yield piece
            if self.number == SLOW_CLIENT:
                time.sleep(SLOW_SECONDS)


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body).digest()


def measure(process: psutil.Process, database: Path) -> tuple[float, float]:
    """Return the MB of the store's files and of all processes' memory."""
    files = sum(p.stat().st_size for p in database.parent.glob(database.name + "*") if p.exists())
    memory = 0
    for one in [process, *process.children(recursive=True)]:
        try:
            memory += one.memory_full_info().pss
        except psutil.Error:
            continue
    return files / 1e6, memory / 1e6


def soak(minutes: float, budget: int) -> dict[str, object]:
    """Run the traffic; return what was measured, and what failed."""
    samples: list[tuple[float, float]] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port, origin_port = free_port(), free_port()
        for host in HOSTS:
            stack.enter_context(origin(host, origin_port))
        database = folder / "store.db"
        options = {
            "listen_port": port,
            "dashboard_port": 0,
            "store": f"sqlite:///{database}",
            "confdir": folder / "conf",
        }
        options |= {"max_store_bytes": budget, "memory_bytes": 32 << 20, "compact_idle_seconds": 5}
        assignments = [part for name, value in options.items() for part in ("--set", f"pagemason_{name}={value}")]
        command = [sys.executable, "-m", "apps.cli", "run", *assignments]
        process = subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL)
        try:
            wait_for(port)
            stopping = threading.Event()
            clients = [Client(port, origin_port, number, stopping) for number in range(CLIENTS)]
            threads = [threading.Thread(target=client.run) for client in clients]
            for thread in threads:
                thread.start()
            deadline = time.monotonic() + 60 * minutes
            while time.monotonic() < deadline and process.poll() is None:
                samples.append(measure(psutil.Process(process.pid), database))
                time.sleep(2)
            stopping.set()
            for thread in threads:
                thread.join()
        finally:
            process.terminate()
            process.wait(120)
        check = [sys.executable, "-m", "apps.cli", "check", "--store", f"sqlite:///{database}"]
        ended = subprocess.run(check, cwd=CHECKOUT, capture_output=True, text=True, check=False)
        return judged(samples, clients, budget / 1e6, ended)


def judged(
    samples: list[tuple[float, float]], clients: list[Client], budget_mb: float, check: subprocess.CompletedProcess[str]
) -> dict[str, object]:
    """Return the figures and what is wrong with them."""
    files, memory = [sample[0] for sample in samples], [sample[1] for sample in samples]
    half = len(memory) // 2
    early, late = sorted(memory[half // 2 : half])[-3:], sorted(memory[half:])[-3:]
    traffic = sum(client.n_bytes for client in clients) / 1e6
    ceiling = 1.25 * budget_mb + SLACK_MB
    wrong = [sentence for client in clients for sentence in client.wrong]
    failures = wrong[:5] + ([check.stdout] if check.returncode else [])
    if max(files) > ceiling:
        failures.append(f"files: {max(files):.1f} MB, at most {ceiling:.1f}")
    if max(memory) > MEMORY_MB:
        failures.append(f"memory: {max(memory):.0f} MB, at most {MEMORY_MB}")
    if half > 20 and sum(late) > 1.25 * sum(early):
        failures.append(f"memory grows: {sum(early) / len(early):.0f} MB, then {sum(late) / len(late):.0f}")
    if traffic < 1.5 * budget_mb:
        failures.append(f"traffic: {traffic:.1f} MB do not fill a budget of {budget_mb:.1f}")
    return {
        "requests": sum(client.n_requests for client in clients),
        "traffic MB": round(traffic, 1),
        "files MB, max": round(max(files), 1),
        "files MB, end": round(files[-1], 1),
        "memory MB, max": round(max(memory)),
        "check": check.stdout.strip().splitlines()[-1:],
        "failures": failures,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--budget-mb", type=int, default=24)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = soak(chosen.minutes, chosen.budget_mb * 1_000_000)
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, figure in found.items():
            print(f"{name:20} {figure}")
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
