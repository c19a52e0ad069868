"""Pagemason, our own method and the default: a small trained model over a page's passages, and the site's evidence.

Each passage is judged by numbers trained on pages with known content (`numbers`), the judgement is corrected
by what other pages of the site show (`site`), and the passages with the best expected F1 are kept
(`choice`). A block is content when over half of its text is in kept passages; then all of it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from extract.default.choice import choose, threshold
from extract.default.clues import PAGE_TYPES
from extract.default.core import ARTICLE, centred, outside_core
from extract.default.correction import corrected, habitual
from extract.default.numbers import Facts, Numbers, read_facts, shipped
from extract.default.passages import Passages
from extract.default.reader import read_passages
from extract.default.site import NOBODY, Others, SiteEvidence, notes_of
from extract.default.structured import Meta, Structured, read_meta, read_structured
from extract.protocol import Extraction, Page, Verdict

Doubles = NDArray[np.float64]

MIN_OTHER_PAGES = 2
"""Other pages of the site from which its evidence counts."""

LIKELY = 0.5
"""The probability from which a page is taken for an article when notes are made of it."""

AGREEMENT = 3
"""For how many pages the mean of those of a template counts when its type is asked for."""

SURE = 0.5
"""The least probability of what is kept with the site's evidence: what is unsure then is unsure on all pages alike, and
a place is content on all of them or on none, so that to keep some of it in doubt gains nothing."""

TOLD = 0.5
"""The confidence in content that only JSON-LD has: what it leaves out is not known."""

UNSEEN = Verdict(False, 0.0, "no text")


@dataclass(frozen=True)
class Content(Extraction):
    """An extraction with the passages it rests on: `kept` are the indices of those that the content blocks hold.

    `confidence` is the expected F1, 0.0 to 1.0; `page_type` the most probable of PAGE_TYPES, empty for a page without
    text; `n_others` the other pages of the site whose evidence was used. `told` are the texts of the page's JSON-LD
    where the page itself has no content.
    """

    passages: Passages
    kept: tuple[int, ...] = ()
    probability: tuple[float, ...] = ()
    confidence: float = 0.0
    page_type: str = ""
    n_others: int = 0
    structured: Structured = field(default_factory=Structured)
    meta: Meta = field(default_factory=Meta)
    told: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """The kept passages, a line each; without any, what the page's JSON-LD tells."""
        return "\n".join([self.passages.text[index] for index in self.kept] or self.told)

    @property
    def score(self) -> float:
        """The confidence."""
        return self.confidence


class Pagemason:
    """The default method. It judges a page alone, and better with the evidence of other pages of its site."""

    name = "Pagemason"

    def __init__(self, numbers: Numbers | None = None) -> None:
        self.numbers = shipped() if numbers is None else numbers

    def prepare(self, pages: Iterable[Page]) -> SiteEvidence:
        """Return what these pages of one site teach; one page alone teaches nothing and costs nothing."""
        pages = list({page.url: page for page in pages}.values())
        if len(pages) < 2:
            return SiteEvidence()
        return self.learn(pages)

    def learn(self, pages: Iterable[Page]) -> SiteEvidence:
        """Return the evidence of pages that others will be added to."""
        notes = {}
        for page in pages:
            passages = read_passages(page.source)
            if len(passages):
                facts = read_facts(passages, page.url)
                probability, types = self.numbers.judge(facts)
                inside = habitual(probability, facts.table)
                if types[ARTICLE] > LIKELY:
                    inside = inside * ~outside_core(probability, facts.table)
                notes[page.url] = notes_of(passages, inside, facts.table.words, types)
        return SiteEvidence(notes)

    def extract(self, page: Page, evidence: SiteEvidence) -> Content:
        """Return a verdict for each block, and the passages behind it."""
        passages = read_passages(page.source)
        if not len(passages):
            structured, meta = read_structured(passages.structured), read_meta(passages.meta)
            found = Content(page, (UNSEEN,) * len(page), passages, structured=structured, meta=meta)
            return _told(found)
        facts = read_facts(passages, page.url)
        others = evidence.others(passages, page.url) if evidence.n_pages > MIN_OTHER_PAGES else NOBODY
        if others.n < MIN_OTHER_PAGES:
            others = NOBODY
        probability, types = self.numbers.judge(facts, others.types)
        n_others = others.n
        if n_others:
            by_site = corrected(probability, facts, others, _article(types, others))
            if choose(by_site, facts.table.words).any():
                probability = by_site
            else:  # a print version, say: all of its content stands on other pages too
                n_others = 0
        if not n_others:
            probability = centred(probability, facts, types)
        return _told(_content(page, facts, probability, PAGE_TYPES[int(types.argmax())], n_others))


