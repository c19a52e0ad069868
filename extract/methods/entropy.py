"""InfoDiscoverer, called LH by others (Lin, Ho 2002): blocks whose terms are everywhere on a site are redundant.

A term's entropy over the d pages of a class is H(F) = - sum w_j log_d w_j, w_j the share of its occurrences that
stand on page j: 1 for a term spread evenly, 0 for one on a single page (section 4.3). A content block's entropy is the
mean over its terms (section 4.4); it is informative when it is at most a threshold, found greedily: from 0.1 upwards
as long as more terms come in (section 4.5).

The sums of tf and tf * ln(tf) over the pages give a term's entropy, so evidence merges by addition. The paper's first
phase takes each TABLE without its inner tables as a block (`unit="table"`); its second, which cuts finer "while the
classification is ambiguous", is not printed: by default our atomic blocks are the finer ones.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from extract.methods.cover import NO_TEXT, Unit, judge
from extract.methods.styles import entropy
from extract.methods.words import features
from extract.protocol import Extraction, Page, Verdict
from extract.tree import TEXT

STEP = 0.1
"""Between two thresholds that are tried."""

GAIN = 0.05
"""A step that adds fewer terms than this share of those included adds none. Among the tables of the paper a step can
be empty; among atomic blocks some block lies in every interval."""

TRAINING_PAGES = 10
"""Pages of the class on which the threshold is found (section 5)."""

UNITS = ("block", "table")


@dataclass(frozen=True)
class TermEntropies:
    """For each term the sums of tf and tf * ln(tf) over pages, and the blocks of a few training pages by URL."""

    n_pages: int = 0
    sums: dict[str, tuple[int, float]] = field(default_factory=dict)
    training: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = ()

    def merge(self, other: "TermEntropies") -> "TermEntropies":
        """Return the sums of both; pages in both count twice."""
        sums = dict(self.sums)
        for term, (tf, weighted) in other.sums.items():
            before = sums.get(term, (0, 0.0))
            sums[term] = (before[0] + tf, before[1] + weighted)
        return TermEntropies(self.n_pages + other.n_pages, sums, first_pages([*self.training, *other.training]))

    def of_term(self, term: str) -> float:
        """Return H(F), 0.0 to 1.0; 0.0 for a term on no page, and as long as there is only one page."""
        tf, weighted = self.sums.get(term, (0, 0.0))
        return entropy(tf, weighted, self.n_pages) if self.n_pages > 1 else 0.0

    def of_block(self, terms: Sequence[str]) -> float:
        """Return H(CB), the mean over the terms of a block; 0.0 without terms."""
        return sum(map(self.of_term, terms)) / len(terms) if terms else 0.0

    @cached_property
    def threshold(self) -> float:
        """The threshold found on the training pages."""
        return greedy_threshold([(self.of_block(block), block) for _, blocks in self.training for block in blocks])


def first_pages(
    pages: Iterable[tuple[str, tuple[tuple[str, ...], ...]]],
) -> tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]:
    """Return the training pages with the lowest URLs: the same ones in whatever order evidence is merged."""
    return tuple(sorted(pages)[:TRAINING_PAGES])


def greedy_threshold(blocks: Sequence[tuple[float, Sequence[str]]], step: float = STEP, gain: float = GAIN) -> float:
    """Return the threshold after which a higher one includes (nearly) no more terms (section 4.5).

    Blocks are given with their entropy. The thresholds tried are step, 2 step...; one that includes nothing yet is no
    boundary. 1 - step when every step includes more.
    """
    n_steps = round(1 / step)
    gained: Counter[int] = Counter()
    for value, terms in blocks:
        gained[max(1, math.ceil(value / step - 1e-9))] += len(terms)
    included = 0
    for number in range(1, n_steps):
        if included and gained[number] <= gain * included:
            return (number - 1) * step
        included += gained[number]
    return 1 - step


@dataclass(frozen=True, slots=True)
class InfoDiscoverer:
    """Blocks with an entropy of at most `threshold`; None finds it greedily."""

    name = "InfoDiscoverer"
    threshold: float | None = None
    unit: str = "block"

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ValueError(f"unit {self.unit!r}: one of {', '.join(UNITS)} expected")

    def prepare(self, pages: Iterable[Page]) -> TermEntropies:
        """Return the terms' sums over the pages."""
        sums: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
        training: list[tuple[str, tuple[tuple[str, ...], ...]]] = []
        count = 0
        for page in pages:
            count += 1
            blocks = self.blocks_of(page)
            for term, tf in Counter(term for block in blocks for term in block).items():
                row = sums[term]
                row[0] += tf
                row[1] += tf * math.log(tf)
            training = list(first_pages([*training, (page.url, tuple(blocks))]))
        return TermEntropies(
            count, {term: (int(tf), weighted) for term, (tf, weighted) in sums.items()}, tuple(training)
        )

    def extract(self, page: Page, evidence: TermEntropies) -> Extraction:
        """Return the verdicts; the score is 1 - H(CB)."""
        threshold = evidence.threshold if self.threshold is None else self.threshold
        values = [(evidence.of_block(terms), bool(terms)) for terms in self.blocks_of(page)]
        if self.unit == "table":
            units: list[Unit] = []
            for (value, _), spans in zip(values, table_spans(page), strict=True):
                units.extend(Unit(start, end, value <= threshold, 1 - value) for start, end in spans)
            return judge(page, units, lambda share: f"{share:.0%} in tables of entropy up to {threshold:.1f}")
        verdicts = (
            Verdict(value <= threshold, 1 - value, f"entropy {value:.2f}, threshold {threshold:.1f}")
            if terms
            else NO_TEXT
            for value, terms in values
        )
        return Extraction(page, tuple(verdicts))

    def blocks_of(self, page: Page) -> list[tuple[str, ...]]:
        """Return the terms of each of the page's units: atomic blocks, or tables without their inner tables."""
        if self.unit == "block":
            return [tuple(features(text)) for text in page.texts]
        return [
            tuple(term for start, end in spans for term in features(page.source[start:end]))
            for spans in table_spans(page)
        ]


def table_spans(page: Page) -> list[list[tuple[int, int]]]:
    """Return the content strings of each TABLE as spans of the source, those of inner tables left out.

    The first entry is what stands outside all tables (section 4.1, figure 2).
    """
    tree = page.tree
    table = [0] * len(tree)
    spans: dict[int, list[tuple[int, int]]] = {0: []}
    for node in range(1, len(tree)):
        if tree.names[node] == "table":
            table[node] = node
            spans[node] = []
            continue
        table[node] = table[tree.parents[node]]
        if tree.names[node] == TEXT:
            spans[table[node]].append((tree.starts[node], tree.ends[node]))
    return list(spans.values())
