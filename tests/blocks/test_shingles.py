"""Shingles: exact on small sets, close on large ones, symmetric, and 1.0 with itself."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.shingles import containment, resemblance, shingles, sketch

tokens = st.lists(st.sampled_from([b"a", b"rose", b"is", b"the", b"", b"\0"]), max_size=30)


def test_a_rose_is_a_rose_is_a_rose() -> None:
    """Broder's example: the 4-shingling has three distinct shingles."""
    assert len(shingles(b"a rose is a rose is a rose".split(), width=4)) == 3


def test_resemblance_of_small_sets_is_exact() -> None:
    a, b = shingles([b"a", b"b", b"c", b"d"], 2), shingles([b"b", b"c", b"d", b"e"], 2)
    assert resemblance(sketch(a), sketch(b)) == 0.5
    assert containment(sketch(a), sketch(b)) == pytest.approx(2 / 3)


def test_a_part_is_contained_in_the_whole() -> None:
    whole = shingles([b"%d" % number for number in range(500)], 3)
    part = shingles([b"%d" % number for number in range(100)], 3)
    assert containment(sketch(part, 400), sketch(whole, 400)) == pytest.approx(1.0, abs=0.15)
    assert containment(sketch(whole, 400), sketch(part, 400)) == pytest.approx(0.2, abs=0.05)


def test_the_estimate_is_within_its_error() -> None:
    chooser = random.Random(1)
    words = [b"%d" % chooser.randrange(1 << 40) for _ in range(4000)]
    a, b = shingles(words[:3000], 1), shingles(words[1000:], 1)
    assert resemblance(sketch(a, 400), sketch(b, 400)) == pytest.approx(0.5, abs=3 * 0.5 / 20)


def test_sketches_of_two_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="of 5 and of 6"):
        resemblance(sketch(shingles([b"a"]), 5), sketch(shingles([b"a"]), 6))
    with pytest.raises(ValueError, match="width 0"):
        shingles([b"a"], 0)


@given(tokens, tokens, st.integers(1, 6), st.integers(1, 20))
def test_resemblance_is_symmetric_in_0_to_1_and_1_with_itself(
    a: list[bytes], b: list[bytes], width: int, size: int
) -> None:
    one, other = sketch(shingles(a, width), size), sketch(shingles(b, width), size)
    assert resemblance(one, other) == resemblance(other, one)
    assert 0.0 <= resemblance(one, other) <= 1.0
    assert 0.0 <= containment(one, other) <= 1.0
    assert resemblance(one, one) == containment(one, one) == 1.0


@given(tokens, tokens, st.integers(1, 4))
def test_sets_that_fit_a_sketch_are_compared_exactly(a: list[bytes], b: list[bytes], width: int) -> None:
    sets = []
    for sequence in (a, b):
        n = max(1, len(sequence) - width + 1) if sequence else 0
        sets.append({tuple(sequence[at : at + width]) for at in range(n)})
    union = sets[0] | sets[1]
    expected = len(sets[0] & sets[1]) / len(union) if union else 1.0
    one, other = (sketch(shingles(sequence, width)) for sequence in (a, b))
    assert (one.n_shingles, other.n_shingles) == (len(sets[0]), len(sets[1]))
    assert resemblance(one, other) == pytest.approx(expected)


def test_many_tokens_take_bounded_time() -> None:
    start = time.process_time()
    shingles([b"a", b"b"] * 100_000 + [b"%d" % number for number in range(100_000)])
    assert time.process_time() - start < 3
