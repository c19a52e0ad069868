"""What `pagemason import` costs, beside lxml.html parsing and gzip -6 compressing the same bodies, in one run.

    python -m bench.importing FILE.warc.gz... [--store URL] [--copies 1 3 10]

First the cost of a start: importing one small page, the best of three. Then for each file: pages, MB of decoded
bodies, seconds of wall clock and of CPU for a whole import into a new store (starting, reading, unpacking, decoding,
cutting, storing, committing), seconds of CPU for lxml and for zlib at level 6, a body at a time, the ratios of the
CPU, once more net of a start, and the most memory the import held. The peers' seconds are of a loop over bodies that
are in memory; so that like meets like, `reader` is the CPU of a process that reads the file with the same code and
parses each body with lxml.html, start included, and `x reader` the import's as a multiple of it. With --copies the
file is also imported with its pages so many times, each time under other hosts: how the cost grows. On a busy machine
trust ratios. PostgreSQL: name an empty database with --store.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
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
for entry in entries([Path(sys.argv[1])], Limits(1 << 28, 1000), Position()):
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


def cost_of_import(path: Path, store: str | None) -> Cost:
    """Import a file into a new store."""
    with tempfile.TemporaryDirectory() as folder:
        return cost_of(IMPORT, "import", str(path), "--store", store or f"sqlite:///{folder}/bench.db")


def cost_of_start(folder: Path) -> Cost:
    """Import one small page, three times; return the least."""
    page = folder / "page.html"
    page.write_bytes(b"<p>one page</p>")
    return min((cost_of_import(page, None) for _ in range(3)), key=lambda cost: cost.cpu)


def peers(path: Path) -> tuple[int, float, float, float]:
    """Return the pages of a file, the MB of their bodies, and the seconds of CPU that lxml and gzip take for them."""
    bodies = [capture.body for capture in captures_of(path)]
    return len(bodies), sum(map(len, bodies)) / 1e6, cpu_of(lambda: parse(bodies)), cpu_of(lambda: compress(bodies))


def measure(path: Path, copies: list[int], store: str | None, folder: Path, start: Cost) -> None:
    """Print a row for each number of copies of a file."""
    n_pages, megabytes, lxml_cpu, gzip_cpu = peers(path)
    for n in copies:
        file = path
        if n > 1:
            file = folder / "copies.warc"
            write_warc(file, copied(path, n), software="bench", now=0)
        cost = cost_of_import(file, store)
        ratios = [cpu / (n * peer) for cpu in (cost.cpu, cost.cpu - start.cpu) for peer in (lxml_cpu, gzip_cpu)]
        reader = cost_of(READER, str(file)).cpu
        seconds = cost.wall, cost.cpu, n * lxml_cpu, n * gzip_cpu
        row = [path.name.split(".")[0], str(n), str(n * n_pages), f"{n * megabytes:.1f}"]
        row += [f"{figure:.2f}" for figure in (*seconds, *ratios, reader, cost.cpu / reader)]
        print("".join(f"{cell:>10}" for cell in (*row, f"{cost.peak / 1e6:.0f}")), flush=True)


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
        for path in arguments.files:
            measure(path, arguments.copies, arguments.store, Path(folder), start)


if __name__ == "__main__":
    main()
