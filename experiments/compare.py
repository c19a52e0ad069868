"""All extractors side by side: b-precision, b-recall, b-F by corpus, words against the truth text, and speed."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from experiments.datasets import DataSet, Sample
from experiments.metrics import Counts, feature_counts, total
from experiments.plots import Figure
from experiments.report import Cell, Report, Section, Table
from experiments.runs import CLAIMS_HEAD, Context, claim, report_of, run, triple
from extract.protocol import MissingExtra
from extract.registry import names

Claim = tuple[str, str, str, str]

PAGES_A_SECOND = 20
"""What each method is to do, on news, beside those named in SLOW."""

SLOW = ("Shingling",)

NON_EMPTY = 0.95
"""The share of pages of which each method is to extract some text."""


def compare(data: Sequence[DataSet], context: Context) -> Report:
    """Return the report that compares all extractors over the corpora; classes are sites in years."""
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    series: dict[str, list[tuple[float | str, float]]] = {}
    claims: list[Claim] = []
    for corpus in data:
        texts: dict[str, list[str]] = {}
        groups = corpus.groups()
        for name in names():
            context.progress(f"{corpus.name}: {name}")
            try:
                row, texts[name] = _row(name, list(groups.values()))
            except (MissingExtra, ModuleNotFoundError) as exc:
                notes.append(f"{name} is left out: {exc}.")
                continue
            rows.append((corpus.name, name, *row))
            series.setdefault(corpus.name, []).append((name, row[2]))
        claims += _claims(corpus.name, {str(name): row for where, name, *row in rows if where == corpus.name}, texts)
    head = ("corpus", "method", "b-Prec", "b-Recall", "b-F", "words F", "empty", "pages/s")
    table = Table("methods", "All extractors", head, rows)
    figure = Figure("methods-f", "b-F-measure of all extractors", "method", "b-F-measure", series, kind="bars")
    summary = [
        "Every extractor over the same pages. b-scores are those of all blocks together; words F compares the distinct "
        "words of the extracted text with those of the truth, mean of the pages; empty is the share of pages without "
        "any text extracted; pages a second of CPU from the bytes to the verdicts, cutting and learning included.",
        *notes,
    ]
    settings: dict[str, Cell] = {"experiment": "compare"}
    sections = [Section("All methods", (), [figure, table, Table("claims", "Claims", CLAIMS_HEAD, claims)])]
    return report_of("Extractors compared", summary, data, sections, **settings, seed=context.seed)


def _claims(corpus: str, rows: Mapping[str, Sequence[Cell]], texts: Mapping[str, Sequence[str]]) -> list[Claim]:
    """Return whether each method finds something, quickly, and something of its own."""
    empty = {name: float(row[4]) for name, row in rows.items()}
    speed = {name: float(row[5]) for name, row in rows.items() if name not in SLOW}
    slowest, emptiest = min(speed, key=speed.__getitem__), max(empty, key=empty.__getitem__)
    equal = [f"{one} and {other}" for one, other in combinations(texts, 2) if texts[one] == texts[other]]
    return [
        claim(
            f"{corpus}: each method but {', '.join(SLOW)} does {PAGES_A_SECOND} pages a second",
            speed[slowest] >= PAGES_A_SECOND,
            f"the slowest is {slowest}, {speed[slowest]:.0f} pages a second",
            "see the table",
        ),
        claim(
            f"{corpus}: each method finds text on {NON_EMPTY:.0%} of the pages",
            empty[emptiest] <= 1 - NON_EMPTY,
            f"least often {emptiest}, on {1 - empty[emptiest]:.1%}",
            "see the table",
        ),
        claim(
            f"{corpus}: no two methods agree on every page",
            not equal,
            f"{len(texts)} methods" + (f"; equal: {', '.join(equal)}" if equal else ""),
            "on these pages they see the same",
        ),
    ]


def _row(name: str, groups: Sequence[Sequence[Sample]]) -> tuple[tuple[float, ...], list[str]]:
    """Return a method's cells, and the texts it extracted."""
    counts, seconds, empty, pages = Counts(), 0.0, 0, 0
    word_scores: list[float] = []
    texts: list[str] = []
    for samples in groups:
        found = run(name, samples, keep_texts=True)
        counts += total(found.counts)
        seconds += found.seconds
        pages += len(samples)
        texts += found.texts
        empty += sum(not text.strip() for text in found.texts)
        for sample, text in zip(samples, found.texts, strict=True):
            if isinstance(sample.truth, str):
                word_scores.append(feature_counts(text.lower().split(), sample.truth.lower().split()).f_measure)
    words = sum(word_scores) / len(word_scores) if word_scores else float("nan")
    return (*triple(counts), words, empty / pages, pages / seconds), texts
