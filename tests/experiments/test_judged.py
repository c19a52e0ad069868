"""The judged sample, and how well the label rule agrees with it."""

from experiments.datasets import load
from experiments.judged import agreement, false_positive_kinds, judgements
from tests.experiments.corpora import corpus


def test_two_hundred_blocks_are_judged() -> None:
    assert len(judgements()) == 200


def test_the_label_rule_agrees_with_the_judge_on_95_of_100_blocks() -> None:
    agreed, judged = agreement(load(corpus("news")))
    assert judged == 200
    assert agreed >= 190


def test_the_false_positives_of_the_sample_have_a_kind() -> None:
    kinds = dict(false_positive_kinds(load(corpus("news"))))
    assert sum(kinds.values()) == 200
    assert kinds["related links"] == max(kinds.values())
