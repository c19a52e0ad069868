"""Many files into a store: each file a task, in transactions as `import` makes them; what is kept already is skipped.

A revisit may refer to a capture of a file that another worker has not loaded yet: the files with such revisits are
looked at again at the end, one after the other.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.batch.extras import key_of
from apps.batch.mapping import Problem, Setup
from apps.batch.parts import write_json
from apps.batch.pieces import digest_of
from apps.batch.running import Run
from apps.warc.entries import Note
from apps.warc.importing import Tally, import_entries
from apps.warc.sources import Position, entries
from store.base import Store
from store.opening import open_store


@dataclass(frozen=True, slots=True)
class Loading:
    """A file to be loaded into a store."""

    setup: Setup
    path: str
    store: str
    last: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of a file."""

    captures: int
    skipped: int
    problems: tuple[Problem, ...]
    unresolved: bool
    again: bool


def load_file(job: Loading) -> Loaded:
    """Load a file, unless that was done; StoreError when the store does not let it."""
    path = Path(job.path)
    with path.open("rb") as file:
        digest = digest_of(file, 0, path.stat().st_size)
    with_store = open_store(job.store, create=True, sites=job.setup.sites)
    try:
        mark = Path(job.setup.work) / "load" / f"{key_of('load', identity(with_store), digest)}.json"
        if mark.exists() and not job.last:
            return _told(json.loads(mark.read_text()), again=True)
        notes: list[Note] = []
        found = import_entries(
            entries([path], job.setup.limits, Position()), lambda: with_store, committed=_nobody, noted=notes.append
        )
    finally:
        with_store.close()
    unresolved = any("the body of the revisit" in note.what for note in notes)
    problems = [(job.path, note.where.removeprefix(f"{job.path}: "), note.what, str(note.kind)) for note in notes]
    row = {"captures": found.captures, "skipped": found.skipped, "problems": problems, "unresolved": unresolved}
    write_json(mark, row)
    return _told(row, again=False)


def identity(store: Store) -> str:
    """Return the random name that a store was given when it was made, so that a new one at the same place differs."""
    from store.database import meta
    from store.sql import SqlStore

    assert isinstance(store, SqlStore)
    with store.database.read() as connection:
        return meta(connection, "store")


def _nobody(tally: Tally) -> None:
    """Nobody wants to know how far a task is."""


def _told(row: dict[str, Any], *, again: bool) -> Loaded:
    problems = tuple(Problem(*problem) for problem in row["problems"])
    return Loaded(row["captures"], row["skipped"], problems, row["unresolved"], again)


def load(run: Run, store: str) -> dict[str, Any]:
    """Load all files into a store, and return how many captures were new to it."""
    open_store(store, create=True, sites=run.setup.sites).close()  # one makes the tables, and says what is wrong
    found: dict[str, Loaded] = {}
    jobs = [Loading(run.setup, path, store) for path in run.files]
    captures = 0
    for job, answer in zip(jobs, run.tasks("loading", load_file, jobs), strict=True):
        if answer.failure:
            run.problem(Problem(job.path, "byte 0", answer.failure))
        else:
            found[job.path] = answer.result
            captures += 0 if answer.result.again else answer.result.captures
    for path in [path for path, loaded in found.items() if loaded.unresolved]:
        again = [Loading(run.setup, path, store, last=True)]
        for answer in run.tasks("resolving", load_file, again):
            if not answer.failure:
                found[path] = answer.result
                captures += answer.result.captures
    for loaded in found.values():
        for problem in loaded.problems:
            run.problem(problem)
    return {"captures": captures, "files": len(found)}
