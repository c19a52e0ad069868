"""Okapi BM25 over segments of pages, and query expansion from the best of them (Cai et al. 2004; survey, section 2.6).

Block retrieval ranks a page by its best segment; expansion takes the terms of the best segments (or pages) that are
frequent there and rare elsewhere, adds them to the query with a lower weight, and ranks again.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

K1, B = 1.2, 0.75

EXPANSION_TERMS = 10
EXPANSION_SEGMENTS = 10
EXPANSION_WEIGHT = 0.5
"""Weight of an added term beside those of the query."""


@dataclass
class Bm25:
    """An inverted index over documents, each a list of terms."""

    k1: float = K1
    b: float = B
    lengths: list[int] = field(default_factory=list)
    postings: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, terms: Iterable[str]) -> int:
        """Index a document and return its number."""
        counts = Counter(terms)
        number = len(self.lengths)
        self.lengths.append(counts.total())
        for term, count in counts.items():
            self.postings[term].append((number, count))
        return number

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term, never below zero."""
        n = len(self.postings.get(term, ()))
        return math.log(1 + (len(self.lengths) - n + 0.5) / (n + 0.5))

    def rank(self, query: Mapping[str, float]) -> list[tuple[int, float]]:
        """Return the documents with a term of the query and their scores, best first, equal ones by number.

        >>> index = Bm25()
        >>> _ = [index.add(text.split()) for text in ("a b", "b c c", "d")]
        >>> [number for number, _ in index.rank({"c": 1.0, "b": 1.0})]
        [1, 0]
        """
        mean = sum(self.lengths) / max(len(self.lengths), 1) or 1.0
        scores: dict[int, float] = defaultdict(float)
        for term, weight in query.items():
            idf = self.idf(term)
            for number, count in self.postings.get(term, ()):
                norm = self.k1 * (1 - self.b + self.b * self.lengths[number] / mean)
                scores[number] += weight * idf * count * (self.k1 + 1) / (count + norm)
        return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def expanded(index: Bm25, query: Mapping[str, float], documents: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the query with the terms that set these documents apart, by their count there times idf."""
    counts: Counter[str] = Counter()
    for document in documents[:EXPANSION_SEGMENTS]:
        counts.update(set(document))
    candidates = [(count * index.idf(term), term) for term, count in counts.items() if term not in query and count > 1]
    chosen = sorted(candidates, key=lambda item: (-item[0], item[1]))[:EXPANSION_TERMS]
    return {**query, **{term: EXPANSION_WEIGHT for _, term in chosen}}


def best_by_page(ranked: Sequence[tuple[int, float]], page_of: Sequence[int]) -> list[tuple[int, float]]:
    """Return pages by the score of their best segment, best first; `page_of` has the page of each segment."""
    best: dict[int, float] = {}
    for segment, score in ranked:
        best.setdefault(page_of[segment], score)
    return list(best.items())
