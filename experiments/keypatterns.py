"""The experiment of the key pattern paper on our corpora: table 1, figures 5 and 6.

The paper lets experts judge 19 pages of a university. Here 19 pages are drawn from the corpora; a block of the method
is right when it is content by our labels, and what should be found are the content blocks.
"""

from collections.abc import Sequence

import numpy as np

from experiments.datasets import DataSet
from experiments.metrics import block_counts, total
from experiments.plots import Figure
from experiments.report import Cell, Report, Section, Table
from experiments.runs import Context, report_of, triple
from extract.methods.patterns import THRESHOLD, KeyPatterns

PAGES = 19
"""Of table 1."""

THRESHOLDS = (1, 2, 3, 4, 6, 8, 12, 20)
PRINTED = (0.732, 0.802, 0.738)
"""Mean precision, recall and F of the paper's table 1."""


def patterns(data: Sequence[DataSet], context: Context) -> Report:
    """Return the report on key pattern segmentation with block importance."""
    samples = [sample for each in data for sample in each.samples if sample.truth is not None]
    if not samples:
        raise ValueError("no page with truth: precision and recall need labels")
    order = np.random.default_rng(context.seed).permutation(len(samples))[:PAGES]
    chosen = [samples[at] for at in sorted(order.tolist())]
    rows: list[tuple[str | int | float, ...]] = []
    means: dict[int, tuple[float, float, float]] = {}
    for threshold in THRESHOLDS:
        context.progress(f"threshold {threshold}")
        method = KeyPatterns(threshold)
        pages = [sample.fresh() for sample in chosen]
        counts = [
            block_counts(method.extract(page, method.prepare([page])).flags, sample.labels)
            for page, sample in zip(pages, chosen, strict=True)
        ]
        scores = [triple(each) for each in counts]
        means[threshold] = tuple(sum(column) / len(scores) for column in zip(*scores, strict=True))
        if threshold == THRESHOLD:
            rows = [(n, sample.page.url, *each) for n, (sample, each) in enumerate(zip(chosen, scores, strict=True), 1)]
            rows += [("mean", "", *means[threshold]), ("together", "", *triple(total(counts)))]
            rows.append(("mean as printed", "19 pages of a university, judged by experts", *PRINTED))
    summary = ("Key pattern segmentation with block importance, on pages drawn at random from our corpora.",)
    settings: dict[str, Cell] = {"experiment": "patterns", "pages": len(chosen), "threshold": THRESHOLD}
    sections = _sections(rows, means)
    return report_of("Key patterns: our figures", summary, data, sections, **settings, seed=context.seed)


def _sections(rows: list[tuple[str | int | float, ...]], means: dict[int, tuple[float, float, float]]) -> list[Section]:
    pages = [row for row in rows if isinstance(row[0], int)]
    by_page = {
        "precision": [(float(row[0]), float(row[2])) for row in pages],
        "recall": [(float(row[0]), float(row[3])) for row in pages],
    }
    f_measure = {"F": [(float(row[0]), float(row[4])) for row in pages]}
    over = {
        name: [(float(threshold), each[at]) for threshold, each in means.items()]
        for at, name in enumerate(("precision", "recall", "F"))
    }
    whole = (0.0, 1.02)
    table = Table("table1", "Table 1: precision and recall", ("page", "URL", "Precision", "Recall", "F Score"), rows)
    return [
        Section("Table 1", (), [table]),
        Section(
            "Figures 5 and 6",
            (),
            [
                Figure("figure5", "Figure 5: precision and recall by page", "page", "share", by_page, y_range=whole),
                Figure("figure6", "Figure 6: F score by page", "page", "F", f_measure, y_range=whole),
            ],
        ),
        Section(
            "The threshold of importance",
            ("The paper does not print its threshold; this is what others would have done, means of the pages.",),
            [Figure("thresholds", "Mean scores over the threshold", "meaningful tags", "share", over, y_range=whole)],
        ),
    ]
