"""The experiments of Bing et al. 2008 on our corpora: figures 3 to 8.

Precision, recall and F-measure are of sentences (section 5): those of the extracted text against those of the truth. A
page with F above 0.9 is good enough. Parameters are studied in four-fold cross validation over pages of all classes.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from experiments.datasets import DataSet, Sample
from experiments.metrics import Counts, sentence_counts
from experiments.plots import Figure
from experiments.report import Cell, Report, Section, Table
from experiments.runs import Context, classes_of, report_of, run, seconds_of
from experiments.training import FOLDS_MOUNTAIN, fit_mountain, ridge_rows
from extract.methods.mountain import MountainModel, Shape
from extract.methods.svm import RbfSvm
from extract.protocol import NoEvidence

GOOD = 0.9
"""The F-measure of a good enough page."""

STUDY_PAGES = 160
"""Pages on which parameters are studied."""

WINDOWS = (3, 5, 7, 9, 11)
BLANKS = (50, 100, 200, 300, 400)
SPANS = (1, 3, 5, 9)
PEAKS = (1.5, 2.0, 3.0, 4.0, 5.0)
TRAINING_PAGES = 10
"""Pages of a class that train its site-oriented classifier (section 5)."""

Classes = Mapping[str, Sequence[Sample]]


def mountain(data: Sequence[DataSet], context: Context) -> Report:
    """Return the report on parameters, on performance by corpus and by site, on SST against MM, and on time."""
    samples = [sample for each in data for sample in each.samples if isinstance(sample.truth, str)]
    if len(samples) < 2 * FOLDS_MOUNTAIN:
        raise ValueError(f"{len(samples)} pages with a truth text: at least {2 * FOLDS_MOUNTAIN} expected")
    classes = {
        name: each
        for corpus in data
        for name, each in classes_of(corpus, context.min_pages).items()
        if isinstance(each[0].truth, str)
    }
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.group, []).append(sample)
    study = [sample for turn in zip_longest(*groups.values()) for sample in turn if sample][:STUDY_PAGES]
    sections = [_parameters(study, context), _universal(data, study, context)]
    if classes:
        sections += [_by_site(classes, context), _against_sst(classes, context)]
    sections.append(_time(samples, context))
    summary = (
        "Bing, Wang, Zhang and Wang (2008) on pages of our corpora. Sentences of the extracted text are compared with "
        "those of the truth; a page with F above 0.9 is good enough.",
    )
    settings: dict[str, Cell] = {"experiment": "mountain", "pages of the study": len(study), "seed": context.seed}
    return report_of("Mountain Model: our figures", summary, data, sections, **settings)


def page_scores(samples: Sequence[Sample], shape: Shape, classifier: RbfSvm | None, keep: bool = False) -> list[Counts]:
    """Return the sentence counts of pages under a shape and a classifier, None for the universal one.

    With `keep` what is derived from the pages stays, for those that are judged again and again.
    """
    method = MountainModel(shape, classifier)
    pages = (sample.page if keep else sample.fresh() for sample in samples)
    texts = (method.extract(page, NoEvidence()).text for page in pages)
    return [sentence_counts(text, str(sample.truth)) for text, sample in zip(texts, samples, strict=True)]


def good_share(counts: Sequence[Counts]) -> float:
    """Return the share of good enough pages."""
    return sum(each.f_measure > GOOD for each in counts) / max(len(counts), 1)


def cross_validated(samples: Sequence[Sample], shape: Shape) -> list[Counts]:
    """Return the sentence counts of pages, each judged by a classifier trained on the other three quarters."""
    rows = [ridge_rows([sample], shape) for sample in samples]
    found: list[Counts] = [Counts()] * len(samples)
    for fold in range(FOLDS_MOUNTAIN):
        learn = [each for at, each in enumerate(rows) if at % FOLDS_MOUNTAIN != fold]
        machine = fit_mountain(np.concatenate([each[0] for each in learn]), np.concatenate([each[1] for each in learn]))
        places = range(fold, len(samples), FOLDS_MOUNTAIN)
        for at, counts in zip(places, page_scores([samples[at] for at in places], shape, machine, True), strict=True):
            found[at] = counts
    return found


def _parameters(study: Sequence[Sample], context: Context) -> Section:
    """Return figures 3 and 4."""
    three: dict[str, list[tuple[float, float]]] = {}
    for window in WINDOWS:
        for blank in BLANKS:
            context.progress(f"figure 3: window {window}, blank cells every {blank}")
            share = good_share(cross_validated(study, Shape(window=window, blank_every=blank)))
            three.setdefault(f"window {window}", []).append((blank, share))
    four: dict[str, list[tuple[float, float]]] = {}
    for span in SPANS:
        for peak in PEAKS:
            context.progress(f"figure 4: span {span}, peak factor {peak}")
            share = good_share(cross_validated(study, Shape(span=span, peak_factor=peak)))
            four.setdefault(f"span {span}", []).append((peak, share))
    label = "pages with F > 0.9"
    text = (
        f"{len(study)} pages, all sites in turn, four-fold cross validation over the pages. The paper chose window 5, "
        "a blank cell every 200 characters, span 5, peak factor 3.",
    )
    return Section(
        "Figures 3 and 4: parameters",
        text,
        [
            Figure("figure3", "Figure 3: smoothing window and blank cells", "characters a blank cell", label, three),
            Figure("figure4", "Figure 4: span window and peak factor", "peak factor", label, four),
        ],
    )


def _universal(data: Sequence[DataSet], study: Sequence[Sample], context: Context) -> Section:
    """Return figure 5: how many pages reach which score, by corpus, with the universal classifier."""
    series: dict[str, list[tuple[float | str, float]]] = {}
    rows: list[tuple[Cell, ...]] = []
    sets: dict[str, list[Counts]] = {}
    for corpus in data:
        samples = [sample for sample in corpus.samples if isinstance(sample.truth, str)]
        if samples:
            context.progress(f"figure 5: {corpus.name}")
            sets[f"{corpus.name}, universal"] = page_scores(samples, Shape(), None)
    sets["study pages, cross validation"] = cross_validated(study, Shape())
    for name, counts in sets.items():
        values = {
            "F > 0.9": good_share(counts),
            "F > 0.8": sum(each.f_measure > 0.8 for each in counts) / len(counts),
            "recall > 0.95": sum(each.recall > 0.95 for each in counts) / len(counts),
            "precision > 0.9": sum(each.precision > 0.9 for each in counts) / len(counts),
        }
        series[name] = [*values.items()]
        rows.append((name, len(counts), *values.values()))
    head = ("data set", "pages", "F > 0.9", "F > 0.8", "recall > 0.95", "precision > 0.9")
    note = "Printed in the paper for two result lists of a search engine: 90 % and 86 % of pages with F above 0.9."
    return Section(
        "Figure 5: universal performance",
        ("The universal classifier is the shipped one, trained on WCXB, which has no page of other corpora.",),
        [
            Figure("figure5", "Figure 5: pages that reach a score", "score", "share of pages", series, kind="bars"),
            Table("figure5-table", "Pages that reach a score", head, rows, note),
        ],
    )


def _by_site(classes: Classes, context: Context) -> Section:
    """Return figure 6: the universal classifier on single sites."""
    points: list[tuple[float | str, float]] = []
    for name, samples in classes.items():
        context.progress(f"figure 6: {name}")
        points.append((name, good_share(page_scores(samples, Shape(), None))))
    figure = Figure(
        "figure6", "Figure 6: universal classifier by site", "site", "pages with F > 0.9", {"MM": points}, "bars"
    )
    return Section("Figure 6: single sites", (), [figure])


def _against_sst(classes: Classes, context: Context) -> Section:
    """Return figure 7: Site Style Tree against the Mountain Model with a classifier of the site."""
    series: dict[str, list[tuple[float | str, float]]] = {"SST": [], "MM, classifier of the site": []}
    means: dict[str, list[float]] = {name: [] for name in series}
    for name, samples in classes.items():
        context.progress(f"figure 7: {name}")
        learn, judge = samples[:TRAINING_PAGES], samples[TRAINING_PAGES:]
        if not judge:
            continue
        machine = fit_mountain(*ridge_rows(learn))
        texts = run("StyleTree", samples, keep_texts=True).texts[TRAINING_PAGES:]
        both: dict[str, list[Counts]] = {
            "SST": [sentence_counts(text, str(each.truth)) for text, each in zip(texts, judge, strict=True)],
            "MM, classifier of the site": page_scores(judge, Shape(), machine),
        }
        for label, counts in both.items():
            mean = sum(each.f_measure for each in counts) / len(counts)
            series[label].append((name, mean))
            means[label].append(mean)
    rows = [(label, len(values), sum(values) / max(len(values), 1)) for label, values in means.items()]
    better = sum(b > a for a, b in zip(*means.values(), strict=True))
    text = (
        "Ten pages of a site train its classifier, the others are judged. "
        f"MM is better on {better} of {rows[0][1]} sites.",
    )
    return Section(
        "Figure 7: SST and MM",
        text,
        [
            Figure("figure7", "Figure 7: mean F by site", "site", "mean F of sentences", series, kind="bars"),
            Table("figure7-table", "Mean F of the sites", ("method", "sites", "F"), rows),
        ],
    )


def _time(samples: Sequence[Sample], context: Context) -> Section:
    """Return figure 8: seconds over the number of pages."""
    sizes = sorted({min(size, len(samples)) for size in context.sizes})
    seconds: list[tuple[float, Any]] = []
    for size in sizes:
        context.progress(f"figure 8: {size} pages")
        seconds.append((size, seconds_of("MountainModel", samples[:size])))
    speed = seconds[-1][0] / seconds[-1][1]
    text = (f"From the bytes to the verdicts, one process: {speed:.1f} pages a second. The paper: 19.5.",)
    figure = Figure("figure8", "Figure 8: time efficiency", "pages", "seconds", {"Mountain Model": seconds})
    return Section("Figure 8: time", text, [figure])
