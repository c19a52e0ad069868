"""The experiment `paper`, whole, on a small site: its tables, its claims, its figures, and what it refuses."""

import csv
import shutil
from pathlib import Path

import pytest

from apps.cli import invoke
from experiments.datasets import load
from experiments.debnath import paper
from experiments.report import Table, write
from experiments.runs import Context
from tests.experiments.site import corpus_of

SMALL = Context(sizes=(6, 12))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report, written."""
    out = tmp_path_factory.mktemp("report")
    write(paper([load(corpus_of(out))], SMALL), out)
    return out


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_every_table_and_figure_of_the_paper_is_there(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    for name in (
        "table2",
        "table2-paper",
        "table6",
        "figure7",
        "figure8",
        "figure9",
        "figure10",
        "pages-used",
        "index",
    ):
        assert f'id="{name}"' in page
    assert {path.suffix for path in (folder / "figures").iterdir()} == {".csv", ".svg", ".png"}


def test_the_report_needs_nothing_else(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "")
    assert "<script" not in page
    assert "src=" not in page


def test_scores_are_those_of_the_methods(folder: Path) -> None:
    row = rows(folder / "tables", "table2")[0]
    assert (row["site"], row["pages"]) == ("daily.test 2010", "12")
    assert float(row["b-Recall of CE"]) == 1.0
    assert float(row["b-Prec of CE"]) > 0.7


def test_storage_shrinks_step_by_step(folder: Path) -> None:
    row = rows(folder / "tables", "storage")[0]
    original, once, content = (int(row[key]) for key in ("original", "CE, similar blocks once", "CE, content once"))
    assert original > once > content > 0
    assert int(row["real store: on disk"]) > 0


def test_the_claims_say_whether_they_hold(folder: Path) -> None:
    claims = rows(folder / "tables", "claims")
    assert {claim["here"] for claim in claims} <= {"holds", "does not hold"}
    assert all(
        bool(claim["why not"]) == (claim["here"] == "does not hold") or "times" in claim["claim"] for claim in claims
    )


def test_the_claims_are_told_site_by_site(folder: Path) -> None:
    (row,) = rows(folder / "tables", "claims-by-site")
    assert (row["site"], row["layout"]) == ("daily.test 2010", "DIV")
    table = rows(folder / "tables", "table2")[0]
    assert float(row["b-Prec, CE less LH"]) == pytest.approx(
        float(table["b-Prec of CE"]) - float(table["b-Prec of LH"])
    )
    assert bool(row["where not, and why"]) == any(
        float(row[key]) <= 0 for key in ("b-Prec, CE less LH", "b-Prec, K-FE less LH")
    )


def test_the_same_data_give_the_same_numbers(tmp_path: Path) -> None:
    data = [load(corpus_of(tmp_path))]
    tables = [
        [item for section in paper(data, SMALL).sections for item in section.items if isinstance(item, Table)]
        for _ in range(2)
    ]
    timed = {"times", "claims", "claims-by-site"}
    for first, second in zip(*tables, strict=True):
        assert first == second or first.name in timed


def test_the_command_writes_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = corpus_of(tmp_path)
    assert invoke(["experiment", "paper", "--corpus", str(corpus), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "out" / "report.html")


@pytest.mark.parametrize(
    ("count", "sentence"), [(3, "no site and year with 10 pages"), (0, "a WARC file of pages expected")]
)
def test_too_few_pages_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int, sentence: str
) -> None:
    corpus = corpus_of(tmp_path, count)
    assert invoke(["experiment", "paper", "--corpus", str(corpus), "--out", str(tmp_path / "out")]) == 1
    assert sentence in capsys.readouterr().err


def test_a_missing_corpus_and_an_unknown_experiment_are_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["experiment", "paper", "--corpus", "nowhere.warc", "--out", str(tmp_path)]) == 1
    assert "nowhere.warc: No such file or directory" in capsys.readouterr().err
    assert invoke(["experiment", "nothing", "--corpus", "x", "--out", str(tmp_path)]) == 2
    assert "'nothing' is not one of 'paper'" in capsys.readouterr().err


def test_a_corpus_without_truth_still_has_times_and_storage(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path)
    (tmp_path / "daily.truth.jsonl").unlink()
    report = paper([load(corpus)], SMALL)
    assert [section.title for section in report.sections] == [
        "Figures 7 and 9: run time",
        "Figure 8: storage of a web cache",
    ]


def test_the_report_opens_in_a_browser(folder: Path, tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text))
        page.on("requestfailed", lambda request: errors.append(request.url))
        page.goto((folder / "report.html").as_uri())
        shot = page.screenshot(path=str(tmp_path / "report.png"), full_page=True)
        widths = page.evaluate("[...document.querySelectorAll('figure svg')].map(each => each.clientWidth)")
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        browser.close()
    assert errors == []
    assert len(shot) > 50_000
    assert len(widths) == 5
    assert min(widths) > 300
    assert overflow == 0
