"""What `pagemason import` costs, beside lxml.html parsing and gzip -6 compressing the same bodies, in one run.

    python -m bench.importing FILE.warc.gz... [--store URL] [--copies 1 3 10]

First the cost of a start: importing one small page, the best of three. Then for each file: pages, MB of decoded
bodies, seconds of wall clock and of CPU for a whole import into a new store (starting, reading, unpacking, decoding,
cutting, storing, committing), seconds of CPU for lxml and for zlib at level 6, a body at a time, the ratios of the
CPU, once more net of a start, and the most memory the import held. The peers' seconds are of a loop over bodies that
are in memory; so that like meets like, `reader` is the CPU of a process that reads the file with the same code and
parses each body with lxml.html, start included, and `x reader` the import's as a multiple of it. With --copies the
file is also imported with its pages so many times, each time under other hosts: how the cost grows. On a busy machine
trust ratios. Several files are at last imported together, by one command: a start is paid once. PostgreSQL: name an
empty database with --store.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import lxml.html

from apps.warc.messages import Limits
from apps.warc.sources import Position, entries
from apps.warc.writing import write_warc
from blocks.model import Capture

LIMITS = Limits(max_bytes=256 << 20, max_ratio=1000)
IMPORT = "from apps.cli import main; main()"
READER = """
import sys
from pathlib import Path
import lxml.html
from apps.warc.messages import Limits
from apps.warc.sources import Position, entries
for entry in entries([Path(name) for name in sys.argv[1:]], Limits(1 << 28, 1000), Position()):
    if getattr(entry, "body", b"").strip():
        lxml.html.document_fromstring(entry.body)
"""
HEAD = (
    "file",
    "copies",
    "pages",
    "MB",
    "wall s",
    "CPU s",
    "lxml s",
    "gzip s",
    "x lxml",
    "x gzip",
    "net lxml",
    "net gzip",
    "reader s",
    "x reader",
    "peak MB",
)


class Cost(NamedTuple):
    """What a process took: seconds of wall clock and of CPU, and its most memory in bytes."""

    wall: float
    cpu: float
    peak: int


def captures_of(path: Path) -> Iterator[Capture]:
    """Yield a file's captures."""
    return (entry for entry in entries([path], LIMITS, Position()) if isinstance(entry, Capture))


def copied(path: Path, n: int) -> Iterator[Capture]:
    """Yield a file's captures `n` times, those of each time under hosts of their own."""
    for number in range(n):
        for capture in captures_of(path):
            yield renamed(capture, number)


def renamed(capture: Capture, number: int) -> Capture:
    """Return a capture under the host of a copy."""
    return replace(capture, url=capture.url.replace("://", f"://copy{number}.", 1), key="", record_id="")


def cpu_of(work: Callable[[], object]) -> float:
    """Return the seconds of CPU that some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def parse(bodies: list[bytes]) -> None:
    """Parse every body that is not empty."""
    for body in bodies:
        if body.strip():
            lxml.html.document_fromstring(body)


def compress(bodies: list[bytes]) -> None:
    """Compress every body as gzip -6 does."""
    for body in bodies:
        zlib.compress(body, 6)


def cost_of(program: str, *arguments: str) -> Cost:
    """Run a Python program in a process of its own."""
    start = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit code {process.returncode}")
    return Cost(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss << 10)


def cost_of_import(paths: Sequence[Path], store: str | None) -> Cost:
    """Import files into a new store."""
    with tempfile.TemporaryDirectory() as folder:
        return cost_of(IMPORT, "import", *map(str, paths), "--store", store or f"sqlite:///{folder}/bench.db")


def cost_of_start(folder: Path) -> Cost:
    """Import one small page, three times; return the least."""
    page = folder / "page.html"
    page.write_bytes(b"<p>one page</p>")
    return min((cost_of_import([page], None) for _ in range(3)), key=lambda cost: cost.cpu)


class Peers(NamedTuple):
    """A file's pages, the MB of their bodies, and the seconds of CPU that lxml and gzip take for them."""

    pages: int
    megabytes: float
    lxml: float
    gzip: float


def peers(path: Path) -> Peers:
    """Let lxml and gzip work on a file's bodies."""
    bodies = [capture.body for capture in captures_of(path)]
    return Peers(
        len(bodies), sum(map(len, bodies)) / 1e6, cpu_of(lambda: parse(bodies)), cpu_of(lambda: compress(bodies))
    )


def row_of(name: str, paths: Sequence[Path], theirs: Peers, store: str | None, start: Cost, n: int = 1) -> str:
    """Import files, and return a line; what the peers took is for an n-th of the pages."""
    cost = cost_of_import(paths, store)
    ratios = [cpu / (n * peer) for cpu in (cost.cpu, cost.cpu - start.cpu) for peer in (theirs.lxml, theirs.gzip)]
    reader = cost_of(READER, *map(str, paths)).cpu
    seconds = cost.wall, cost.cpu, n * theirs.lxml, n * theirs.gzip
    row = [name, str(n), str(n * theirs.pages), f"{n * theirs.megabytes:.1f}"]
    row += [f"{figure:.2f}" for figure in (*seconds, *ratios, reader, cost.cpu / reader)]
    return "".join(f"{cell:>10}" for cell in (*row, f"{cost.peak / 1e6:.0f}"))


def measure(path: Path, copies: list[int], store: str | None, folder: Path, start: Cost) -> Peers:
    """Print a row for each number of copies of a file; return what the peers took for it."""
    theirs = peers(path)
    for n in copies:
        file = path
        if n > 1:
            file = folder / "copies.warc"
            write_warc(file, copied(path, n), software="bench", now=0)
        print(row_of(path.name.split(".")[0], [file], theirs, store, start, n), flush=True)
    return theirs


def main() -> None:
    parser = argparse.ArgumentParser(description="Time `pagemason import` beside lxml.html and gzip -6.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--store", help="an empty store; default: a new SQLite file for each")
    parser.add_argument("--copies", nargs="+", type=int, default=[1], help="so many times the pages, under other hosts")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        start = cost_of_start(Path(folder))
        print(f"a start: {start.cpu:.2f} s of CPU, {start.peak / 1e6:.0f} MB")
        print("".join(f"{name:>10}" for name in HEAD))
        each = [measure(path, arguments.copies, arguments.store, Path(folder), start) for path in arguments.files]
        if len(each) > 1:
            total = Peers(*(sum(column) for column in zip(*each, strict=True)))
            print(row_of("together", arguments.files, total, arguments.store, start))


if __name__ == "__main__":
    main()
