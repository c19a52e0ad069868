"""The element that holds a page's running text."""

import numpy as np

from extract.default.core import centred, outside_core
from extract.default.numbers import Facts, read_facts
from extract.default.reader import read_passages

TEXT = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "


def facts(source: str) -> Facts:
    return read_facts(read_passages(source), "http://a.test/")


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
    after = centred(before, PAGE.table)
    assert (after < before - 0.1).tolist() == [True, False, False, False, True]
