"""Precision, recall and F-measure over blocks, features and sentences."""

import pytest

from experiments.metrics import Counts, block_counts, feature_counts, sentence_counts, total


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (Counts(3, 4, 6), (0.75, 0.5, 0.6)),
        (Counts(0, 0, 0), (1.0, 1.0, 1.0)),
        (Counts(0, 0, 5), (0.0, 0.0, 0.0)),
        (Counts(0, 5, 0), (0.0, 1.0, 0.0)),
    ],
)
def test_equations_5_to_7(counts: Counts, expected: tuple[float, float, float]) -> None:
    assert (counts.precision, counts.recall, counts.f_measure) == pytest.approx(expected)


def test_blocks_without_a_label_are_not_counted() -> None:
    assert block_counts([True, True, False], [None, True, None]) == Counts(1, 1, 1)


def test_counts_of_pages_add_up() -> None:
    assert total([Counts(1, 2, 3), Counts(1, 1, 1)]) == Counts(2, 3, 4)


def test_features_are_distinct_terms() -> None:
    assert feature_counts(["a", "b", "b"], ["b", "c"]) == Counts(1, 2, 2)


def test_sentences_are_compared_by_their_words() -> None:
    assert sentence_counts("It rains. Go home", "It  RAINS! It pours.") == Counts(1, 2, 2)
