"""Patterns match what their regular expression would, without ever going back."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.patterns import literal, matcher


@given(st.text("ab*", max_size=8), st.text("ab", max_size=10))
def test_a_pattern_means_what_its_regular_expression_means(pattern: str, url: str) -> None:
    whole = ".*".join(map(re.escape, pattern.split("*")))
    assert matcher(pattern)(url) == bool(re.fullmatch(whole, url, re.DOTALL))


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("*", "", True),
        ("*", "http://a.test/\n", True),
        ("http://a.test/?x=[1]", "http://a.test/?x=[1]", True),
        ("ab*ba", "aba", False),
        ("ab*ba", "abba", True),
        ("*a*", "bbb", False),
        ("", "x", False),
    ],
)
def test_what_matches(pattern: str, url: str, expected: bool) -> None:
    assert matcher(pattern)(url) is expected


def test_many_stars_cost_no_more_than_the_url_is_long() -> None:
    """A regular expression would try 20 places for each of 30 stars."""
    start = time.process_time()
    assert not matcher("*a" * 30 + "*b*")("a" * 20_000)
    assert not matcher("*" + "ab*" * 5_000 + "c")("ab" * 10_000)
    assert matcher("*a" * 10_000)("a" * 20_000)
    assert time.process_time() - start < 2


def test_only_a_pattern_without_a_star_is_a_url() -> None:
    assert literal("http://a.test/?") == "http://a.test/?"
    assert literal("http://a.test/*") is None
