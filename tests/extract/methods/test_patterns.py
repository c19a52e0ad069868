"""KeyPatterns: the paper's example of repetitions and virtual nodes, and blocks by their meaningful tags."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.markup import scan
from extract.methods.patterns import KeyPatterns, key_patterns, segments, virtual_nodes
from extract.protocol import NoEvidence, page_of
from extract.tree import build_tree
from tests.extract.pages import BAD_BODIES, news_page

PAPER = "h2 p p ul p p h2 p p p p p p div".split()  # noqa: SIM905 (as printed)


def test_the_papers_sequence_has_two_key_patterns() -> None:
    assert key_patterns(PAPER) == [("h2", "p", "p"), ("p", "p", "p")]


def test_the_papers_sequence_is_cut_where_the_key_pattern_matches() -> None:
    assert [PAPER[start:end] for start, end in virtual_nodes(PAPER)] == [PAPER[:6], PAPER[6:]]


@pytest.mark.parametrize(
    ("sequence", "expected"),
    [
        ("a b c a b", ["a b"]),  # figure 2
        ("a a a a", ["a a"]),  # figure 3: occurrences do not overlap
        ("a a a", []),
        ("a b c", []),
        ("", []),
        ("dt dd dt dd", ["dt dd"]),
        ("a b x a b y c d x c d", ["a b", "c d"]),
    ],
)
def test_repetitions(sequence: str, expected: list[str]) -> None:
    assert [" ".join(pattern) for pattern in key_patterns(sequence.split())] == expected


def test_a_run_of_equal_tags_is_one_virtual_node() -> None:
    assert virtual_nodes(["h1", "p", "p", "p", "p", "hr"]) == [(1, 5)]


@given(st.lists(st.sampled_from("abc"), max_size=40))
@settings(max_examples=100, deadline=None)
def test_key_patterns_repeat_and_are_in_no_longer_one(sequence: list[str]) -> None:
    text = "".join(sequence)
    found = ["".join(pattern) for pattern in key_patterns(sequence)]
    assert all(text.count(pattern) >= 2 and len(pattern) >= 2 for pattern in found)
    assert not any(a != b and a in b for a in found for b in found)
    ranges = virtual_nodes(sequence)
    assert all(a[1] <= b[0] for a, b in pairwise(ranges))


def test_blocks_with_few_meaningful_tags_are_dropped() -> None:
    page = page_of("", b"<body><h2>a</h2><p>one</p><p>two</p><h2>b</h2><p>three</p><p>four</p></body>")
    tree = build_tree(page.source, scan(page.source))
    assert [importance for _, _, importance in segments(tree)] == [3, 3]
    assert any(KeyPatterns(threshold=3).extract(page, NoEvidence()).flags)
    assert not any(KeyPatterns(threshold=4).extract(page, NoEvidence()).flags)


def test_a_single_element_is_no_important_block() -> None:
    text = KeyPatterns().extract(news_page(2), NoEvidence()).text
    assert "The mayor of" in text
    assert "The Daily Test, a newspaper" not in text


@pytest.mark.parametrize("body", BAD_BODIES)
def test_pages_without_text_have_no_content(body: bytes) -> None:
    extraction = KeyPatterns().extract(page_of("", body), NoEvidence())
    assert not extraction.text.strip("\0\ufffd<")


@pytest.mark.parametrize("unit", ["<p><i>", "<div><p>", "<ul><li>a<li>b</ul>", "<h2></h2><p></p><br>"])
def test_very_many_tags_take_bounded_time(unit: str) -> None:
    assert len(KeyPatterns().extract(page_of("", unit.encode() * 10_000), NoEvidence()).verdicts) > 0
