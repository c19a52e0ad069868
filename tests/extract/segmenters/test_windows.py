"""FixedPS and DomPS: every visible word in a segment, windows of the size asked for, subtrees of certain tags."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.protocol import Segmenter, page_of
from extract.segmenters.windows import DomPS, FixedPS
from tests.extract.pages import BAD_BODIES, news_page


def words(segmenter: Segmenter, body: bytes) -> list[list[str]]:
    return [segment.text.split() for segment in segmenter.segment(page_of("", body))]


def test_windows_have_so_many_words_and_the_last_one_the_rest() -> None:
    found = words(FixedPS(words=4), b"<p>one two three<p>four five six<b>th 8</b>")
    assert found == [["one", "two", "three", "four"], ["five", "sixth", "8"]]  # a tag does not end a word


def test_a_page_of_450_words_has_3_windows_of_200() -> None:
    assert [len(each) for each in words(FixedPS(), b"<p>" + b"word " * 450)] == [200, 200, 50]


def test_subtrees_of_certain_tags_and_what_is_between_are_segments() -> None:
    body = b"<div>before <b>it</b><p>para <i>one</i></p>between<ul><li>a<li>b</ul></div><h2>head</h2>end"
    assert [" ".join(each) for each in words(DomPS(), body)] == [
        "before it",
        "para one",
        "between",
        "a b",
        "head",
        "end",
    ]


def test_a_table_that_lays_out_the_page_is_cut_at_what_is_inside() -> None:
    data = b"<table><tr><td>a<td>b</table>"
    layout = b"<table><tr><td>%s<td><p>last</table>" % (b"word " * 600)
    assert len(words(DomPS(), data)) == 1
    assert [len(each) for each in words(DomPS(), layout)] == [600, 1]


@pytest.mark.parametrize("segmenter", [FixedPS(words=20), DomPS()])
def test_no_word_is_lost_and_none_comes_twice(segmenter: Segmenter) -> None:
    page = news_page(3)
    found = [word for segment in segmenter.segment(page) for word in segment.text.split()]
    assert found == " ".join(page.texts).split()


@pytest.mark.parametrize("segmenter", [FixedPS(), DomPS()])
@pytest.mark.parametrize("body", BAD_BODIES)
def test_pages_without_text_have_no_segments(segmenter: Segmenter, body: bytes) -> None:
    assert not "".join(segment.text for segment in segmenter.segment(page_of("", body))).strip("\0\ufffd<ÿ")


@given(st.binary())
@settings(max_examples=50, deadline=None)
def test_any_bytes_are_cut(body: bytes) -> None:
    page = page_of("", body)
    for segmenter in (FixedPS(words=2), DomPS()):
        for segment in segmenter.segment(page):
            assert segment.text
            assert all(0 <= start <= end <= len(page.source) for start, end in segment.spans)


def test_windows_of_no_words_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one expected"):
        FixedPS(words=0)
