"""kill -9 at random moments of compaction and collection: every page that was there is there, identical.

    python -m bench.upkeep FILE.warc.gz [--runs 20] [--postgres] [--seed 1]

Before each run the file is imported again, which brings what is missing as packs as they arrive, and the rows of some
captures are deleted, as a purge that was interrupted would leave them: so both commands have work to do at every site.
`pagemason compact` and `pagemason gc` take turns until `--runs` of them were killed, each at a moment of the time that
the command took when it was not killed; then the store is checked, and all its captures are read and compared with
the file's.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from bench.crash import Bodies, digests_of, look
from bench.cycle import captures_of
from bench.storage import server
from blocks.model import Capture
from store.opening import open_store
from store.sql import SqlStore
from store.upkeep.removing import forget

PAGEMASON = "from apps.cli import main; main()"
COMMANDS = ("compact", "gc")

MOMENTS = (0.3, 0.95)
"""When a command is killed, as a share of the time it took when it was last not killed: before, it only starts up."""

MOST_RUNS = 3
"""Runs for each kill that is wanted, at the most: a command may end before its moment."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a killed command left: whether it was killed, captures before and after, and what is wrong."""

    command: str
    killed: bool
    before: int
    found: int
    wrong: tuple[str, ...]


def prepare(url: str, captures: Sequence[Capture], rng: random.Random) -> int:
    """Bring a store to a state in which there is work; return how many captures it has."""
    store = open_store(url)
    assert isinstance(store, SqlStore)
    for start in range(0, len(captures), 50):
        batch = captures[start : start + 50]
        store.keep([c for c, known in zip(batch, store.known(batch), strict=True) if not known])
    records = list(store.captures())
    gone = rng.sample(records, len(records) // 10)
    with store.database.write() as connection:
        for site in sorted({record.place[0] for record in gone}):
            forget(connection, site, [record for record in gone if record.place[0] == site])
    store.close()
    return len(records) - len(gone)


def run(command: str, url: str, seconds: float | None) -> tuple[bool, float]:
    """Run a command, and kill it after so many seconds; return whether it was killed, and how long it ran."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", PAGEMASON, command, "--store", url], stdout=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.returncode < 0, time.perf_counter() - start


def killed(
    command: str, url: str, captures: Sequence[Capture], wanted: Bodies, seconds: float | None, rng: random.Random
) -> tuple[Outcome, float]:
    """Prepare a store, kill a command on it and look at what is left; return also how long the command ran."""
    before = prepare(url, captures, rng)
    was_killed, ran = run(command, url, seconds)
    found, wrong = look(url, wanted)
    if found != before:
        wrong.append(f"{before} captures before, {found} after")
    return Outcome(command, was_killed, before, found, tuple(wrong)), ran


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL of its own; default: an SQLite file")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    rng = random.Random(chosen.seed)
    captures, wanted = captures_of(chosen.file), digests_of(chosen.file)
    failures = n_killed = n_runs = 0
    took: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, server() if chosen.postgres else nullcontext() as make:
        url = make() if make else f"sqlite:///{folder}/pages.db"
        while n_killed < chosen.runs and n_runs < MOST_RUNS * chosen.runs:
            command = COMMANDS[n_runs % len(COMMANDS)]
            seconds = rng.uniform(*MOMENTS) * took[command] if command in took else None
            outcome, ran = killed(command, url, captures, wanted, seconds, rng)
            if not outcome.killed:
                took[command] = ran
            failures += bool(outcome.wrong)
            n_killed += outcome.killed
            n_runs += 1
            about = "; ".join(outcome.wrong[:3]) or "sound"
            how = f"killed after {ran:5.2f} s" if outcome.killed else f"ended after {ran:6.2f} s"
            print(f"{command:8} {how}  captures {outcome.before:5} before {outcome.found:5} after  {about}", flush=True)
    print(f"{n_killed} killed, {failures} of {n_runs} runs left something wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
