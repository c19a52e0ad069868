"""One, two and four proxies on one Postgres, each a process with a writer of its own:

    python -m bench.scale [--proxies 1 2 4] [--corpora NAME...] [--json FILE]

Clients ask for every record of the corpora once, through all proxies in turn, and as often for one they had before
(bench/replay.py). All the while two processes compact and collect the store, a fifth of the time each; with more than
one proxy, one is killed with signal 9 when half is done. What it had accepted and not committed (`not kept at first`)
is asked for again at the end. Then the store is compacted, checked, and every page in it compared with the origin's.

A page that is asked of a second proxy before the first has committed it is `captured twice`, as it was fetched twice;
that is avoided here but for the killed proxy's pages, so that all runs keep the same. `captures/s` is from the first
request until all is committed. The latencies of hits are the client's: `busy` while pages are captured on all cores,
`quiet` afterwards, from any proxy, one request at a time. Bytes on disk are those of our tables with indexes, before
the last compaction and after it, tables written anew. CPU is in milliseconds a capture: proxies with their writers,
upkeep, Postgres. `refused` counts what Postgres refused or broke off, by reason. It fails when a page is missing or
wrong, when `check` finds something, or when the bytes are not within 2 % of the first run's.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bench.ports import free_port, wait_for
from bench.postgres import Server, server
from bench.replay import Page, Traffic, captures_of, digest_of
from store.base import StoreError
from store.opening import open_store
from store.sql import SqlStore

CHECKOUT = Path(__file__).resolve().parent.parent
CORPORA = ("news", "books", "forum", "city", "blog")
TOLERANCE = 0.02
N_HITS = 1000
PAUSE_SECONDS = 1.0
DUTY = 0.2
"""Share of the time in which compaction, and collection, are at work; they would take a core each."""

Row = dict[str, Any]


@dataclass
class Proxy:
    """A running proxy; `cpu` is what it used when it was last looked at, in seconds, its writer included."""

    process: psutil.Popen
    port: int
    dashboard: int
    cpu: float = 0.0
    memory: int = 0

    def look(self) -> None:
        """Note what it uses."""
        total = memory = 0.0
        for one in [self.process, *self.process.children(recursive=True)]:
            with suppress(psutil.Error):
                times = one.cpu_times()
                total += times.user + times.system
                memory += one.memory_full_info().pss
        self.cpu, self.memory = max(self.cpu, total), max(self.memory, int(memory))

    def metric(self, name: str) -> float:
        """Return a sample of /metrics, summed over its labels."""
        import urllib.request

        with urllib.request.urlopen(f"http://127.0.0.1:{self.dashboard}/metrics", timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith((f"{name} ", f"{name}{{")))


@contextmanager
def proxy(url: str, folder: Path, number: int) -> Iterator[Proxy]:
    """Start a proxy, and end it."""
    port, dashboard = free_port(), free_port()
    options = {"listen_port": port, "dashboard_port": dashboard, "dashboard_frame_port": free_port(), "store": url}
    options |= {"confdir": folder / "conf", "memory_bytes": 16 << 20, "compact_idle_seconds": 5}
    options |= {"queue_bytes": 1 << 30}  # nothing is to be lost for want of room
    assignments = [part for name, value in options.items() for part in ("--set", f"pagemason_{name}={value}")]
    command = [sys.executable, "-m", "apps.cli", "run", *assignments]
    with (folder / f"proxy{number}.log").open("wb") as log:
        process = psutil.Popen(command, cwd=CHECKOUT, stdout=log, stderr=log)
    try:
        yield Proxy(process, port, dashboard)
    finally:
        with suppress(psutil.Error):
            process.terminate()
        process.wait(120)


def upkeep(url: str, task: str) -> None:
    """Compact or collect again and again, until the standard input ends; print how often."""
    store = open_store(url)
    ending = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        ending.set()

    threading.Thread(target=wait, daemon=True).start()
    rounds, done, failed = 0, 0, []
    pause = PAUSE_SECONDS
    while not ending.wait(pause):
        begun = time.monotonic()
        try:
            plan = store.compact(gently=True) if task == "compact" else store.collect()
            rounds, done = rounds + 1, done + plan.rewrite + plan.drop
        except StoreError as exc:
            failed.append(str(exc))
        pause = max(PAUSE_SECONDS, (time.monotonic() - begun) * (1 / DUTY - 1))
    store.close()
    times = psutil.Process().cpu_times()
    print(json.dumps({"rounds": rounds, "packs": done, "failed": failed, "cpu": times.user + times.system}))


@contextmanager
def kept_up(url: str, told: dict[str, Any]) -> Iterator[None]:
    """Compact and collect meanwhile; `told` is given what that was."""
    command = [sys.executable, "-m", "bench.scale", "--upkeep", url]
    tasks = {
        task: subprocess.Popen([*command, task], cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for task in ("compact", "collect")
    }
    try:
        yield
    finally:
        for task, process in tasks.items():
            told[task] = json.loads(process.communicate()[0])


def fill(traffic: Traffic, proxies: list[Proxy]) -> None:
    """Ask for everything; kill a proxy in the middle when there are others."""
    work = threading.Thread(target=traffic.run)
    work.start()
    victim = proxies[-1] if len(proxies) > 1 else None
    while work.is_alive():
        for one in proxies:
            one.look()
        if victim in proxies and traffic.n_done >= len(traffic.pages) // 2:
            assert victim is not None
            victim.process.kill()
            proxies.remove(victim)
            traffic.ports.remove(victim.port)
        work.join(0.5)


def settle(proxies: Sequence[Proxy]) -> None:
    """Wait until nothing is queued any more."""
    while any(one.metric("pagemason_queue_entries") for one in proxies):
        time.sleep(0.1)
    for one in proxies:
        one.look()


def again(url: str, traffic: Traffic, proxies: list[Proxy]) -> int:
    """Ask again for the pages that are not kept; return how many."""
    store = open_store(url)
    kept = {record.capture.url for record in store.captures()}
    store.close()
    everything = traffic.pages
    traffic.pages = [p for p in everything if f"http://{p.host}:{traffic.origin_port}{p.path}" not in kept]
    lost = len(traffic.pages)
    if lost:
        traffic.run()
        settle(proxies)
    traffic.pages = everything
    return lost


def judged(url: str, pages: Sequence[Page], origin_port: int) -> Row:
    """Compact and check a store, and compare it with what the origin gave."""
    store = open_store(url)
    assert isinstance(store, SqlStore)
    expected = {f"http://{page.host}:{origin_port}{page.path}": page.digest for page in pages}
    before = store.size()
    store.compact()
    store.collect()
    store.erase()
    missing, wrong, n = dict(expected), [], 0
    for record in store.captures():
        n += 1
        missing.pop(record.capture.url, None)
        if digest_of(store.read(record).body) != expected.get(record.capture.url):
            wrong.append(record.capture.url)
    found = store.check()[1]
    stats = store.stats()
    row: Row = {
        "captured twice": n - len(expected),
        "before": before,
        "ondisk": store.size(),
        "original": stats.bytes.original,
    }
    row["tables"] = {name: _table(store, name) for name in ("capture", "pack", "need", "fingerprint")}
    store.close()
    wrong += [f"missing: {name}" for name in missing] + [finding.what for finding in found]
    return row | {"wrong": wrong[:5]}


def _table(store: SqlStore, name: str) -> list[int]:
    """Return a table's rows, its bytes, and how many of them its indexes take."""
    query = f"select (select count(*) from {name}), pg_total_relation_size('{name}'), pg_indexes_size('{name}')"
    with store.database.read() as connection:
        return [int(figure) for figure in connection.exec_driver_sql(query).one()]


