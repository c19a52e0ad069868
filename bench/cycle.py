"""Everything a store does to pages, one after the other, and after each step every page compared.

    python -m bench.cycle [FILE.warc.gz...] [--no-postgres]

Import, compact, import again (nothing is new), keep every page once more as a later capture, purge every second site
(of a single one, every second URL by how it ends), collect, compact again, evict to half of the bytes above an empty
store's. Without files: the corpora that bench.storage measures. A row a step: captures, bytes and seconds; the exit
code is 1 when a page was lost, changed or left over.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from apps.warc.sources import Position, entries
from bench.corpora import folder
from bench.storage import CORPORA, LIMITS, server
from blocks.model import Capture, body_digest
from blocks.site import site_of
from store.base import Budget, Store
from store.opening import open_store
from store.patterns import matcher

LATER = 1_000_000
"""Microseconds by which the second capture of each page is later."""

BATCH = 64

Pages = Counter[tuple[str, int, str, bytes]]
"""Captures by URL, time, record id and digest of the body."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a step left: captures, bytes of the database, seconds it took, and what is wrong."""

    name: str
    captures: int
    n_bytes: int
    seconds: float
    wrong: tuple[str, ...]


def pages_of(captures: Sequence[Capture]) -> Pages:
    """Return captures as they are compared."""
    return Counter((c.url, c.time, c.record_id, body_digest(c.body)) for c in captures)


def kept(store: Store) -> Pages:
    """Read every capture of a store, whose digests are checked against the bytes read."""
    return pages_of([store.read(record) for record in store.captures()])


def cycle(store: Store, captures: Sequence[Capture]) -> Iterator[Step]:
    """Take a store, empty at first, through everything; yield what each step left. Times are seconds of wall clock."""
    expected: Pages = Counter()
    empty = store.size()
    public = [capture for capture in captures if not capture.private]
    later = [replace(c, time=c.time + LATER, record_id="") for c in public]
    patterns = half_of(captures)

    def purge() -> None:
        for pattern in patterns:
            store.purge(pattern)

    def step(name: str, work: Callable[[], object], *, exactly: bool = True) -> Step:
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        found = kept(store)
        n_captures, findings = store.check()
        wrong = [finding.what for finding in findings]
        missing, more = expected - found, found - expected
        if more or (missing and exactly) or n_captures != found.total():
            wrong.append(f"{missing.total()} captures missing, {more.total()} too many, {n_captures} counted")
        return Step(name, n_captures, store.size(), seconds, tuple(wrong))

    expected += pages_of(captures)
    yield step("import", lambda: _keep(store, captures))
    yield step("compact", store.compact)
    yield step("import again", lambda: _keep(store, captures))
    expected += pages_of(later)
    yield step("later captures", lambda: _keep(store, later))
    matches = [matcher(pattern) for pattern in patterns]
    expected = Counter({page: n for page, n in expected.items() if not any(match(page[0]) for match in matches)})
    yield step("purge half", purge)
    yield step("collect", store.collect)
    yield step("compact again", store.compact)
    limit = (empty + store.size()) // 2
    evict = step("evict half", lambda: _evict(store, limit, expected), exactly=False)
    over = (f"{evict.n_bytes} bytes, {limit} allowed",) if evict.n_bytes > limit else ()
    yield replace(evict, wrong=evict.wrong + over)


def half_of(captures: Sequence[Capture]) -> list[str]:
    """Return patterns of every second site's URLs or, where there is one site, of some half of them by how they end."""
    sites = sorted({site_of(c.url) for c in captures})
    if len(sites) == 1:
        return [f"*{end}" for end in sorted({c.url[-1] for c in captures} - {"*"})[::2]]
    gone = set(sites[1::2])
    origins = {urlsplit(c.url)[:2] for c in captures if site_of(c.url) in gone}
    return ["{}://{}/*".format(*origin) for origin in sorted(origins)]


def _keep(store: Store, captures: Sequence[Capture]) -> None:
    """Keep the captures that a store does not know, a batch at a time."""
    for start in range(0, len(captures), BATCH):
        batch = captures[start : start + BATCH]
        store.keep([c for c, known in zip(batch, store.known(batch), strict=True) if not known])


def _evict(store: Store, limit: int, pages: Pages) -> None:
    newest = max((time for _, time, *_ in pages), default=0)
    store.evict(Budget(max_store_bytes=limit, high_water=1.0, low_water=0.9), newest // 1_000_000 + 60)


def captures_of(path: Path) -> list[Capture]:
    """Return the captures of a file, which must have some."""
    found = [entry for entry in entries([path], LIMITS, Position()) if isinstance(entry, Capture)]
    if not found:
        raise SystemExit(f"{path}: no captures in it, so there is nothing to compare")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--no-postgres", action="store_true")
    chosen = parser.parse_args()
    files = chosen.files or [folder() / f"{name}.warc.gz" for name in CORPORA]
    failed = False
    with server() as make, tempfile.TemporaryDirectory() as temporary:
        for path in files:
            name = path.name.split(".")[0]
            urls = [f"sqlite:///{temporary}/{name}.db", *([make()] if make and not chosen.no_postgres else [])]
            for url in urls:
                store = open_store(url)
                for step in cycle(store, captures_of(path)):
                    row = f"{step.captures:6} captures {step.n_bytes:10} bytes {step.seconds:7.1f} s"
                    about = "; ".join(step.wrong[:3]) or "every page is there"
                    print(f"{name:12}{url.split(':')[0][:8]:9}{step.name:15}{row}  {about}", flush=True)
                    failed |= bool(step.wrong)
                store.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
