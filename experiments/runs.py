"""Running methods over classes of pages, and what comes out: counts a page, seconds, claims that hold or do not."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.datasets import DataSet, Sample
from experiments.metrics import Counts, block_counts, total
from experiments.report import Cell, Report, Section, Table
from extract.protocol import Extraction, Page
from extract.registry import extractor

MIN_PAGES = 10
"""Pages of a site and year below which it is no class to compare methods on."""

SHORT = {
    "InfoDiscoverer": "LH",
    "ContentExtractor": "CE",
    "FeatureExtractor": "FE",
    "K-FeatureExtractor": "K-FE",
}
"""How the paper calls them in its tables."""

SEED = 0


@dataclass(frozen=True)
class Context:
    """How far the experiments go: sizes that a test makes small, and where progress is told."""

    progress: Callable[[str], None] = lambda _: None
    seed: int = SEED
    sizes: tuple[int, ...] = (50, 100, 200, 400)
    """Numbers of pages over which time is measured."""

    min_pages: int = MIN_PAGES
    store: bool = True
    """Whether the pages are kept in a real store beside figure 8."""


@dataclass(frozen=True)
class Run:
    """A method over one class: counts of each sample in order, and the CPU seconds from the bytes on."""

    method: str
    counts: tuple[Counts, ...]
    seconds: float
    texts: tuple[str, ...] = field(default=(), repr=False)

    @property
    def total(self) -> Counts:
        return total(self.counts)


def run(
    name: str,
    samples: Sequence[Sample],
    *,
    learn_from: Sequence[Sample] | None = None,
    keep_texts: bool = False,
    **parameters: Any,
) -> Run:
    """Return what a method makes of samples of one class; it learns from `learn_from`, by default from all of them."""
    method = extractor(name, **parameters)
    labels = [sample.labels for sample in samples]
    seconds = -time.process_time()
    pages = [sample.fresh() for sample in samples]
    evidence = method.prepare(pages if learn_from is None else (sample.fresh() for sample in learn_from))
    counts, texts = [], []
    for page, wanted in zip(pages, labels, strict=True):
        extraction = method.extract(page, evidence)
        counts.append(block_counts(extraction.flags, wanted))
        if keep_texts:
            texts.append(extraction.text)
    seconds += time.process_time()
    return Run(name, tuple(counts), seconds, tuple(texts))


def seconds_of(name: str, samples: Iterable[Sample], **parameters: Any) -> float:
    """Return the CPU seconds a method takes over a class of pages, from the bytes to the verdicts."""
    method = extractor(name, **parameters)
    start = time.process_time()
    pages = [sample.fresh() for sample in samples]
    evidence = method.prepare(pages)
    for page in pages:
        method.extract(page, evidence)
    return time.process_time() - start


def extractions(name: str, pages: Sequence[Page], **parameters: Any) -> list[Extraction]:
    """Return the extractions of the pages of one class."""
    method = extractor(name, **parameters)
    evidence = method.prepare(pages)
    return [method.extract(page, evidence) for page in pages]


def classes_of(data: DataSet, min_pages: int = MIN_PAGES) -> dict[str, list[Sample]]:
    """Return the sites and years with enough pages."""
    return {name: samples for name, samples in data.groups().items() if len(samples) >= min_pages}


def layout_of(samples: Sequence[Sample]) -> str:
    """Return `TABLE` when over half of the labelled blocks' words stand inside tables, else `DIV`."""
    inside = outside = 0
    for sample in samples:
        page = sample.fresh()
        tree = page.tree
        depth = [0] * len(tree)
        for node in range(1, len(tree)):
            depth[node] = depth[tree.parents[node]] + (tree.names[node] == "table")
            if tree.names[node] == "#text":
                length = tree.ends[node] - tree.starts[node]
                inside, outside = inside + length * (depth[node] > 0), outside + length * (depth[node] == 0)
    return "TABLE" if inside > outside else "DIV"


def scores_table(
    name: str, title: str, runs: Mapping[str, Sequence[Run]], pages: Mapping[str, int], *, note: str = ""
) -> Table:
    """Return b-precision, b-recall and b-F-measure of runs by class, with a row for the sum of each method's counts.

    The mean is that of the classes, so that a class of many blocks does not outweigh the others.
    """
    methods = [SHORT.get(each.method, each.method) for each in next(iter(runs.values()))]
    head = (
        "site",
        "pages",
        *(f"{measure} of {method}" for method in methods for measure in ("b-Prec", "b-Recall", "b-F")),
    )
    rows: list[tuple[str | int | float, ...]] = []
    for group, of_group in runs.items():
        numbers = [value for each in of_group for value in triple(each.total)]
        rows.append((group, pages[group], *numbers))
    if len(rows) > 1:
        means = [sum(float(row[column]) for row in rows) / len(rows) for column in range(2, len(head))]
        sums = [
            value for at in range(len(methods)) for value in triple(total(each[at].total for each in runs.values()))
        ]
        n_pages = sum(pages[group] for group in runs)
        rows += [("mean of the sites", n_pages, *means), ("all blocks together", n_pages, *sums)]
    return Table(name, title, head, rows, note)


def triple(counts: Counts) -> tuple[float, float, float]:
    """Return precision, recall and F-measure."""
    return counts.precision, counts.recall, counts.f_measure


def report_of(
    title: str,
    summary: Sequence[str],
    data: Sequence[DataSet],
    sections: Sequence[Section],
    **settings: Cell,
) -> Report:
    """Return a report with its settings, underscores as spaces, and the digests of its data."""
    digests = {name: digest for each in data for name, digest in each.digests.items()}
    return Report(
        title, summary, {name.replace("_", " "): value for name, value in settings.items()}, digests, sections
    )


def claim(text: str, holds: bool, figures: str, why: str = "") -> tuple[str, str, str, str]:
    """Return a row of a table of claims."""
    return text, "holds" if holds else "does not hold", figures, "" if holds else why


CLAIMS_HEAD = ("claim", "here", "figures", "why not")
