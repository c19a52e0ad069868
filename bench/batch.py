"""`pagemason batch` on one core and on two, on this machine's processes and on a Ray cluster of two nodes:

    python -m bench.batch [report|extract|warc] [--corpora NAME...] [--files 60] [--rounds 3] [--json FILE]

The corpora are cut into so many WARC files, each with a stretch of every corpus, so that most sites lie in many files;
beside them lie a file that is cut off, one of zero bytes, and one with a record of 200 MB. The job runs in one process
and in two, in turn, --rounds times (their rows are medians); in two that are killed with everything else in the
middle, and taken up again; and on a Ray cluster of two nodes, one of whose workers is killed in the middle. All
results must be the same, byte for byte, and the three bad files named. Without room for Ray (a network namespace of
its own) its row is left out, which is said.

`busiest` are the CPU seconds of the worker that had the most to do, `in all` those of all processes, start included;
`memory` is the most that any worker held. On a machine that does other things too, trust CPU seconds.
"""

import argparse
import gzip
import itertools
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from apps.warc.reading import WarcRecord, records
from bench.corpora import CORPORA, folder

CHECKOUT = Path(__file__).resolve().parent.parent
ENCLOSED = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
BATCH = [sys.executable, "-m", "apps.cli", "batch"]

LARGE_BYTES = 200_000_000
MAX_BYTES = 256 << 20
BAD = {"bad-cut.warc.gz", "bad-large.warc.gz", "bad-zero.warc.gz"}


@dataclass(frozen=True, slots=True)
class Row:
    """What a run took, in seconds and bytes, and whether its results are those of the first."""

    name: str
    wall: float
    cpu: float
    busiest: float
    memory: int
    workers: int
    same: bool
    exit: int


