"""What names a page above its text: headings, lines, authors and dates."""

import numpy as np
from numpy.typing import NDArray

from extract.default.headline import begins_at, bylines, first_headings, unmarked
from extract.default.numbers import Facts, read_facts
from extract.default.reader import read_passages

TEXT = "The harbour bridge stays shut until the end of winter, as the last inspection found two loose bolts. "


def facts(above: str, title: str = "Paper - Cities - Harbour bridge stays shut") -> Facts:
    source = f"<title>{title}</title>{above}<p>{TEXT * 3}</p><p>{TEXT * 3}</p>"
    return read_facts(read_passages(source), "http://news.test/")


def running(read: Facts) -> NDArray[np.bool_]:
    return read.table.words >= 12


def found_in(read: Facts) -> list[str]:
    begins = begins_at(running(read), read)
    return [read.page.text[index] for index in np.flatnonzero(unmarked(read, first_headings(read), begins))]


def test_a_line_of_which_the_title_speaks_names_the_page() -> None:
    read = facts("<p>Search<p>Monday, 3 May 2004<br>Harbour bridge stays shut<br>by our own<p>Photo")
    assert found_in(read) == ["Monday, 3 May 2004\nHarbour bridge stays shut\nby our own"]


def test_lines_that_do_not_name_it() -> None:
    assert found_in(facts("<p>Paper<p>Cities<p>Harbour bridge is to open again<p>Photo")) == []
    assert found_in(facts("<p><a href=/1>Harbour bridge stays shut</a>")) == []
    assert found_in(facts("<p>Harbour bridge stays shut" + "<p>Menu" * 5)) == []
    assert found_in(facts("<h1>Shut</h1><p>Harbour bridge stays shut")) == []
    assert found_in(facts("<p>Harbour bridge stays shut", title="")) == []


def test_the_preview_of_a_page_names_it_too() -> None:
    preview = "<meta property=og:title content='A bridge for nobody'>"
    assert found_in(facts(f"{preview}<p>A bridge for nobody")) == ["A bridge for nobody"]


def between(above: str, own: bool = False) -> list[str]:
    """The bylines of a page whose texts all are its own, or none."""
    read = facts(above)
    found = bylines(read, first_headings(read), np.full(len(read.page), own), begins_at(running(read), read))
    return [read.page.text[index] for index in np.flatnonzero(found)]


def test_authors_and_dates_between_the_name_and_the_text() -> None:
    above = "<p>By the sea<h1>Harbour bridge stays shut</h1><p>BY JANE ROE<p>Share<p>Print<p>3 May 2004<p>Bypass"
    assert between(above) == ["BY JANE ROE", "3 May 2004"]


def test_without_a_name_they_stand_just_before_the_text() -> None:
    assert between("<p>1 May 2004<p>Von Jane Roe<p>Share<p>11:05 pm") == ["Von Jane Roe", "11:05 pm"]


def test_what_each_page_has_for_itself_just_before_its_text() -> None:
    assert between("<p>One<p>Two<p>Three<p><a href=/4>Four</a>", own=True) == ["Two", "Three"]
    assert between(f"<p>One<p>{'word ' * 11}" * 3, own=True)[-1].startswith("word")


def test_neither_links_nor_long_passages_are_bylines() -> None:
    assert between("<h1>Name</h1><p><a href=/>By Jane Roe</a>") == []
    assert between(f"<h1>Name</h1><p>By 2004 {'<b>it</b> ' * 30}") == []


def test_a_page_without_running_text() -> None:
    read = facts("<p>By Jane Roe<p>Harbour bridge stays shut")
    nothing = np.zeros(len(read.page), dtype=np.bool_)
    assert begins_at(nothing, read) == 0
    assert not unmarked(read, nothing, 0).any()
    assert not bylines(read, nothing, nothing, 0).any()
