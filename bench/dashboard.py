"""How fast the dashboard of a large store is while the proxy serves traffic, and what that costs the proxy's clients.

A store of many captures is made of the corpora's pages, imported again and again under other hosts. `pagemason run`
serves it in mode `replay`. A client asks it, at an even rate, for kept pages and, each tenth time, for a new one; in
turns the dashboard is left alone and visited: overview, sites, and one page after the other of random sites, with a
rest between two views.

    python -m bench.dashboard [--captures 50000] [--store FILE] [--seconds 20] [--rounds 3] [--rest 0.25]
        [--json]

`--store` keeps the store: another run uses it, or fills it up when its filling was interrupted. Exit code 1 when a
bound is not kept.
"""

import argparse
import http.client
import itertools
import json
import multiprocessing
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import quote, urlsplit

from bench.corpora import folder
from bench.importing import captures_of, renamed
from bench.ports import free_port, wait_for
from bench.proxy import CHECKOUT, origin
from blocks.model import Capture
from proxy.caching import Policy, key_of_url
from store.opening import open_store

CORPORA = ("news", "books", "forum", "blog")

BOUNDS = {"overview": 0.3, "sites": 0.3, "page": 0.5}
"""Seconds within which 95 of 100 views are answered."""

RATE = 40
"""Requests a second that the proxy's client makes."""

N_URLS = 2000
BATCH = 256
"""Captures kept in one transaction: a site of few pages gets few packs."""

LATER = "page, to be judged"
"""Those of the views of pages that said that the content is judged behind them."""

ALONE, VISITED = "dashboard left alone", "dashboard visited"

Times = dict[str, list[float]]
"""Seconds that answers took, by what was asked for."""


def copies(paths: Sequence[Path]) -> Iterator[Capture]:
    """Yield the captures of files without end, those of each time under hosts of their own."""
    captures = [capture for path in paths for capture in captures_of(path)]
    if not captures:
        raise SystemExit(f"no pages in {', '.join(map(str, paths))}; PAGEMASON_CORPORA names the folder of the corpora")
    for number in itertools.count():
        for capture in captures:
            yield renamed(capture, number)


def fill(url: str, n_captures: int) -> list[str]:
    """Make a store have so many captures; return the URLs of some of its pages, such as clients ask for."""
    with closing(open_store(url)) as store:
        have = store.stats().captures
        if have < n_captures:
            wanted = itertools.islice(copies([folder() / f"{name}.warc.gz" for name in CORPORA]), have, n_captures)
            while batch := list(itertools.islice(wanted, BATCH)):
                store.keep(batch)
        found = {record.capture.url for record in store.captures() if not record.capture.private}
    urls = sorted(url for url in found if url.isascii() and " " not in url and key_of_url(url, Policy()) == url)
    return random.Random(1).sample(urls, min(N_URLS, len(urls)))


@contextmanager
def running(store: str, work: Path) -> Iterator[tuple[int, int]]:
    """Run the proxy and its dashboard; yield their ports."""
    proxy, dashboard = free_port(), free_port()
    command = [sys.executable, "-m", "apps.cli", "run", "--mode=replay", f"--store={store}", f"--confdir={work}/conf"]
    ports = [f"--listen-port={proxy}", f"--dashboard-port={dashboard}"]
    process = subprocess.Popen([*command, *ports], cwd=CHECKOUT, stdout=subprocess.DEVNULL)
    try:
        wait_for(proxy, process)
        ask(dashboard, "/-/healthy")  # which waits until its process has started
        yield proxy, dashboard
    finally:
        process.terminate()
        process.wait(60)


def ask(port: int, path: str, host: str = "") -> tuple[float, bytes]:
    """Return the seconds until a whole answer is there, and its body. RuntimeError when it is none."""
    began = time.perf_counter()
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", path, headers={"Host": host} if host else {})
        response = connection.getresponse()
        body = response.read()
    if response.status >= 500:
        raise RuntimeError(f"{path}: {response.status}")
    return time.perf_counter() - began, body


