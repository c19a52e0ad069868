"""Okapi BM25, expansion of queries, pages by their best segment."""

import pytest

from extract.segmenters.bm25 import Bm25, best_by_page, expanded


def index_of(*texts: str) -> Bm25:
    index = Bm25()
    for text in texts:
        index.add(text.split())
    return index


def test_the_formula() -> None:
    index = index_of("a b", "b b b", "c")
    ((number, score),) = index.rank({"a": 1.0})
    norm = 1.2 * (1 - 0.75 + 0.75 * 2 / 2)
    assert number == 0
    assert score == pytest.approx(index.idf("a") * 1 * 2.2 / (1 + norm))


def test_rare_terms_count_more_and_long_documents_less() -> None:
    index = index_of("rare x", "often x", "often y", "often z", "often " + "pad " * 50)
    assert index.idf("rare") > index.idf("often") > 0
    assert [number for number, _ in index.rank({"often": 1.0})] == [1, 2, 3, 4]


def test_an_empty_index_and_unknown_terms_find_nothing() -> None:
    assert Bm25().rank({"a": 1.0}) == []
    assert index_of("a").rank({"b": 1.0}) == []


def test_expansion_adds_what_the_best_documents_share() -> None:
    index = index_of("query common near", "query near other", "far off", "far away", "common far")
    longer = expanded(index, {"query": 1.0}, [["query", "common", "near"], ["query", "near", "other"]])
    assert set(longer) == {"query", "near"}
    assert longer["near"] < longer["query"]


def test_a_page_ranks_by_its_best_segment() -> None:
    assert best_by_page([(2, 5.0), (0, 4.0), (1, 3.0)], [7, 7, 8]) == [(8, 5.0), (7, 4.0)]
