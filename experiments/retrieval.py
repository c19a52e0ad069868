"""Block retrieval and query expansion over FixedPS, DomPS, VIPS and CombPS (Cai et al. 2004), as known-item search.

TREC is not here: a query is the title of a page, its answer that page. Pages are ranked by Okapi BM25, whole (document
retrieval) or by their best segment (block retrieval); expansion adds terms from the best pages, or best segments, and
ranks whole pages again.
"""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field

import numpy as np

from blocks.text import terms
from experiments.datasets import DataSet
from experiments.plots import Figure
from experiments.report import Cell, Report, Section, Table
from experiments.runs import Context, report_of
from extract.protocol import MissingExtra, Page, Segmenter
from extract.registry import names, segmenter
from extract.segmenters.bm25 import Bm25, best_by_page, expanded
from extract.segmenters.boxes import Renderer

PAGES = 150
"""Pages searched: each is rendered once."""

CUTOFF = 10

RENDERED = ("VIPS", "CombPS")
"""Segmenters that need a rendering."""


@dataclass
class Scores:
    """Ranks at which the wanted pages were found, 0 for not at all."""

    ranks: list[int] = field(default_factory=list)

    def add(self, ranked: Sequence[tuple[int, float]], wanted: int) -> None:
        """Note at which rank a page stands."""
        pages = [page for page, _ in ranked]
        self.ranks.append(pages.index(wanted) + 1 if wanted in pages else 0)

    @property
    def figures(self) -> tuple[float, float, float]:
        """Mean reciprocal rank, and the share of queries answered at rank 1 and within the first CUTOFF."""
        n = max(len(self.ranks), 1)
        mean = sum(1 / rank for rank in self.ranks if rank) / n
        return mean, sum(rank == 1 for rank in self.ranks) / n, sum(0 < rank <= CUTOFF for rank in self.ranks) / n


def retrieval(data: Sequence[DataSet], context: Context) -> Report:
    """Return the report on block retrieval and query expansion by segmenter."""
    samples = [sample for each in data for sample in each.samples]
    order = np.random.default_rng(context.seed).permutation(len(samples))[:PAGES]
    pages = [samples[at].page for at in sorted(order.tolist())]
    queries = [(number, query) for number, page in enumerate(pages) if (query := dict.fromkeys(title_of(page), 1.0))]
    if not queries:
        raise ValueError("no page with a title: titles are the queries of this experiment")
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    whole = Bm25()
    texts = [terms(" ".join(page.texts)) for page in pages]
    for text in texts:
        whole.add(text)
    rows += _whole_pages(whole, texts, queries)
    browsers: list[Renderer] = []
    with ExitStack() as stack:
        for name in names("segmenter"):
            context.progress(name)
            try:
                if name in RENDERED and not browsers:
                    browsers.append(stack.enter_context(_chromium()))
                made = segmenter(name, render=browsers[0]) if name in RENDERED else segmenter(name)
            except MissingExtra as exc:
                notes.append(f"{name} is left out: {exc}.")
                continue
            rows += _by_segments(made, pages, whole, queries, context)
    return _report(data, rows, notes, len(pages), len(queries), context)


def title_of(page: Page) -> list[str]:
    """Return the terms of a page's title."""
    tree = page.tree
    for node, name in enumerate(tree.names):
        tag = tree.tags[node]
        if name == "title" and tag is not None:
            end = page.source.find("<", tag.end)
            return terms(page.source[tag.end : end if end >= 0 else len(page.source)])
    return []


def _chromium() -> AbstractContextManager[Renderer]:
    """Return a browser that measures pages while its context lasts. MissingExtra, when entered, without one."""
    from apps.rendering import Chromium

    return Chromium()


def _whole_pages(
    whole: Bm25, texts: Sequence[Sequence[str]], queries: Sequence[tuple[int, dict[str, float]]]
) -> list[tuple[Cell, ...]]:
    plain, with_terms = Scores(), Scores()
    for wanted, query in queries:
        ranked = whole.rank(query)
        plain.add(ranked, wanted)
        longer = expanded(whole, query, [texts[page] for page, _ in ranked])
        with_terms.add(whole.rank(longer), wanted)
    return [
        ("whole pages", "document retrieval", 1.0, *plain.figures, 0.0),
        ("whole pages", "query expansion", 1.0, *with_terms.figures, 0.0),
    ]


def _by_segments(
    made: Segmenter,
    pages: Sequence[Page],
    whole: Bm25,
    queries: Sequence[tuple[int, dict[str, float]]],
    context: Context,
) -> list[tuple[Cell, ...]]:
    index, page_of, texts = Bm25(), list[int](), list[list[str]]()
    seconds = 0.0
    for number, page in enumerate(pages):
        context.progress(f"{made.name}: page {number + 1} of {len(pages)}")
        seconds -= time.perf_counter()
        segments = made.segment(page)
        seconds += time.perf_counter()
        for segment in segments:
            texts.append(terms(segment.text))
            page_of.append(number)
            index.add(texts[-1])
    blocks, with_terms = Scores(), Scores()
    for wanted, query in queries:
        ranked = index.rank(query)
        blocks.add(best_by_page(ranked, page_of), wanted)
        longer = expanded(whole, query, [texts[segment] for segment, _ in ranked])
        with_terms.add(whole.rank(longer), wanted)
    mean, ms = len(page_of) / len(pages), seconds / len(pages) * 1000
    return [
        (made.name, "block retrieval", mean, *blocks.figures, ms),
        (made.name, "query expansion", mean, *with_terms.figures, ms),
    ]


def _report(
    data: Sequence[DataSet],
    rows: Sequence[tuple[Cell, ...]],
    notes: Sequence[str],
    n_pages: int,
    n_queries: int,
    context: Context,
) -> Report:
    head = ("segments", "how", "a page", "mean reciprocal rank", "first", f"within {CUTOFF}", "ms a page")
    series: dict[str, list[tuple[float | str, float]]] = {}
    for row in rows:
        series.setdefault(str(row[1]), []).append((str(row[0]), float(row[3])))
    label = "mean reciprocal rank"
    items: list[Table | Figure] = [
        Figure("retrieval", "Mean reciprocal rank", "segments", label, series, kind="bars"),
        Table("retrieval-table", "Known-item search", head, rows),
    ]
    summary = [
        "Block retrieval and query expansion after Cai, Yu, Wen and Ma (2004): a query is a page's title, its answer "
        "that page. VIPS and CombPS cut what a headless Chromium drew, without scripts and without what pages link to.",
        *notes,
    ]
    settings: dict[str, Cell] = {"experiment": "retrieval", "pages": n_pages, "queries": n_queries}
    sections = [Section("Retrieval by segments", (), items)]
    return report_of("Block-based retrieval: our figures", summary, data, sections, **settings, seed=context.seed)
