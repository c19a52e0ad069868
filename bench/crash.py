"""kill -9 at random moments of an import: what was acknowledged is there, identical, and the import can be taken up.

    python -m bench.crash FILE.warc.gz [--runs 20] [--store URL] [--seed 1]

Each run goes on where the one before was killed, with the same store; a store that has everything is followed by a new
one (SQLite) or ends the runs (--store).
"""

import argparse
import random
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from apps.warc.messages import Limits
from apps.warc.sources import Position, entries
from blocks.model import Capture, body_digest
from store.opening import open_store

IMPORT = "from apps.cli import main; main()"

Bodies = dict[tuple[str, str], bytes]
"""Digests of bodies by URL and record id."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a killed import left: captures acknowledged by it and all before, captures found, and what is wrong."""

    killed: bool
    acknowledged: int
    found: int
    wrong: tuple[str, ...]


def digests_of(path: Path) -> Bodies:
    """Return the digests of what a file holds."""
    found = entries([path], Limits(256 << 20, 1000), Position())
    return {(e.url, e.record_id): body_digest(e.body) for e in found if isinstance(e, Capture)}


def acknowledged_by(path: Path, store: str, seconds: float, *, at_work: bool) -> tuple[bool, int]:
    """Import a file and kill the import after so many seconds, counted from its start, or, `at_work`, from its first
    commit; return whether it was killed, and its last count."""
    command = [sys.executable, "-c", IMPORT, "import", str(path), "--store", store]
    count = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        timer = threading.Timer(seconds, process.kill)
        if not at_work:
            timer.start()
        for line in process.stdout:
            if line.endswith(" acknowledged\n"):
                count = int(line.split()[0])
                if at_work and not timer.is_alive():
                    timer.start()
        timer.cancel()
    return process.returncode < 0, count


def look(store: str, wanted: Bodies) -> tuple[int, list[str]]:
    """Return how many captures a store has, and which of them are not what they should be."""
    with closing(open_store(store, create=True)) as opened:
        n_captures, findings = opened.check()
        wrong = [finding.what for finding in findings]
        for record in opened.captures():
            capture = opened.read(record)
            if wanted.get((capture.url, capture.record_id)) != body_digest(capture.body):
                wrong.append(f"{capture.url}: another body")
    return n_captures, wrong


def killed_import(
    path: Path, store: str, seconds: float, wanted: Bodies, *, before: int = 0, at_work: bool = True
) -> Outcome:
    """Kill an import into a store that has `before` captures, and look at what it left."""
    killed, count = acknowledged_by(path, store, seconds, at_work=at_work)
    found, wrong = look(store, wanted)
    if found < before + count:
        wrong.append(f"{before + count} acknowledged, {found} found")
    return Outcome(killed, before + count, found, tuple(wrong))


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill imports at random moments and look at what they left.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--store", help="an empty store; default: new SQLite files")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    wanted = digests_of(arguments.file)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        before, stores = 0, 0
        for run in range(1, arguments.runs + 1):
            store = arguments.store or f"sqlite:///{folder}/{stores}.db"
            seconds = moments.uniform(0, 1.5)
            outcome = killed_import(arguments.file, store, seconds, wanted, before=before, at_work=run % 4 > 0)
            failures += bool(outcome.wrong)
            print(
                f"run {run:2}: {'killed' if outcome.killed else 'ended '}  acknowledged {outcome.acknowledged:5}  "
                f"found {outcome.found:5}  {'; '.join(outcome.wrong[:3]) or 'sound'}",
                flush=True,
            )
            before = outcome.found
            if before >= len(wanted):
                before, stores = 0, stores + 1
                if arguments.store:
                    break
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
