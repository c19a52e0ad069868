"""CETR: the survey's example of tag ratios, and each of its three ways to choose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.methods.cetr import changes, smooth, tag_ratios
from extract.protocol import Extraction, NoEvidence, page_of
from extract.registry import extractor

SURVEY = b"""<div id="topnav">

<div id="author">James Smith</div>
OKLAHOMA CITY - Police were told that
The Oklahoman reported Sunday. <br><br> Jones had"""

ARTICLE = b"<p>The council met on Monday evening and voted, after three hours, for the new bridge over the river.\n" * 6
PAGE = b"<html><title>t</title>\n" + b"<li><a href=x>Go</a>\n" * 30 + ARTICLE + b"<div><a href=y>Us</a></div>\n" * 20

METHODS = ("CETR-TM", "CETR-KM", "CETR-2D")


def run(name: str, body: bytes) -> Extraction:
    method = extractor(name)
    page = page_of("http://a.test/", body)
    return method.extract(page, method.prepare([page]))


def test_tag_ratios_of_the_surveys_example() -> None:
    assert tag_ratios(page_of("http://a.test/", SURVEY)).ratios.tolist() == [0, 5.5, 37, 20.5]


def test_scripts_styles_and_comments_are_left_out() -> None:
    page = page_of("http://a.test/", b"<script>\nvar a = 1;\n</script>\n<!-- a\nb -->\n<b>bold</b>\n")
    assert tag_ratios(page).ratios.tolist() == [2]


def test_smoothing_keeps_the_sum_of_what_is_inside() -> None:
    assert smooth(np.array([0.0, 0.0, 9.0, 0.0, 0.0])).sum() == pytest.approx(9)


def test_change_is_the_difference_to_the_lines_that_follow() -> None:
    assert changes(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0])).tolist() == [0] * 6
    assert changes(np.array([0.0, 30.0, 0.0, 0.0, 0.0, 0.0])).argmax() in (0, 1)


@pytest.mark.parametrize("name", METHODS)
def test_lines_of_prose_are_content_and_lines_of_links_are_not(name: str) -> None:
    text = run(name, PAGE).text
    assert text.count("council") == 6
    assert text.count("Us") <= 1  # smoothing lifts the lines beside the prose
    assert text.count("Go") <= 1


@pytest.mark.parametrize("name", ["CETR-TM", "CETR-2D"])
def test_a_page_without_line_breaks_is_still_cut(name: str) -> None:
    body = PAGE.replace(b"\n", b"")
    assert run(name, body).text.count("council") == 6
    assert not all(run(name, body).flags)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("body", [b"", b"   ", b"<p><p>", b"<!--"])
def test_a_page_without_text_has_no_content(name: str, body: bytes) -> None:
    assert not any(run(name, body).flags)


@given(st.binary())
@settings(max_examples=50, deadline=None)
def test_any_bytes_get_a_verdict(body: bytes) -> None:
    for name in METHODS:
        assert len(run(name, body).verdicts) == len(page_of("", body))


def test_no_evidence_is_counted_and_merged() -> None:
    pages = [page_of("http://a.test/", PAGE)] * 2
    method = extractor("CETR-TM")
    assert method.prepare(pages).merge(method.prepare([])) == NoEvidence(2)
