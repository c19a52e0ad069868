"""L-Extractor and the machines: a hyperplane over block features, applied with numpy alone."""

import numpy as np
import pytest

from extract.methods.linear import COLUMNS, LExtractor, rows_of
from extract.methods.svm import LinearSvm, RbfSvm
from extract.protocol import NoEvidence, page_of

LINEAR = {"features": ["a", "b"], "means": [1, 1], "scales": [1, 2], "weights": [1, -1], "bias": 0.5}
RBF = {"vectors": [[0, 0], [1, 0]], "coefficients": [1, -1], "bias": 0.25, "gamma": 1}


def test_a_linear_machine_is_a_hyperplane_in_standardised_features() -> None:
    assert LinearSvm.of(LINEAR).decide(np.array([[1.0, 1.0], [3.0, 5.0]])).tolist() == [0.5, 0.5]


def test_an_rbf_machine_sums_over_its_vectors() -> None:
    value = RbfSvm.of(RBF).decide(np.array([[0.0, 0.0]]))[0]
    assert value == pytest.approx(1 - np.exp(-1) + 0.25)
    assert RbfSvm.of(RBF).decide(np.zeros((0, 2))).tolist() == []


@pytest.mark.parametrize("bad", [{}, {**LINEAR, "weights": [1]}, {**LINEAR, "bias": "x"}, {**LINEAR, "means": 3}])
def test_what_is_no_linear_machine_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no linear SVM"):
        LinearSvm.of(bad)


@pytest.mark.parametrize("bad", [{}, {**RBF, "vectors": [[1], [1, 2]]}, {**RBF, "coefficients": [1]}])
def test_what_is_no_rbf_machine_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no RBF SVM"):
        RbfSvm.of(bad)


def test_features_of_partitioning_tags_are_left_out() -> None:
    assert "terms" in COLUMNS
    assert not {"paragraphs", "tables", "rows", "divisions"} & set(COLUMNS)
    rows = rows_of(page_of("", b"<p>one two three<p><a>x</a>"))
    assert rows[:, COLUMNS.index("terms")].tolist() == [2.0, 1.0]
    assert rows[:, COLUMNS.index("links")].tolist() == [0.0, 1.0]


def test_a_long_text_is_content_for_the_shipped_machine_and_a_list_of_links_is_not() -> None:
    page = page_of("", b"<ul><li><a href=x>a</a><li><a href=y>b</a></ul><p>" + b"many words of a text " * 20)
    assert LExtractor().extract(page, NoEvidence()).flags == (False, True)


def test_a_machine_of_other_features_is_refused() -> None:
    with pytest.raises(ValueError, match="machine of features a, b"):
        LExtractor(LinearSvm.of(LINEAR)).extract(page_of("", b"x"), NoEvidence())
