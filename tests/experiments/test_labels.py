"""The label rule: a block is content when most of its words stand in the truth, in order."""

import pytest

from experiments.labels import labels_of_fields, labels_of_text

TRUTH = "Bridge opens. The new bridge over the river was opened on Monday. Overview It took two years to build."


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["The new bridge over the river was opened on Monday."], [True]),
        (["Sports", "Bridge opens", "The new bridge over the river", ""], [False, True, True, None]),
        (["opened on Monday", "Overview", "It took two years", "Overview"], [True, True, True, False]),
        (["A new river was opened over the bridge"], [False]),
        (["by Jo Doe, the new bridge over the river"], [True]),
        (["by Jo Doe, who once wrote of sports, on the new bridge over the river"], [False]),
        (["©", "..."], [None, None]),
        ([], []),
    ],
)
def test_labels_of_text(texts: list[str], expected: list[bool | None]) -> None:
    assert labels_of_text(texts, TRUTH) == expected


def test_a_truth_shorter_than_the_window_must_be_met_whole() -> None:
    assert labels_of_text(["Closed today", "today"], "Closed today") == [True, False]


def test_no_truth_text_means_no_content() -> None:
    assert labels_of_text(["a b c d", ""], "") == [False, None]


def test_damaged_accents_cost_a_word() -> None:
    assert labels_of_text(["Véronique was there and left early"], "V�ronique was there and left early") == [True]


def test_a_block_with_a_whole_value_of_a_field_is_content() -> None:
    fields = {"title": ["The Fifth Elephant"], "isbn": [": 9780316"], "note": [""]}
    texts = ["The Fifth Elephant (Paperback)", "The Fifth", "ISBN: 9780316", "97803165", ""]
    assert labels_of_fields(texts, fields) == [True, False, True, False, None]
