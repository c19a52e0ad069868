"""How fast `pagemason import` is, beside lxml.html parsing the same bodies, in one run.

    python -m bench.importing FILE.warc.gz... [--store URL]

For each file: pages, MB of decoded bodies, seconds of wall clock and of CPU for a whole import into a new store
(reading, unpacking, decoding, cutting, storing, committing), and for lxml; then the ratio of both. On a busy machine
trust ratios, and CPU before wall clock. PostgreSQL: name an empty database with --store.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import lxml.html

from apps.warc.messages import Limits
from apps.warc.sources import Position, entries
from blocks.model import Capture

LIMITS = Limits(max_bytes=256 << 20, max_ratio=1000)
IMPORT = "from apps.cli import main; main()"


def bodies_of(path: Path) -> list[bytes]:
    """Return the decoded bodies of a file's captures."""
    return [e.body for e in entries([path], LIMITS, Position()) if isinstance(e, Capture)]


def timed(work: Callable[[], None], who: int) -> tuple[float, float]:
    """Return the seconds of wall clock and of CPU that some work takes."""
    wall, before = time.perf_counter(), resource.getrusage(who)
    work()
    after = resource.getrusage(who)
    return time.perf_counter() - wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def parse(bodies: list[bytes]) -> None:
    """Parse every body that is not empty."""
    for body in bodies:
        if body.strip():
            lxml.html.document_fromstring(body)


def import_file(path: Path, store: str | None) -> None:
    """Import a file into a new store, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        url = store or f"sqlite:///{folder}/bench.db"
        command = [sys.executable, "-c", IMPORT, "import", str(path), "--store", url]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time `pagemason import` beside lxml.html.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--store", help="an empty store; default: a new SQLite file for each")
    arguments = parser.parse_args()
    head = ("file", "pages", "MB", "pages/s", "MB/s", "import s", "lxml s", "x lxml", "CPU s", "lxml CPU", "x CPU")
    print("".join(f"{name:>10}" for name in head))
    for path in arguments.files:
        bodies = bodies_of(path)
        megabytes = sum(map(len, bodies)) / 1e6
        lxml_wall, lxml_cpu = timed(lambda b=bodies: parse(b), resource.RUSAGE_SELF)  # type: ignore[misc]
        n_pages = len(bodies)
        bodies = []
        wall, cpu = timed(lambda p=path: import_file(p, arguments.store), resource.RUSAGE_CHILDREN)  # type: ignore[misc]
        name = path.name.split(".")[0]
        row = (n_pages / wall, megabytes / wall, wall, lxml_wall, wall / lxml_wall, cpu, lxml_cpu, cpu / lxml_cpu)
        print(f"{name:>10}{n_pages:10}{megabytes:10.1f}" + "".join(f"{figure:10.2f}" for figure in row), flush=True)


if __name__ == "__main__":
    main()
