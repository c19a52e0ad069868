"""All extractors side by side: b-precision, b-recall, b-F by corpus, words against the truth text, and speed."""

from collections.abc import Sequence

from experiments.datasets import DataSet, Sample
from experiments.metrics import Counts, feature_counts, total
from experiments.plots import Figure
from experiments.report import Cell, Report, Section, Table
from experiments.runs import Context, report_of, run, triple
from extract.protocol import MissingExtra
from extract.registry import names


def compare(data: Sequence[DataSet], context: Context) -> Report:
    """Return the report that compares all extractors over the corpora; classes are sites in years."""
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    series: dict[str, list[tuple[float | str, float]]] = {}
    for corpus in data:
        groups = corpus.groups()
        for name in names():
            context.progress(f"{corpus.name}: {name}")
            try:
                row = _row(name, list(groups.values()))
            except (MissingExtra, ModuleNotFoundError) as exc:
                notes.append(f"{name} is left out: {exc}.")
                continue
            rows.append((corpus.name, name, *row))
            series.setdefault(corpus.name, []).append((name, row[2]))
    head = ("corpus", "method", "b-Prec", "b-Recall", "b-F", "words F", "empty", "pages/s")
    table = Table("methods", "All extractors", head, rows)
    figure = Figure("methods-f", "b-F-measure of all extractors", "method", "b-F-measure", series, kind="bars")
    summary = [
        "Every extractor over the same pages. b-scores are those of all blocks together; words F compares the distinct "
        "words of the extracted text with those of the truth, mean of the pages; empty is the share of pages without "
        "any text extracted; pages a second from the bytes to the verdicts, cutting and learning included.",
        *notes,
    ]
    settings: dict[str, Cell] = {"experiment": "compare"}
    sections = [Section("All methods", (), [figure, table])]
    return report_of("Extractors compared", summary, data, sections, **settings, seed=context.seed)


def _row(name: str, groups: Sequence[Sequence[Sample]]) -> tuple[float, float, float, float, float, float]:
    counts, seconds, empty, pages = Counts(), 0.0, 0, 0
    word_scores: list[float] = []
    for samples in groups:
        found = run(name, samples, keep_texts=True)
        counts += total(found.counts)
        seconds += found.seconds
        pages += len(samples)
        empty += sum(not text.strip() for text in found.texts)
        for sample, text in zip(samples, found.texts, strict=True):
            if isinstance(sample.truth, str):
                word_scores.append(feature_counts(text.lower().split(), sample.truth.lower().split()).f_measure)
    words = sum(word_scores) / len(word_scores) if word_scores else float("nan")
    return (*triple(counts), words, empty / pages, pages / seconds)