def traffic(port: int, urls: Sequence[str], new: str, seconds: float, seed: int, out: Connection) -> None:
    """Ask the proxy at an even rate; send what each answer took. Late requests are counted from when they were due."""
    words, began = random.Random(seed), time.perf_counter()
    took: Times = defaultdict(list)
    for number in range(int(seconds * RATE)):
        due = began + number / RATE
        time.sleep(max(0.0, due - time.perf_counter()))
        kind, url = ("new", f"{new}/{seed}/{number}") if number % 10 == 9 else ("kept", words.choice(urls))
        ask(port, url, urlsplit(url).netloc)
        took[kind].append(time.perf_counter() - due)
    out.send(dict(took))


def visit(port: int, urls: Sequence[str], seconds: float, rest: float, seed: int) -> Times:
    """Look at the dashboard's pages, one after the other, for so long; return what each took."""
    words, end = random.Random(seed), time.monotonic() + seconds
    took: Times = defaultdict(list)
    number = 0
    while time.monotonic() < end:
        query = words.choice(("", "?page=2", "?sort=captures", "?sort=ratio&order=up", "?q=copy1"))
        page = f"/page?url={quote(words.choice(urls))}"
        views = [("overview", "/"), ("sites", f"/sites{query}"), *[("page", page)] * 3, ("live.json", "/live.json")]
        kind, path = views[number % len(views)]
        seconds_taken, body = ask(port, path)
        took[kind].append(seconds_taken)
        if b" data-again" in body:
            took[LATER].append(seconds_taken)
        number += 1
        time.sleep(rest)
    return took


def measure(store: str, urls: Sequence[str], seconds: float, rest: float, rounds: int, work: Path) -> dict[str, Times]:
    """Return what answers took: of the dashboard, and of the proxy with the dashboard left alone and visited."""
    found: dict[str, Times] = {name: defaultdict(list) for name in ("dashboard", ALONE, VISITED)}
    context = multiprocessing.get_context("spawn")
    with origin(b"<p>a line of a page</p>\n" * 800) as origin_port, running(store, work) as (proxy, dashboard):
        new = f"http://127.0.0.1:{origin_port}"
        for number in range(rounds):
            for name in (ALONE, VISITED):
                ours, theirs = context.Pipe()
                arguments = (proxy, urls[:200], new, seconds, 2 * number + (name == VISITED), theirs)
                client = context.Process(target=traffic, args=arguments)
                client.start()
                theirs.close()
                if name == VISITED:
                    add(found["dashboard"], visit(dashboard, urls, seconds, rest, number))
                add(found[name], ours.recv())
                client.join()
    return found


def add(total: Times, times: Times) -> None:
    """Add times to those of the same kind."""
    for kind, seconds in times.items():
        total[kind] += seconds


def at(seconds: Iterable[float], share: float) -> float:
    """Return the time within which a share of the answers came."""
    found = sorted(seconds)
    return found[min(len(found) - 1, int(share * len(found)))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captures", type=int, default=50_000)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rest", type=float, default=0.25, help="seconds between two views")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        store = f"sqlite:///{arguments.store or Path(work) / 'store.db'}"
        urls = fill(store, arguments.captures)
        found = measure(store, urls, arguments.seconds, arguments.rest, arguments.rounds, Path(work))
    rows = {
        f"{group}, {kind}": {"n": len(took), **{f"p{100 * s:.0f}": at(took, s) for s in (0.5, 0.95, 0.99)}}
        for group, times in found.items()
        for kind, took in times.items()
    }
    if arguments.json:
        print(json.dumps(rows, indent=1))
    else:
        for name, row in rows.items():
            print(f"{name:32}{row['n']:6} " + "".join(f"{k:>6} {1000 * row[k]:7.1f} ms" for k in ("p50", "p95", "p99")))
    late = [name for name, bound in BOUNDS.items() if rows[f"dashboard, {name}"]["p95"] > bound]
    if late:
        print(f"slower than they should be: {', '.join(late)}", file=sys.stderr)
    return bool(late)


if __name__ == "__main__":
    sys.exit(main())