def split(names: list[str], n_files: int, out: Path) -> int:
    """Write the corpora as so many files, a stretch of each corpus in every one; return how many records."""
    out.mkdir(parents=True)
    parts = [(out / f"part-{number:03}.warc.gz").open("wb") for number in range(n_files)]
    n_records = 0
    for name in names:
        path = folder() / f"{name}.warc.gz"
        with path.open("rb") as file:
            starts = [found.place.offset for found in records(file, MAX_BYTES) if isinstance(found, WarcRecord)]
            n_records += len(starts)
            edges = [*sorted(set(starts)), path.stat().st_size]
            for number, (start, stop) in enumerate(itertools.pairwise(edges)):
                file.seek(start)
                parts[number * n_files // (len(edges) - 1)].write(file.read(stop - start))
    for part in parts:
        part.close()
    return n_records


def add_bad_files(out: Path) -> None:
    """Write a file that is cut off in the middle, one of zero bytes, one with a record that is too large."""
    whole = (out / "part-000.warc.gz").read_bytes()
    (out / "bad-cut.warc.gz").write_bytes(whole[: len(whole) // 2])
    (out / "bad-zero.warc.gz").write_bytes(b"")
    edge = (LARGE_BYTES // 1_000_000 - 1) * 1_000_000
    lines = [
        "WARC/1.1",
        "WARC-Type: response",
        "WARC-Target-URI: http://large.test/",
        "WARC-Date: 2024-01-01T00:00:00Z",
    ]
    lines += ["WARC-Record-ID: <urn:uuid:large>", f"Content-Length: {LARGE_BYTES}", "", "HTTP/1.1 200 OK", "", ""]
    with gzip.open(out / "bad-large.warc.gz", "wb", compresslevel=1) as packer:
        packer.write("\r\n".join(lines).encode())
        for number in range(LARGE_BYTES // 1_000_000 - 1):
            packer.write(b"%06d" % number + bytes(999_994))
        packer.write(bytes(LARGE_BYTES - 19 - edge) + b"\r\n\r\n")


def results(out: Path) -> dict[str, bytes]:
    """Return the files that a run wrote, but for what tells of the run itself."""
    found = (path for path in out.rglob("*") if path.is_file() and path.name != "run.json")
    return {str(path.relative_to(out)): path.read_bytes() for path in found if ".parts" not in path.parts}


def timed(name: str, command: list[str], out: Path, job: str, expected: dict[str, bytes] | None) -> Row:
    """Run a command; return what it took."""
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if not (out / job / "run.json").exists():
        raise SystemExit(f"{name}: {done.stderr or done.stdout}")
    figures: dict[str, Any] = json.loads((out / job / "run.json").read_text())
    found = results(out / job)
    return Row(
        name,
        round(time.monotonic() - begun, 1),
        round(cpu, 1),
        figures["cpu seconds of the busiest worker"],
        figures["peak worker memory bytes"],
        figures["workers"],
        expected is None or found == expected,
        done.returncode,
    )


def interrupted(command: list[str], out: Path, n_parts: int) -> None:
    """Start a command and kill it, and all processes it started, when it has written so many parts."""
    with subprocess.Popen(
        command, cwd=CHECKOUT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while len(list((out / ".parts").glob("*/*.parquet"))) < n_parts and process.poll() is None:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)


def middle(rows: list[Row]) -> Row:
    """Return the medians of the same run's rows; its results are the same only where all were."""
    wall, cpu, busiest = (statistics.median(getattr(row, name) for row in rows) for name in ("wall", "cpu", "busiest"))
    memory, same = max(row.memory for row in rows), all(row.same for row in rows)
    return replace(rows[0], wall=wall, cpu=cpu, busiest=busiest, memory=memory, same=same)


def one_and_two(job: str, source: Path, work: Path, n_rounds: int) -> tuple[Row, Row, dict[str, bytes]]:
    """Run a job in one process and in two, in turn; return the medians of both, and the results."""
    alone: list[Row] = []
    both: list[Row] = []
    expected = None
    for number in range(n_rounds):
        for n_processes, rows in ((1, alone), (2, both)):
            out = work / f"{n_processes}-{number}"
            command = [*BATCH, job, str(source), "--jobs", str(n_processes), "--out", str(out)]
            name = "1 process" if n_processes == 1 else f"{n_processes} processes"
            rows.append(timed(name, command, out, job, expected))
            expected = expected or results(out / job)
    return middle(alone), middle(both), expected or {}


def measure(job: str, names: list[str], n_files: int, n_rounds: int, work: Path) -> tuple[list[Row], dict[str, Any]]:
    """Run a job in all ways; return a row each, and what it was run on."""
    source = work / "in"
    n_records = split(names, n_files, source)
    add_bad_files(source)
    outs = {name: work / name for name in ("again", "ray")}
    *rows, expected = one_and_two(job, source, work, n_rounds)
    named = {Path(json.loads(line)["file"]).name for line in expected["problems.jsonl"].splitlines()}
    captures = json.loads((work / "1-0" / job / "run.json").read_text())
    local = [*BATCH, job, str(source), "--jobs", "2", "--out"]
    interrupted([*local, str(outs["again"])], outs["again"], n_files // 2)
    rows.append(timed("killed, taken up again", [*local, str(outs["again"])], outs["again"], job, expected))
    if subprocess.run([*ENCLOSED, "true"], capture_output=True, check=False).returncode:
        print("no network of its own for Ray here: left out", file=sys.stderr)
    else:
        cluster = [sys.executable, "-m", "bench.cluster", str(outs["ray"]), "batch", job, str(source)]
        ray = [*ENCLOSED, *cluster, "--parts", str(n_files // 2)]
        rows.append(timed("Ray, 2 nodes, a worker killed", ray, outs["ray"], job, expected))
    about = {
        "job": job,
        "files": n_files + len(BAD),
        "records": n_records,
        "bytes": sum(path.stat().st_size for path in source.iterdir()),
        "pages": captures.get("pages", n_records),
        "bad files named": sorted(BAD & named),
    }
    return rows, about


def judged(rows: list[Row], about: dict[str, Any]) -> list[str]:
    """Return what is not as it should be."""
    wrong = [f"{row.name}: other results than one process wrote" for row in rows if not row.same]
    wrong += [f"{name}: not named" for name in sorted(BAD - set(about["bad files named"]))]
    return wrong + [f"{row.name}: exit code {row.exit}, 1 expected" for row in rows if row.exit != 1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", nargs="?", choices=["report", "extract", "warc"], default="report")
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), metavar="NAME")
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="pm-batch-"))
    try:
        rows, about = measure(chosen.job, chosen.corpora, chosen.files, chosen.rounds, work)
    finally:
        shutil.rmtree(work)
    wrong = judged(rows, about)
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    print(f"{'':30}{'wall s':>8}{'CPU s':>8}{'busiest':>9}{'pages/s':>9}{'memory MB':>11}{'workers':>9}  same")
    for row in rows:
        speed = about["records"] / row.wall
        print(
            f"{row.name:30}{row.wall:8.1f}{row.cpu:8.1f}{row.busiest:9.1f}{speed:9.1f}{row.memory / 1e6:11.0f}"
            f"{row.workers:9}  {'yes' if row.same else 'NO'}"
        )
    print(f"2 processes: {rows[0].wall / rows[1].wall:.2f} times by the clock, ", end="")
    print(f"{rows[0].busiest / rows[1].busiest:.2f} times by the CPU seconds of the busiest worker")
    for sentence in wrong:
        print(sentence)
    if chosen.json:
        chosen.json.write_text(json.dumps({**about, "rows": [asdict(row) for row in rows], "wrong": wrong}, indent=2))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
