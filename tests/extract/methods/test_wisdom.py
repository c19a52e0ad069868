"""k-MIB: the structure information index, the information coverage tree, the greedy walk."""

import math

import pytest

from extract.methods.wisdom import KMib, LinkedPages, coverage, informative_blocks, structure_index
from extract.protocol import page_of

PAGE = (
    b"<body><ul><li><a href=/1>first link</a><li><a href=/2>other link</a></ul>"
    b"<div><p>A paragraph of some length, with words.</p><p>Another paragraph, about as long as it.</p></div><i>end</i>"
)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 1], 1.0),
        ([2, 2, 2, 2], 1.0),
        ([3, 1], -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))),
        ([5], 0.0),
        ([5, 0], 0.0),
        ([], 0.0),
    ],
)
def test_the_structure_information_index(values: list[float], expected: float) -> None:
    assert structure_index(values) == pytest.approx(expected)


def names(feature: str, k: int) -> list[str]:
    page = page_of("http://a.test/", PAGE)
    found = informative_blocks(page.tree, coverage(page, feature, LinkedPages()), k, 0.9)
    return [page.tree.names[node] for node in found]


def test_features_are_summed_bottom_up() -> None:
    page = page_of("http://a.test/", PAGE)
    assert coverage(page, "ALEN", LinkedPages())[0] == len("first linkother link")
    text = "A paragraph of some length, with words.Another paragraph, about as long as it.end"
    assert coverage(page, "CLEN", LinkedPages())[0] == len(text)


def test_the_richest_even_node_comes_first() -> None:
    assert names("CLEN", 1) == ["div"]
    assert names("CLEN", 2) == ["div", "#text"]
    assert names("ALEN", 1) == ["ul"]


def test_k_is_the_most() -> None:
    assert names("CLEN", 0) == []
    assert len(names("CLEN", 99)) == 2


def test_anchor_precision_needs_the_linked_page() -> None:
    page = page_of("http://a.test/", PAGE)
    first = page_of("http://a.test/1#top", b"<p>a link to the first")
    method = KMib(feature="API")
    evidence = method.prepare([first]).merge(method.prepare([]))
    assert coverage(page, "API", evidence)[0] == len("first link")
    assert coverage(page, "API", LinkedPages())[0] == 0
    assert method.extract(page, evidence).text == ""  # a list of one link is not even


def test_an_unknown_feature_is_refused() -> None:
    with pytest.raises(ValueError, match="CLEN, ALEN, API"):
        KMib(feature="SIZE")


def test_hostile_links_are_no_error() -> None:
    page = page_of("http://a.test/", b"<a href='http://[::1'>x</a><a href=>y</a><a>z</a>")
    method = KMib(feature="API")
    assert len(method.extract(page, method.prepare([page])).verdicts) == len(page)
