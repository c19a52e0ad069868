"""extract and methods: text from a page, a line a page from an archive, sentences for what is wrong."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from extract.registry import METHODS
from tests.apps.conftest import Invoke
from tests.experiments.test_datasets import warc
from tests.extract.pages import news_page, news_pages


def test_the_text_of_a_page(home: Path, pm: Invoke) -> None:
    (home / "page.html").write_bytes(news_page(2).body)
    code, out, _ = pm("extract", home / "page.html", "--method", "CETR-TM")
    assert code == 0
    assert "The mayor of" in out


def test_a_page_on_standard_input(home: Path, pm: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(news_page(2).body)))
    assert "The mayor of" in pm("extract", "-", "--method", "CETR-TM")[1]


@pytest.mark.parametrize("method", ["ContentExtractor", "CETR-TM"])
def test_an_archive_gives_a_json_line_a_page(home: Path, pm: Invoke, method: str) -> None:
    (home / "site.warc").write_bytes(warc(*(page.body for page in news_pages(6))))
    code, out, _ = pm("extract", home / "site.warc", "--method", method, "--format", "jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["record_id"] for row in rows] == [f"<urn:uuid:{n}>" for n in range(1, 7)]
    assert all(set(row) == {"record_id", "url", "text", "score"} for row in rows)
    assert sum("The mayor" in row["text"] for row in rows) >= 4
    assert not any("Copyright" in row["text"] for row in rows)


def test_json_has_the_verdict_of_each_block(home: Path, pm: Invoke) -> None:
    (home / "page.html").write_bytes(b"<p>one<p>two")
    found = json.loads(pm("extract", home / "page.html", "--method", "ContentExtractor", "--format", "json")[1])
    assert [(block["text"], block["content"]) for block in found["blocks"]] == [("one", True), ("two", True)]
    assert found["blocks"][0]["why"] == "no other page to compare with"


def test_parameters_of_a_method(home: Path, pm: Invoke) -> None:
    (home / "page.html").write_bytes(news_page(2).body)
    arguments = ("extract", home / "page.html", "--method", "K-FeatureExtractor", "-p", 'features={"link": 1}')
    assert "Subscribe" in pm(*arguments)[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--method", "CETR"), "'CETR' is no extractor; did you mean CETR-"),
        (("--method", "VIPS"), "'VIPS' is no extractor: one of Pagemason, "),
        (("--method", "CETR-TM", "-p", "nonsense"), "'nonsense': NAME=VALUE expected"),
        (("--method", "CETR-TM", "-p", "no=1"), "unexpected keyword argument 'no'"),
        (("--method", "FeatureExtractor", "-p", 'features={"colour": 1}'), "feature 'colour': one of text, "),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(home: Path, pm: Invoke, arguments: tuple[str, ...], sentence: str) -> None:
    (home / "page.html").write_bytes(b"<p>x")
    code, out, err = pm("extract", home / "page.html", *arguments)
    assert (code, out) == (2, "")
    assert sentence in err


def test_a_file_that_is_not_there(pm: Invoke) -> None:
    code, _, err = pm("extract", "nowhere.warc", "--method", "CETR-TM")
    assert (code, err) == (1, "pagemason: nowhere.warc: no such file\n")


def test_a_folder_is_no_file(home: Path, pm: Invoke) -> None:
    assert pm("extract", home) == (1, "", f"pagemason: {home}: is a folder, not a page or an archive\n")


def test_a_damaged_archive_is_said_and_fails(home: Path, pm: Invoke) -> None:
    (home / "cut.warc").write_bytes(warc(news_page(1).body)[:-500])
    code, _, err = pm("extract", home / "cut.warc", "--method", "CETR-TM")
    assert code == 1
    assert err.startswith(f"pagemason: {home}/cut.warc: byte ")


def test_methods_lists_every_name(pm: Invoke) -> None:
    rows = json.loads(pm("methods", "--json")[1])
    assert [row["name"] for row in rows] == list(METHODS)
    assert all(name in pm("methods")[1] for name in METHODS)
