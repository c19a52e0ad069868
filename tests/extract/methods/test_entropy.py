"""InfoDiscoverer: the entropies of the paper's figure 3, the greedy threshold, tables as content blocks."""

import math

import pytest

from extract.methods.entropy import InfoDiscoverer, TermEntropies, greedy_threshold, table_spans
from extract.methods.words import features
from extract.protocol import Extraction, page_of
from tests.extract.pages import news_pages

FIGURE_3 = (
    b"<p>logoword<p>advertone adverttwo<p>navione navitwo<p>newsseven newseight<p>copyright",
    b"<p>logoword<p>advertone adverttwo<p>navione navitwo<p>newsnine newsten<p>copyright",
)


def figure_3() -> TermEntropies:
    return InfoDiscoverer().prepare(page_of(f"http://a.test/{n}", body) for n, body in enumerate(FIGURE_3))


def test_figure_3_terms_on_both_pages_have_entropy_1_and_those_on_one_page_0() -> None:
    evidence = figure_3()
    shared, own = features("logoword advertone adverttwo navione navitwo copyright"), features("newsseven newsten")
    assert [evidence.of_term(term) for term in shared] == [1.0] * 6
    assert [evidence.of_term(term) for term in own] == [0.0, 0.0]


def test_figure_3_only_the_news_block_is_informative() -> None:
    page = page_of("http://a.test/0", FIGURE_3[0])
    assert InfoDiscoverer().extract(page, figure_3()).flags == (False, False, False, True, False)


def test_the_entropy_of_a_term_by_its_formula() -> None:
    evidence = InfoDiscoverer().prepare(
        page_of(f"http://a.test/{n}", b"<p>" + b"word " * times) for n, times in enumerate((1, 3, 4))
    )
    weights = (1 / 8, 3 / 8, 4 / 8)
    assert evidence.of_term("word") == pytest.approx(-sum(w * math.log(w, 3) for w in weights))


def test_the_entropy_of_a_block_is_the_mean_over_its_terms() -> None:
    assert figure_3().of_block(features("logoword newsseven")) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 0.05, 1.0], 0.1),
        ([0.15, 0.22, 0.95], 0.3),
        ([0.35, 0.95], 0.4),
        ([n / 10 for n in range(11)], 0.9),
        ([], 0.9),
    ],
)
def test_the_threshold_stops_where_no_terms_come_in(values: list[float], expected: float) -> None:
    assert greedy_threshold([(value, ["x"]) for value in values]) == pytest.approx(expected)


def test_menus_and_footers_are_redundant() -> None:
    pages = news_pages(10)
    method = InfoDiscoverer()
    text = method.extract(pages[4], method.prepare(pages)).text
    assert "Copyright" not in text
    assert "Weather" not in text
    assert "The mayor of" in text


def test_a_table_is_a_block_without_its_inner_tables() -> None:
    body = b"<table><tr><td>S2<table><tr><td>S1</table>S5<table><tr><td>S3</table></table>"
    page = page_of("", body)
    texts = [" ".join(page.source[start:end] for start, end in spans) for spans in table_spans(page)]
    assert texts == ["", "S2 S5", "S1", "S3"]


def test_by_table_the_whole_table_is_judged() -> None:
    bodies = [f"<table><tr><td>menu same</table><table><tr><td>story{n}<p>tale{n}</table>" for n in range(4)]
    pages = [page_of(f"http://a.test/{n}", body.encode()) for n, body in enumerate(bodies)]
    method = InfoDiscoverer(unit="table")
    extraction: Extraction = method.extract(pages[0], method.prepare(pages))
    assert extraction.text == "story0\ntale0"


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(ValueError, match="one of block, table"):
        InfoDiscoverer(unit="cell")


def test_one_page_teaches_nothing() -> None:
    page = page_of("http://a.test/", FIGURE_3[0])
    assert all(InfoDiscoverer().extract(page, InfoDiscoverer().prepare([page])).flags)
