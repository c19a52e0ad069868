"""The experiments of the other papers, whole, on a small site: every figure and table, and what they refuse."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from experiments.datasets import DataSet, load
from experiments.linho import optimal
from experiments.metrics import Counts
from experiments.registry import EXPERIMENTS, experiment
from experiments.report import write
from experiments.retrieval import Scores, title_of
from experiments.runs import Context
from extract.protocol import page_of
from tests.experiments.site import corpus_of

SMALL = Context(sizes=(6, 12))

ITEMS = {
    "entropy": {"figure5", "figure6", "figure7", "figure7-sites", "table2"},
    "patterns": {"table1", "figure5", "figure6", "thresholds"},
    "mountain": {"figure3", "figure4", "figure5", "figure5-table", "figure6", "figure7", "figure7-table", "figure8"},
    "retrieval": {"retrieval", "retrieval-table"},
    "compare": {"claims", "methods", "methods-f"},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Sequence[DataSet]:
    return [load(corpus_of(tmp_path_factory.mktemp("site")))]


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{name}.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize("name", sorted(ITEMS))
def test_every_figure_and_table_is_there(name: str, data: Sequence[DataSet], tmp_path: Path) -> None:
    report = experiment(name)(data, SMALL)
    assert {item.name for section in report.sections for item in section.items} == ITEMS[name]
    page = write(report, tmp_path).read_text()
    assert all(f'id="{item}"' in page for item in ITEMS[name])


def test_the_template_of_the_site_is_found_by_entropy(data: Sequence[DataSet], tmp_path: Path) -> None:
    write(experiment("entropy")(data, SMALL), tmp_path)
    (row,) = rows(tmp_path, "table2")
    assert float(row["recall there"]) > 0.9
    assert float(row["precision there"]) > 0.8


def test_the_optimal_threshold_is_where_recall_has_converged() -> None:
    counts = [Counts(1, 1, 4), Counts(3, 3, 4), Counts(4, 5, 4), Counts(4, 9, 4)]
    assert optimal(counts, (0.1, 0.2, 0.3, 0.4)) == 0.3


def test_all_extractors_are_compared(data: Sequence[DataSet], tmp_path: Path) -> None:
    write(experiment("compare")(data, SMALL), tmp_path)
    found = {row["method"]: float(row["b-F"]) for row in rows(tmp_path, "methods")}
    assert len(found) >= 14
    assert found["ContentExtractor"] > 0.8
    claims = [row for row in rows(tmp_path, "claims") if "agree" in row["claim"]]
    assert [row["figures"].split(" methods")[0] for row in claims] == [str(len(found))]


def test_a_page_is_found_by_its_title(tmp_path: Path) -> None:
    scores = Scores()
    scores.add([(3, 2.0), (7, 1.0)], 7)
    scores.add([(3, 2.0)], 3)
    scores.add([], 1)
    assert scores.figures == pytest.approx((0.5, 1 / 3, 2 / 3))
    assert title_of(page_of("", b"<title>The Daily &amp; Test</title>x")) == ["the", "daily", "amp", "test"]


@pytest.mark.parametrize("name", ["entropy", "patterns", "mountain"])
def test_a_corpus_without_truth_is_refused(name: str, tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path)
    (tmp_path / "daily.truth.jsonl").unlink()
    with pytest.raises(ValueError, match="truth"):
        experiment(name)([load(corpus)], SMALL)


def test_an_unknown_experiment_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="one of paper, entropy"):
        experiment("nothing")
    assert set(EXPERIMENTS) == {"paper", *ITEMS}
