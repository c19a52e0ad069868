"""Inverse block document frequency: pages counted once, similar blocks counted together, parts merged."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.ibdf import BlockFrequencies, ibdf, logarithmic

MENU = b"<ul><li>home<li>news<li>sport<li>weather<li>travel<li>money<li>contact<li>about<li>help<li>search</ul>"
MENU_TODAY = MENU.replace(b"</ul>", b"<li>today</ul>")


def story(number: int) -> bytes:
    return b"<p>" + b" ".join(b"w%dx%d" % (number, word) for word in range(20))


def site(n_pages: int) -> BlockFrequencies:
    frequencies = BlockFrequencies()
    for number in range(n_pages):
        frequencies.add(f"http://a.test/{number}", [MENU, story(number)])
    return frequencies


def test_a_menu_is_frequent_and_a_story_is_not() -> None:
    frequencies = site(5)
    assert frequencies.n_pages == 5
    assert frequencies.frequencies([MENU, story(1), story(9)]).tolist() == [5, 1, 0]


def test_a_similar_block_counts_as_the_same() -> None:
    frequencies = site(3)
    frequencies.add("http://a.test/today", [MENU_TODAY])
    assert frequencies.frequencies([MENU_TODAY, MENU]).tolist() == [4, 4]


def test_a_page_captured_again_counts_once() -> None:
    frequencies = site(3)
    for _ in range(10):
        frequencies.add("http://a.test/0", [MENU, MENU, story(0)])
    assert frequencies.n_pages == 3
    assert frequencies.frequencies([MENU, story(0)]).tolist() == [3, 1]


def test_the_page_asked_about_can_be_left_out() -> None:
    assert site(5).frequencies([MENU, story(1)], but="http://a.test/1").tolist() == [4, 0]


def test_the_inverse_falls_with_the_frequency() -> None:
    assert ibdf(np.array([0, 1, 4])).tolist() == [1.0, 0.5, 0.2]
    assert ibdf(np.array([0, 1]), logarithmic).tolist() == [1.0, pytest.approx(0.585, abs=1e-3)]


def test_thresholds_must_agree() -> None:
    with pytest.raises(ValueError, match=r"0\.9 and 0\.8"):
        BlockFrequencies().merge(BlockFrequencies(0.8))


blocks = st.lists(st.sampled_from([MENU, MENU_TODAY, story(1), story(2), b"", b"<img>", b"<br><br>"]), max_size=4)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), blocks), max_size=6), st.integers(0, 6))
def test_parts_counted_apart_and_merged_are_as_counted_together(pages: list[tuple[str, list[bytes]]], cut: int) -> None:
    whole, parts = BlockFrequencies(), (BlockFrequencies(), BlockFrequencies())
    for number, (url, its_blocks) in enumerate(pages):
        whole.add(url, its_blocks)
        parts[number >= cut].add(url, its_blocks)
    merged = parts[0].merge(parts[1])
    known = [MENU, story(1), story(2), b"<img>", b"unseen"]
    assert merged.n_pages == whole.n_pages
    assert merged.frequencies(known).tolist() == whole.frequencies(known).tolist()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=80), max_size=5))
def test_any_bytes_are_counted(blocks: list[bytes]) -> None:
    frequencies = BlockFrequencies()
    frequencies.add("u", blocks, "no-such-encoding")
    assert (frequencies.frequencies(blocks) == 1).all()