def _told(found: Content) -> Content:
    """Return an extraction with the content that only the page's JSON-LD has: it is sent for scripts to show."""
    told = () if found.kept else found.structured.bodies()
    return replace(found, told=told, confidence=TOLD) if told else found


def _article(types: Doubles, others: Others) -> float:
    """Return how probable it is that a page is an article, given that the pages of its template are of one type; 0.0
    without such pages."""
    if others.types is None:
        return 0.0
    alike = types * others.types**AGREEMENT
    return float(alike[ARTICLE] / alike.sum())


def _content(page: Page, facts: Facts, probability: Doubles, page_type: str, n_others: int) -> Content:
    passages, words = facts.page, np.maximum(facts.table.words, 1.0)
    least, expected = threshold(probability, words)
    chosen = probability >= (max(least, SURE) if n_others else least)
    verdicts, kept = _blocks(page, passages, chosen, probability)
    return Content(
        page,
        verdicts,
        passages,
        kept,
        tuple(probability.tolist()),
        round(expected, 4),
        page_type,
        n_others,
        facts.structured,
        facts.meta,
    )


def _blocks(
    page: Page, passages: Passages, chosen: NDArray[np.bool_], probability: Doubles
) -> tuple[tuple[Verdict, ...], tuple[int, ...]]:
    """Return the verdict of each block, and the passages that stand in content blocks."""
    blocks, of_passage, size = overlaps(page, passages)
    n = len(page)
    total = np.bincount(blocks, size, minlength=n)
    inside = np.bincount(blocks, size * chosen[of_passage], minlength=n)
    mean = np.bincount(blocks, size * probability[of_passage], minlength=n) / np.maximum(total, 1e-9)
    content = inside > total / 2
    kept = np.unique(of_passage[content[blocks]])
    verdicts = [UNSEEN] * n
    seen = np.flatnonzero(total)
    percents = np.rint(100 * mean[seen]).astype(np.int64).tolist()
    rows = zip(seen.tolist(), content[seen].tolist(), np.round(mean[seen], 4).tolist(), percents, strict=True)
    for block, is_content, score, percent in rows:
        verdicts[block] = Verdict(is_content, score, _WHY[is_content][percent])
    return tuple(verdicts), tuple(kept.tolist())


_WHY = [[f"{kind} passages, mean probability {n / 100:.2f}" for n in range(101)] for kind in ("dropped", "kept")]
"""Why a block is dropped, why it is kept, by the percents of its mean probability."""


def overlaps(page: Page, passages: Passages) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the pairs of blocks and passages that share source characters, and how many: arrays of one length."""
    starts = np.array(page.starts, dtype=np.int64)
    begin, end = np.array(passages.start, dtype=np.int64), np.array(passages.end, dtype=np.int64)
    first = np.searchsorted(starts, begin, side="right") - 1
    last = np.searchsorted(starts, end, side="left")
    n_blocks = last - first
    of_passage = np.repeat(np.arange(len(begin)), n_blocks)
    offset = np.arange(len(of_passage)) - np.repeat(np.cumsum(n_blocks) - n_blocks, n_blocks)
    blocks = first[of_passage] + offset
    size = np.minimum(starts[blocks + 1], end[of_passage]) - np.maximum(starts[blocks], begin[of_passage])
    return blocks, of_passage, np.maximum(size, 0).astype(np.float64)


def passages_in(page: Page, passages: Passages, content: tuple[bool, ...]) -> tuple[int, ...]:
    """Return the passages that stand, if only in part, in content blocks."""
    if not len(passages):
        return ()
    blocks, of_passage, size = overlaps(page, passages)
    wanted = np.array(content)[blocks] & (size > 0)
    return tuple(np.unique(of_passage[wanted]).tolist())
