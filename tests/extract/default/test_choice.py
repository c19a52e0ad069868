"""Choosing passages by their expected F1."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from extract.default.choice import HARDLY, choose, threshold


def test_sure_pages_keep_what_is_likely() -> None:
    kept = choose(np.array([0.99, 0.9, 0.5, 0.02]), np.array([50.0, 50.0, 5.0, 50.0]))
    assert kept.tolist() == [True, True, True, False]


def test_unsure_pages_keep_more_rather_than_nothing() -> None:
    kept = choose(np.array([0.5, 0.4, 0.01]), np.array([10.0, 10.0, 10.0]))
    assert kept.tolist() == [True, True, False]


def test_a_page_that_has_no_content_in_all_probability_keeps_nothing() -> None:
    assert not choose(np.array([0.15, 0.1, 0.01]), np.array([10.0, 10.0, 10.0])).any()


def test_no_passage_no_choice() -> None:
    assert threshold(np.zeros(0), np.zeros(0)) == (2.0, 0.0)


@given(st.lists(st.tuples(st.floats(0.001, 0.999), st.integers(1, 500)), min_size=1, max_size=8))
def test_no_other_set_of_the_most_probable_has_a_higher_expected_f1(rows: list[tuple[float, int]]) -> None:
    probability, words = np.array([p for p, _ in rows]), np.array([float(w) for _, w in rows])
    least, expected = threshold(probability, words)

    def value(kept: np.ndarray) -> float:
        return float(2 * (words * probability)[kept].sum() / (words[kept].sum() + (words * probability).sum()))

    assert expected == 0.0 or abs(value(probability >= least) - expected) < 1e-9
    for at in probability:
        assert value(probability >= at) <= expected + 1e-9 or probability.max() < HARDLY
