"""The experiments of Lin and Ho 2002 on our corpora: figures 5 to 7 and table 2.

Recall and precision are of features: terms in the blocks that were selected against terms in the content blocks by our
labels (section 5, figure 4). The threshold on H(CB) goes from 0.1 to 0.9; entropies come from ten training pages.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.datasets import DataSet, Sample
from experiments.metrics import Counts, feature_counts, total
from experiments.plots import Figure
from experiments.report import Report, Section, Table
from experiments.runs import Context, classes_of, report_of
from extract.methods.entropy import TRAINING_PAGES, InfoDiscoverer

THRESHOLDS = tuple(round(0.1 * step, 1) for step in range(1, 10))
"""Of figures 5 and 6."""

TRAINING = (5, 10, 15, 20, 25, 30, 35, 40)
"""Numbers of training pages of figure 7, as far as a class has them."""

CONVERGED = 0.005
"""A recall that grows by less has converged (section 5: "the number of features (recall rate) is not increased")."""

Classes = Mapping[str, Sequence[Sample]]


def entropy(data: Sequence[DataSet], context: Context) -> Report:
    """Return the report on recall and precision over the threshold and the number of training pages."""
    classes = {
        name: samples
        for each in data
        for name, samples in classes_of(each, context.min_pages).items()
        if samples[0].truth is not None
    }
    if not classes:
        raise ValueError(f"no site and year with {context.min_pages} pages and truth: thresholds are judged by labels")
    rng = np.random.default_rng(context.seed)
    orders = {name: [samples[at] for at in rng.permutation(len(samples))] for name, samples in classes.items()}
    curves = {}
    for name, samples in orders.items():
        context.progress(f"figures 5 and 6: {name}")
        curves[name] = scores(samples, TRAINING_PAGES)
    summary = (
        "Lin and Ho (2002) on pages of our corpora. A class is a site in a year; entropies come from ten pages drawn "
        "at random, and all pages of the class are judged by the terms of their blocks.",
    )
    sections = [_thresholds(curves), _table_2(orders, curves), _training(orders, context)]
    title = "Discovering informative content blocks: our figures"
    return report_of(
        title, summary, data, sections, experiment="entropy", training_pages=TRAINING_PAGES, seed=context.seed
    )


def scores(samples: Sequence[Sample], training: int, thresholds: Sequence[float] = THRESHOLDS) -> list[Counts]:
    """Return the counts of features at each threshold, with entropies of the first `training` samples."""
    method = InfoDiscoverer()
    evidence = method.prepare(sample.fresh() for sample in samples[:training])
    counts = [Counts() for _ in thresholds]
    for sample in samples:
        blocks = [(evidence.of_block(terms), terms) for terms in method.blocks_of(sample.fresh())]
        wanted = {term for (_, terms), label in zip(blocks, sample.labels, strict=True) if label for term in terms}
        for at, threshold in enumerate(thresholds):
            found = {term for value, terms in blocks if value <= threshold for term in terms}
            counts[at] += feature_counts(found, wanted)
    return counts


def optimal(counts: Sequence[Counts], thresholds: Sequence[float] = THRESHOLDS) -> float:
    """Return the threshold at which recall has converged: the first one within CONVERGED of the last."""
    last = counts[-1].recall
    return next(
        threshold for threshold, each in zip(thresholds, counts, strict=True) if each.recall >= last - CONVERGED
    )


def _thresholds(curves: Mapping[str, list[Counts]]) -> Section:
    recall = {name: [(t, c.recall) for t, c in zip(THRESHOLDS, counts, strict=True)] for name, counts in curves.items()}
    precision = {
        name: [(t, c.precision) for t, c in zip(THRESHOLDS, counts, strict=True)] for name, counts in curves.items()
    }
    label = "threshold of H(CB)"
    return Section(
        "Figures 5 and 6: recall and precision over the threshold",
        (),
        [
            Figure("figure5", "Figure 5: recall of each class", label, "recall of terms", recall, y_range=(0, 1.02)),
            Figure("figure6", "Figure 6: precision", label, "precision of terms", precision, y_range=(0, 1.02)),
        ],
    )


def _table_2(orders: Classes, curves: Mapping[str, list[Counts]]) -> Section:
    rows: list[tuple[str | int | float, ...]] = []
    for name, counts in curves.items():
        best = optimal(counts)
        at = THRESHOLDS.index(best)
        highest = max(range(len(counts)), key=lambda each: counts[each].f_measure)
        greedy = InfoDiscoverer().prepare(sample.fresh() for sample in orders[name][:TRAINING_PAGES]).threshold
        found = counts[min(max(round(greedy * 10) - 1, 0), len(counts) - 1)]
        converged = (best, counts[at].recall, counts[at].precision)
        alone = (round(greedy, 1), found.recall, found.precision)
        rows.append((name, len(orders[name]), *converged, *alone, THRESHOLDS[highest], counts[highest].f_measure))
    of_greedy = ("greedy H(CB)", "recall there", "precision there")
    head = ("site", "pages", "optimal H(CB)", "recall", "precision", *of_greedy, "H(CB) of best F", "best F")
    note = (
        "Optimal, as in the paper: where recall has converged. Greedy: what InfoDiscoverer finds by itself, without "
        "labels. Printed in the paper, for tables of 13 Taiwanese sites: recall 0.956 or more but for one site, "
        "precision 0.959 or more but for one, at thresholds from 0.1 to 0.7."
    )
    return Section(
        "Table 2: optimal thresholds", (), [Table("table2", "Recall and precision at the thresholds", head, rows, note)]
    )


def _training(orders: Classes, context: Context) -> Section:
    recall: list[tuple[float, float]] = []
    precision: list[tuple[float, float]] = []
    by_site: dict[str, list[tuple[float, float]]] = {}
    for size in (size for size in TRAINING if size <= max(map(len, orders.values()))):
        context.progress(f"figure 7: {size} training pages")
        counts = []
        for name, samples in orders.items():
            if len(samples) < size:
                continue
            curve = scores(samples, size)
            chosen = curve[THRESHOLDS.index(optimal(curve))]
            counts.append(chosen)
            by_site.setdefault(name, []).append((size, chosen.precision))
        recall.append((size, total(counts).recall))
        precision.append((size, total(counts).precision))
    label = "training pages"
    series = {"recall": recall, "precision": precision}
    return Section(
        "Figure 7: number of training pages",
        ("At each class's optimal threshold; classes with fewer pages drop out.",),
        [
            Figure("figure7", "Figure 7: recall and precision, all classes", label, "share of terms", series),
            Figure("figure7-sites", "Precision of each class", label, "precision of terms", by_site),
        ],
    )
