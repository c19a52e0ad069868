"""One run over many files: map, reduce, emit. What it did is told in `Ledger`, apart from the results, which are the
same whoever worked on them and however often they were interrupted."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from apps.batch.engines import Answer, Engine, Task
from apps.batch.mapping import Job, Made, Problem, Setup, misfits
from apps.batch.parts import write_json, write_lines
from apps.batch.pieces import PIECE_BYTES, Piece, cut

Told = Callable[[int, str], None]

PARTITION_BYTES = 64 << 20
"""Input, compressed, for each partition of the sites."""

MIN_PARTITIONS = 16


@dataclass
class Ledger:
    """What a run did and took, by step."""

    begun: float = field(default_factory=time.monotonic)
    steps: dict[str, dict[str, float]] = field(default_factory=dict)
    memory_bytes: int = 0
    workers: dict[str, float] = field(default_factory=dict)
    """CPU seconds that each worker spent on tasks."""
    problems: list[Problem] = field(default_factory=list)
    failed: bool = False

    def add(self, step: str, answer: Answer) -> None:
        """Count an answer."""
        row = self.steps.setdefault(step, {"tasks": 0, "done before": 0, "cpu seconds": 0.0, "task seconds": 0.0})
        row["tasks"] += 1
        row["done before"] += bool(getattr(answer.result, "again", False))
        row["cpu seconds"] += answer.cpu_seconds
        row["task seconds"] += answer.seconds
        self.memory_bytes = max(self.memory_bytes, answer.memory_bytes)
        if answer.worker:
            self.workers[answer.worker] = self.workers.get(answer.worker, 0.0) + answer.cpu_seconds

    def figures(self) -> dict[str, Any]:
        """Return it for run.json; times and memory are of this run, and differ from run to run."""
        return {
            "seconds": round(time.monotonic() - self.begun, 3),
            "workers": len(self.workers),
            "cpu seconds of the busiest worker": round(max(self.workers.values(), default=0.0), 3),
            "peak worker memory bytes": self.memory_bytes,
            "steps": {name: {key: round(value, 3) for key, value in row.items()} for name, row in self.steps.items()},
        }


@dataclass
class Run:
    """The files of a run, where it works, and who does."""

    engine: Engine
    setup: Setup
    files: list[str]
    out: Path
    told: Told
    piece_bytes: int = PIECE_BYTES
    ledger: Ledger = field(default_factory=Ledger)
    lost: list[Problem] = field(default_factory=list)
    """What is wrong with the paths themselves."""
    partitions: dict[Piece, frozenset[int]] = field(default_factory=dict)
    """Those that each piece mapped last has rows in."""

    def pieces(self) -> list[Piece]:
        """Return the pieces of all files that can be opened, in order."""
        found: list[Piece] = []
        for path in self.files:
            try:
                found += cut(path, self.piece_bytes)
            except OSError as exc:
                self.problem(Problem(path, "byte 0", f"cannot be read: {exc.strerror or exc}"))
        return found

    def problem(self, problem: Problem) -> None:
        """Note a problem."""
        self.ledger.problems.append(problem)
        self.ledger.failed |= problem.kind == "damaged"

    def tasks(self, step: str, task: Task, arguments: Sequence[Any]) -> Iterator[Answer]:
        """Run tasks and yield their answers in order."""
        for n, answer in enumerate(self.engine.run(task, arguments), 1):
            self.ledger.add(step, answer)
            self.told(n * 1000 // len(arguments), f"{step} {n}/{len(arguments)}")
            yield answer

    def map(self, step: str, task: Task, *options: Any, adapt: Callable[[Job], Job] = lambda job: job) -> list[Made]:
        """Map all pieces; return their parts in order, each content once. `adapt` completes a job."""
        self.ledger.problems.clear()  # a step before this one read the same files and met the same
        found = self._mapped(step, task, self.pieces(), options, adapt)
        if bad := misfits(found):
            names = {piece.path for piece in bad}
            found = [part for part in found if part.piece.path not in names]
            found += self._mapped(step, task, bad, options, adapt)
            found.sort(key=lambda part: (part.piece.path, part.piece.number))
        self.partitions = {part.piece: part.partitions for part in found}
        return self._distinct(found)

    def _mapped(
        self, step: str, task: Task, pieces: list[Piece], options: tuple[Any, ...], adapt: Callable[[Job], Job]
    ) -> list[Made]:
        found = []
        jobs = [adapt(Job(self.setup, piece, options)) for piece in pieces]
        for job, answer in zip(jobs, self.tasks(step, task, jobs), strict=True):
            if answer.failure:
                self.problem(Problem(job.piece.path, f"byte {job.piece.start}", answer.failure))
            else:
                found.append(answer.result)
        return found

    def _distinct(self, parts: list[Made]) -> list[Made]:
        first: dict[str, Made] = {}
        for part in parts:
            same = first.setdefault(part.key, part)
            if same is part:
                for problem in part.problems:
                    self.problem(problem)
            elif part.start < part.stop:
                what = f"the same bytes as {same.piece.path}: counted once"
                self.problem(Problem(part.piece.path, f"byte {part.start}", what, "skipped"))
        return list(first.values())

    def finish(self, summary: dict[str, Any]) -> dict[str, Any]:
        """Write problems.jsonl and run.json; return the run's figures."""
        for problem in self.lost:
            self.problem(problem)
        rows = (to_json(asdict(problem)) for problem in self.ledger.problems)
        write_lines(self.out / "problems.jsonl", rows)
        figures = {**summary, **self.ledger.figures()}
        write_json(self.out / "run.json", figures)
        return figures


def to_json(row: Any) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(row, ensure_ascii=False)


def n_partitions_for(files: Sequence[str]) -> int:
    """Return into how many partitions the sites of some files are divided: a power of two, by their size alone."""
    total = 0
    for path in files:
        try:
            total += Path(path).stat().st_size
        except OSError:
            continue
    return max(MIN_PARTITIONS, 1 << (total // PARTITION_BYTES).bit_length())
