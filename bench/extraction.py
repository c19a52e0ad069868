"""Extraction beside the peers' on the same pages in one run: word F1, CPU time as a multiple of lxml's parse, memory.

    python -m bench.extraction PAGES.warc.gz TRUTH.jsonl [--by page_type] [--folds 5] [--pages N] [--only NAME]

With --folds our method is trained on the other folds before it judges a page, split by registrable domain; without,
the shipped numbers judge, alone and with the evidence of the site. Each extractor runs in a process of its own, on one
core, its garbage collector set as the program's. CPU time counts from a page's bytes to its text; lxml parses each page
in the same process just before, so that what else the machine does slows down both. Memory is what the process has at
its peak beyond its start, lxml's tree of one page included.
"""

import argparse
import gc
import json
import os
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from apps.cli import GARBAGE_OBJECTS
from apps.extracting import Item, Source
from apps.warc.messages import Limits
from apps.warc.sources import Position
from bench.extractors import PEERS, Extract, alone, cross_validated, lxml_parse, with_site

LIMITS = Limits(1 << 28, 1000.0)


@dataclass(frozen=True, slots=True)
class Result:
    """What an extractor made of the pages: texts in order, CPU seconds, those lxml took to parse the same pages, bytes
    of memory at the peak."""

    texts: list[str]
    seconds: float
    parse_seconds: float
    memory: int


def run(begin: Callable[[], Extract], items: Sequence[Item]) -> Result | None:
    """Run an extractor over the pages in a process of its own; None when it is not installed."""
    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(begin, items, theirs))
    process.start()
    theirs.close()
    result: Result | None = ours.recv()
    process.join()
    return result


def _run(begin: Callable[[], Extract], items: Sequence[Item], out: Connection) -> None:
    try:
        extract, parse = begin(), lxml_parse()
    except ModuleNotFoundError:
        out.send(None)
        return
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    texts, seconds, parse_seconds = [], 0.0, 0.0
    for item in items:
        start = time.process_time()
        parse(item)
        parsed = time.process_time()
        try:
            text = extract(item)
        except Exception:  # a peer that fails on a page has found nothing
            text = ""
        seconds += time.process_time() - parsed
        parse_seconds += parsed - start
        texts.append(text)
    memory = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    out.send(Result(texts, seconds, parse_seconds, memory))
    out.close()


def f1_of(text: str, truth: str) -> float:
    """Return the F1 of two bags of words."""
    from extract.default.training import word_f1
    from extract.default.truth import words_of

    return word_f1(Counter(words_of(text)), Counter(words_of(truth)))


def read(warc: Path, truth: Path, limit: int) -> Iterator[tuple[Item, dict[str, Any]]]:
    """Yield the pages whose main content is known."""
    with truth.open(encoding="utf-8") as file:
        known = {row["record_id"]: row for row in map(json.loads, file) if "text" in row}
    for item in Source(warc, LIMITS, Position()).items():
        if item.record_id in known and limit > 0:
            limit -= 1
            yield item, known[item.record_id]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("warc", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--by", default="", help="keys of the truth to group by: page_type, or source,year")
    parser.add_argument("--folds", type=int, default=0, help="train by cross-validation")
    parser.add_argument("--pages", type=int, default=1 << 30, help="only the first so many")
    parser.add_argument("--only", action="append", help="only this extractor; may be repeated")
    return parser.parse_args()


def _groups_of(truth: dict[str, Any], by: str) -> list[str]:
    """Return the groups of a page: by the first key, by the first two, and so on."""
    values = [str(truth.get(key, "")) for key in by.split(",")] if by else []
    return [" ".join(values[: n + 1]) for n in range(len(values))]


def _scores(
    texts: Sequence[str], truths: Sequence[dict[str, Any]], groups: Sequence[Sequence[str]]
) -> dict[str, float]:
    """Return the mean F1 over all pages and over each group."""
    scores: dict[str, list[float]] = defaultdict(list)
    for text, truth, found in zip(texts, truths, groups, strict=True):
        value = f1_of(text, truth["text"])
        for group in ("all", *found):
            scores[group].append(value)
    return {group: sum(values) / len(values) for group, values in scores.items()}


def main() -> None:
    """Measure and print a table."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    gc.set_threshold(GARBAGE_OBJECTS)
    given = _arguments()
    pairs = list(read(given.warc, given.truth, given.pages))
    items, truths = [item for item, _ in pairs], [truth for _, truth in pairs]
    begins: dict[str, Callable[[], Extract]] = {}
    if given.folds:
        begins[f"Pagemason, {given.folds} folds"] = cross_validated(items, truths, given.folds)
    else:
        begins |= {"Pagemason alone": alone, "Pagemason with site": with_site(items)}
    begins |= PEERS
    if unknown := set(given.only or ()) - set(begins):
        raise SystemExit(f"--only {unknown.pop()!r}: one of {', '.join(begins)} expected")
    groups = [_groups_of(truth, given.by) for truth in truths]
    columns = ["all", *sorted({group for found in groups for group in found})]
    print(f"| extractor | {' | '.join(['words F1', *columns[1:]])} | x lxml parse | ms a page | MB |")
    print(f"|---|{'--:|' * len(columns)}--:|--:|--:|")
    for name, begin in begins.items():
        if given.only and name not in given.only:
            continue
        result = run(begin, items)
        if result is None:
            print(f"{name} is not installed", file=sys.stderr)
            continue
        scores = _scores(result.texts, truths, groups)
        cells = [f"{scores[group]:.3f}" for group in columns]
        times, milliseconds = result.seconds / result.parse_seconds, 1000 * result.seconds / len(items)
        cost = f"{times:.1f} | {milliseconds:.1f} | {result.memory / 1e6:.0f}"
        print(f"| {name} | {' | '.join(cells)} | {cost} |", flush=True)


if __name__ == "__main__":
    main()
