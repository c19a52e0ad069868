"""Page classes: shapes of URLs, structure, pages taken one by one; evidence gathered for many classes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.classes import ClassEvidence, PageClasses, resemblance, url_shape, ways_of
from extract.methods.content import ContentExtractor
from extract.protocol import page_of
from tests.extract.pages import news_page, news_pages

LISTING = (
    b"<body class=list><h1>Archive</h1><table><tr><td>1</td><td><a href=/1>x</a></td></tr></table><form><input></form>"
)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("http://a.test/2010/story-17.html", "http://www.a.test:80/2011/another.html"),
        ("http://a.test/view?t=1&sid=x", "http://a.test/view?sid=y&t=2"),
        ("http://a.test/", "http://www.a.test/"),
    ],
)
def test_urls_of_one_shape(a: str, b: str) -> None:
    assert url_shape(a) == url_shape(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("http://a.test/x", "http://b.test/x"),
        ("http://a.test/news/x", "http://a.test/sports/x"),
        ("http://a.test/x.html", "http://a.test/x.asp"),
        ("http://a.test/view?t=1", "http://a.test/view?f=1"),
        ("http://a.test/", "http://a.test/x"),
    ],
)
def test_urls_of_other_shapes(a: str, b: str) -> None:
    assert url_shape(a) != url_shape(b)


@given(st.text())
@settings(max_examples=50, deadline=None)
def test_any_url_has_a_shape(url: str) -> None:
    assert isinstance(url_shape(url), str)


def test_pages_of_one_template_are_one_class_and_others_are_not() -> None:
    classes = PageClasses()
    listing = page_of("http://daily.test/archive", LISTING)
    other = page_of("http://other.test/news/1", news_page(1).body)
    found = [classes.classify(page) for page in [*news_pages(5), listing, news_page(7), other]]
    assert found == [0, 0, 0, 0, 0, 1, 0, 2]


def test_equal_pages_resemble_each_other_wholly() -> None:
    ways = ways_of(news_page(1))
    assert resemblance(ways, ways) == 1.0
    assert resemblance(ways, ways_of(page_of("", LISTING))) < 0.3
    empty = ways_of(page_of("", b""))
    assert (resemblance(empty, empty), resemblance(empty, ways)) == (1.0, 0.0)


def test_numbered_css_classes_are_one() -> None:
    a, b = (ways_of(page_of("", f"<div class=post-{n}>x".encode())) for n in (17, 18))
    assert resemblance(a, b) == 1.0


def test_evidence_of_classes_is_that_of_their_pages() -> None:
    method, pages = ContentExtractor(), news_pages(9)
    gathered = ClassEvidence(method, max_bytes=len(pages[0].body) * 3)  # flushed and merged on the way
    for page in pages:
        gathered.add("news", page)
    whole = method.prepare(pages)
    assert gathered.of("news").n_pages == 9
    assert gathered.of("other").n_pages == 0
    for page in pages:
        assert method.extract(page, gathered.of("news")).verdicts == method.extract(page, whole).verdicts


def test_no_more_pages_of_a_class_count_than_asked() -> None:
    gathered = ClassEvidence(ContentExtractor(), max_pages=4)
    for page in news_pages(9):
        gathered.add(0, page)
    assert gathered.of(0).n_pages == 4
