"""Training: rows and labels from data sets, machines that agree with scikit-learn, modules that can be imported."""

import numpy as np
import pytest

from experiments.datasets import Sample
from experiments.training import block_rows, content_shares, module_of, ridge_rows, train_linear, train_mountain
from extract.methods.linear import COLUMNS
from extract.protocol import page_of
from tests.extract.pages import news_page

RNG = np.random.default_rng(1)


def sample(number: int) -> Sample:
    page = news_page(number)
    truth = "\n".join(text for text, piece in zip(page.texts, page.pieces, strict=True) if b"." in piece[-10:])
    return Sample(f"<{number}>", "2010", "daily.test", page, truth)


def test_block_rows_are_the_labelled_blocks() -> None:
    rows, content = block_rows([sample(2), sample(3)])
    labels = [label for n in (2, 3) for label in sample(n).labels if label is not None]
    assert rows.shape == (len(labels), len(COLUMNS))
    assert content.tolist() == labels


def test_a_span_is_content_by_its_visible_characters() -> None:
    page = page_of("", b"<p>abcd<p>efgh")
    assert content_shares(page, [True, False], [(0, len(page.source)), (0, 7)]).tolist() == [0.5, 1.0]
    assert content_shares(page, [True, False], []).tolist() == []


def test_ridge_rows_have_four_features() -> None:
    rows, primary = ridge_rows([sample(n) for n in range(5)])
    assert rows.shape == (len(primary), 4)
    assert primary.any()


def test_the_linear_machine_divides_what_can_be_divided() -> None:
    rows = RNG.normal(size=(200, len(COLUMNS)))
    content = rows[:, 0] > 0.2
    trained = train_linear(rows, content)
    assert trained.accuracy > 0.9
    assert ((trained.machine.decide(rows) > 0) == content).mean() > 0.95


def test_the_rbf_machine_decides_as_scikit_learn_does() -> None:
    from sklearn.svm import SVC

    rows = RNG.uniform(size=(200, 4))
    primary = (rows[:, 0] > 0.5) ^ (rows[:, 1] > 0.5)
    trained = train_mountain(rows, primary)
    theirs = SVC(kernel="rbf", C=1.0, gamma="scale", class_weight="balanced", random_state=0)
    order = np.random.default_rng(0).permutation(200)
    theirs.fit(rows[order], primary[order])
    assert trained.machine.decide(rows) == pytest.approx(theirs.decision_function(rows))


def test_the_module_written_has_the_machine() -> None:
    rows = RNG.uniform(size=(60, 4))
    machine = train_mountain(rows, rows[:, 0] > 0.5).machine
    scope: dict[str, object] = {}
    exec(module_of(machine, "Trained in a test."), scope)
    shipped = scope["SHIPPED"]
    assert shipped.decide(rows) == pytest.approx(machine.decide(rows), abs=0.05)  # type: ignore[attr-defined]


def test_one_kind_alone_teaches_nothing() -> None:
    with pytest.raises(ValueError, match="60 content of 60 blocks: at least 5 of either kind expected"):
        train_linear(np.zeros((60, len(COLUMNS))), np.ones(60, dtype=np.bool_))
