"""The element that holds a page's running text."""

import numpy as np
from numpy.typing import NDArray

from extract.default.clues import PAGE_TYPES
from extract.default.core import ARTICLE, centred, floating, name, outside_core
from extract.default.numbers import Facts, read_facts
from extract.default.reader import read_passages

TEXT = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "


def facts(source: str) -> Facts:
    return read_facts(read_passages(source), "http://a.test/")


def types(article: float) -> NDArray[np.float64]:
    probabilities = np.full(len(PAGE_TYPES), (1 - article) / (len(PAGE_TYPES) - 1))
    probabilities[ARTICLE] = article
    return probabilities


PAGE = facts(f"<p>Above</p><div><div><p>{TEXT * 2}</p><p>{TEXT * 2}</p><p>short</p></div></div><p>{TEXT}</p>")


def test_the_core_is_the_lowest_element_with_nearly_all_of_the_running_text() -> None:
    outside = outside_core(np.array([0.5, 0.9, 0.9, 0.5, 0.5]), PAGE.table)
    assert outside.tolist() == [True, False, False, False, True]


def test_text_in_two_places_has_no_lower_core_than_what_holds_both() -> None:
    assert not outside_core(np.array([0.1, 0.9, 0.9, 0.1, 0.9]), PAGE.table).any()


def test_a_page_without_running_text_has_no_core() -> None:
    assert not outside_core(np.full(5, 0.5), PAGE.table).any()


def test_passages_outside_of_the_core_are_less_probable() -> None:
    before = np.array([0.5, 0.9, 0.9, 0.5, 0.5])
    after = centred(before, PAGE, types(1.0))
    assert (after < before - 0.1).tolist() == [True, False, False, False, True]


BOOK = facts(
    f"<title>Moby-Dick - Shop</title><h2>Best sellers</h2><h2>Moby-Dick</h2><p>by H. Melville</p><p>Order now</p>"
    f"<div><p>{TEXT * 4}</p></div>"
)


def test_what_names_the_page_is_kept_where_it_is_no_article() -> None:
    before = np.array([0.3, 0.3, 0.3, 0.3, 0.9])
    assert (centred(before, BOOK, types(0.5)) > 0.5).tolist() == [False, True, True, False, True]
    assert (centred(before, BOOK, types(1.0)) > 0.25).tolist() == [False, True, True, False, True]


def test_a_page_without_a_title_has_no_name() -> None:
    assert name(PAGE, outside_core(np.array([0.5, 0.9, 0.9, 0.5, 0.5]), PAGE.table)) == slice(0, 0)


def floats(table: str, words: str = "Related pages") -> list[str]:
    """The passages that float on a page with a table in its text."""
    read = facts(f"<p>{TEXT * 4}</p><table {table}><tr><td align=left>{words}</table><p align=right>{TEXT * 4}</p>")
    return [read.page.text[index] for index in np.flatnonzero(floating(np.full(3, 0.9), read))]


def test_tables_that_are_aligned_float_beside_the_text() -> None:
    for table in ("align=right", "border=0 ALIGN = 'left'", 'class="box" align="Right"'):
        assert floats(table) == ["Related pages"]
    for table in ("", "align=center", "valign=left", "data-align=left", "align=lefty"):
        assert floats(table) == []


def test_a_table_with_much_of_the_text_is_layout() -> None:
    assert floats("align=left", TEXT) == [TEXT.strip()]
    assert floats("align=left", TEXT * 4) == []
    page = facts(f"<table align=left><tr><td>{TEXT * 2}</table>" * 6)
    assert not floating(np.full(6, 0.9), page).any()


def test_what_floats_beside_an_article_is_less_probable() -> None:
    page = facts(f"<p>{TEXT * 4}</p><table align=right><tr><td>Related pages</table><p>{TEXT * 4}</p>")
    before = np.full(3, 0.9)
    assert (centred(before, page, types(1.0)) > 0.5).tolist() == [True, False, True]
    assert (centred(before, page, types(0.0)) > 0.5).all()


def test_tables_in_tables_take_linear_time() -> None:
    page = facts(f"<p>{TEXT * 4}</p>" + "<table align=left><tr><td>x" * 20_000)
    assert floating(np.full(20_001, 0.9), page)[-1]