def measure(n: int, names: Sequence[str], pages: Sequence[Page], postgres: Server) -> Row:
    """Run all with so many proxies."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = postgres.database(f"scale{n}")
        open_store(url).close()
        origin = subprocess.Popen(
            [sys.executable, "-m", "bench.replay", *names], cwd=CHECKOUT, stdin=-1, stdout=-1, text=True
        )
        stack.callback(origin.communicate)
        assert origin.stdout is not None
        port = int(origin.stdout.readline())
        proxies = [stack.enter_context(proxy(url, folder, number)) for number in range(n)]
        for one in proxies:
            wait_for(one.port)
            wait_for(one.dashboard)
        everyone = list(proxies)
        traffic = Traffic(pages, [one.port for one in proxies], port)
        told: dict[str, Any] = {}
        errors, cpu = postgres.errors(), postgres.cpu_seconds()
        with kept_up(url, told):
            begun = time.monotonic()
            fill(traffic, proxies)
            settle(proxies)
            seconds = time.monotonic() - begun
            cpu = postgres.cpu_seconds() - cpu
            busy, traffic.hits = traffic.hits, []
            lost = again(url, traffic, proxies)
        traffic.hits.clear()
        traffic.ask_hits(N_HITS)
        not_kept = sum(one.metric("pagemason_not_kept_total") for one in proxies)
        row: Row = {"proxies": n, "captures/s": (len(pages) - lost) / seconds, "seconds": seconds}
        row |= {f"busy {name}": value for name, value in latencies(busy).items()}
        row |= {f"quiet {name}": value for name, value in latencies(traffic.hits).items()}
        row |= {"not kept at first": lost, "asked again": traffic.again, "not kept": not_kept}
        row |= {"CPU proxies": sum(one.cpu for one in everyone) * 1000 / len(pages)}
        row |= {"CPU Postgres": cpu * 1000 / len(pages)}
        row |= {"CPU upkeep": sum(task["cpu"] for task in told.values()) * 1000 / len(pages)}
        row |= {"memory": max(one.memory for one in everyone)}
        row |= {"upkeep": {task: [t["rounds"], t["packs"], t["failed"][:2]] for task, t in told.items()}}
    refused = postgres.errors() - errors
    return row | {"refused": dict(refused), "sent wrong": traffic.wrong[:5]} | judged(url, pages, port)


def latencies(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 99th percentile in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100) if len(seconds) > 1 else [0.0] * 99
    return {"p50": cuts[49] * 1000, "p99": cuts[98] * 1000}


def failures(rows: Sequence[Row]) -> list[str]:
    """Return what is not as it should be."""
    wrong = []
    for row in rows:
        wrong += [f"{row['proxies']} proxies: {what}" for what in (*row["wrong"], *row["sent wrong"])]
        if abs(row["ondisk"] / rows[0]["ondisk"] - 1) > TOLERANCE:
            wrong.append(f"{row['proxies']} proxies: {row['ondisk']} bytes, the first run {rows[0]['ondisk']}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--proxies", type=int, nargs="+", default=[1, 2, 4], metavar="N")
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), metavar="NAME")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--upkeep", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.upkeep:
        upkeep(*chosen.upkeep)
        return 0
    pages = [Page(host, path, digest_of(c.body), len(c.body)) for host, path, c in captures_of(chosen.corpora)]
    random.Random(0).shuffle(pages)
    rows = []
    with server() as postgres:
        for n in chosen.proxies:
            rows.append(measure(n, chosen.corpora, pages, postgres))
            for name, value in rows[-1].items():
                print(f"{name:26} {value:.1f}" if isinstance(value, float) else f"{name:26} {value}", flush=True)
            print(flush=True)
    wrong = failures(rows)
    for sentence in wrong:
        print(sentence)
    if chosen.json:
        chosen.json.write_text(json.dumps({"pages": len(pages), "rows": rows, "wrong": wrong}, indent=2))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
