"""The report: what the pages of many files have in common, by site."""

import heapq
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps.batch.parts import write_json, write_lines
from apps.batch.report_map import map_report
from apps.batch.report_reduce import Reduction, reduce_report
from apps.batch.running import Run, to_json

SUMMED = ("captures", "pages", "original", "exact", "blocks", "distinct_blocks", "template_blocks", "near_duplicates")


def report(run: Run) -> dict[str, Any]:
    """Write sites.jsonl, templates.jsonl, near.jsonl and report.json, and return the totals."""
    parts = run.map("reading", map_report)
    jobs = []
    for number in range(run.setup.n_partitions):
        its = tuple((part.part, part.piece.path, part.start) for part in parts if number in part.partitions)
        if its:
            jobs.append(Reduction(run.setup, number, its))
    paths = []
    for answer in run.tasks("comparing", reduce_report, jobs):
        if answer.failure:
            raise RuntimeError(f"a partition could not be reduced: {answer.failure}")
        paths.append(Path(answer.result.path))
    return _emit(run.out, paths)


def _emit(out: Path, paths: list[Path]) -> dict[str, Any]:
    totals = dict.fromkeys(("sites", *SUMMED), 0)

    def sites() -> Iterator[str]:
        for found in _merged(paths):
            totals["sites"] += 1
            for name in SUMMED:
                totals[name] += found["row"][name]
            yield to_json(found["row"])

    write_lines(out / "sites.jsonl", sites())
    for name in ("templates", "near"):
        rows = ({"site": found["row"]["site"], **row} for found in _merged(paths) for row in found[name])
        write_lines(out / f"{name}.jsonl", map(to_json, rows))
    write_json(out / "report.json", totals)
    return totals


def _merged(paths: list[Path]) -> Iterator[dict[str, Any]]:
    """Yield the sites of all partitions, by name; a line of each is in memory."""
    yield from heapq.merge(*map(_lines, paths), key=lambda found: str(found["row"]["site"]))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)
