"""`pagemason batch`: the same results whoever works, whatever was interrupted, and every damage named."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.cli import invoke
from store.opening import open_store
from tests.apps.batch.archives import files_of, page, response, write_archives
from tests.apps.warc.samples import HEAD, packed, record

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'pagemason[batch]'")

Invoke = Callable[..., tuple[int, str, str]]

ROOT = Path(__file__).resolve().parents[3]


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def captures_in(store: str) -> Counter[Any]:
    opened = open_store(store)
    found = Counter(opened.read(record) for record in opened.captures())
    opened.close()
    return found


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    write_archives(tmp_path / "in")
    return tmp_path / "in"


def test_the_report_counts_what_a_site_has_in_common(archives: Path, tmp_path: Path, pm: Invoke) -> None:
    code, out, err = pm("batch", "report", archives, "--out", tmp_path / "out", "--jobs", 1)
    assert (code, err) == (0, "")
    assert out.startswith("3 sites, 52 captures, 52 pages; ")
    sites = {row["site"]: row for row in lines(tmp_path / "out/report/sites.jsonl")}
    first = sites["site0.test"]
    again = len(page(0, 0, 400))
    own = [n for n in range(48) if n % 12 % 3 == 0]
    assert first["captures"] == first["pages"] == len(own) + 4
    assert first["original"] == sum(len(page(0, n)) for n in own) + 4 * again
    assert first["exact"] == first["original"] - 3 * again
    assert first["blocks"] < first["exact"] - 15 * 300  # the menu, once
    templates = [row for row in lines(tmp_path / "out/report/templates.jsonl") if row["site"] == "site0.test"]
    assert {row["pages"] for row in templates} == {first["pages"]}
    assert any("part 0 of site 0" in row["begins"] for row in templates)


def test_near_duplicates_are_found_and_others_are_not(tmp_path: Path, pm: Invoke) -> None:
    one, other = page(0, 1, 600), page(0, 2, 600)
    almost = one.replace(b"<h1>page 1</h1>", b"<h1>page one</h1>")
    content = packed(response(0, 1, one), response(0, 2, other), response(0, 3, almost), response(0, 4, one))
    (tmp_path / "a.warc.gz").write_bytes(content)
    assert pm("batch", "report", tmp_path / "a.warc.gz", "--out", tmp_path)[0] == 0
    found = [(row["url"], row["like"]) for row in lines(tmp_path / "report/near.jsonl")]
    assert found == [("http://site0.test/3", "http://site0.test/1")]


@pytest.mark.parametrize("job", ["report", "extract", "warc"])
def test_results_are_the_same_for_one_worker_and_two_and_when_done_again(
    job: str, archives: Path, tmp_path: Path, pm: Invoke
) -> None:
    for name, jobs in (("one", 1), ("two", 2)):
        assert pm("batch", job, archives, "--out", tmp_path / name, "--jobs", jobs)[0] == 0
    first = files_of(tmp_path / "one" / job)
    assert first == files_of(tmp_path / "two" / job)
    shutil.rmtree(tmp_path / "one" / job)
    assert pm("batch", job, archives, "--out", tmp_path / "one", "--jobs", 1)[0] == 0
    assert files_of(tmp_path / "one" / job) == first
    for step in json.loads((tmp_path / "one" / job / "run.json").read_text())["steps"].values():
        assert step["done before"] == step["tasks"]


def test_a_run_that_was_killed_is_taken_up_again(tmp_path: Path, pm: Invoke) -> None:
    write_archives(tmp_path / "in", n_files=12, n_pages=60)
    command = ("batch", "report", str(tmp_path / "in"), "--jobs", "1", "--out")
    program = [sys.executable, "-m", "apps.cli", *command, str(tmp_path / "killed")]
    with subprocess.Popen(program, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL) as process:
        while not list((tmp_path / "killed/.parts/report").glob("*.parquet")) and process.poll() is None:
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
    assert not (tmp_path / "killed/report/run.json").exists()
    for name in ("killed", "whole"):
        assert pm(*command, tmp_path / name)[0] == 0
    assert files_of(tmp_path / "killed/report") == files_of(tmp_path / "whole/report")
    reading = json.loads((tmp_path / "killed/report/run.json").read_text())["steps"]["reading"]
    assert 0 < reading["done before"] < reading["tasks"]


def test_only_what_has_changed_is_read_again(archives: Path, tmp_path: Path, pm: Invoke) -> None:
    run = ("batch", "report", archives, "--out", tmp_path / "out", "--jobs", 1)
    assert pm(*run)[0] == 0
    (archives / "part9.warc.gz").write_bytes(packed(response(7, 7)))
    assert pm(*run)[0] == 0
    reading = json.loads((tmp_path / "out/report/run.json").read_text())["steps"]["reading"]
    assert (reading["tasks"], reading["done before"]) == (5, 4)
    assert "site7.test" in {row["site"] for row in lines(tmp_path / "out/report/sites.jsonl")}


def test_what_is_damaged_is_named_and_the_rest_is_complete(
    archives: Path, tmp_path: Path, pm: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    pm("batch", "report", archives, "--out", tmp_path / "sound", "--jobs", 1)
    large = record(HEAD + bytes(3 << 20), url="http://large.test/", record_id="<urn:uuid:large>")
    (archives / "large.warc.gz").write_bytes(packed(large, response(8, 1)))
    (archives / "zero.warc.gz").write_bytes(b"")
    (archives / "cut.warc.gz").write_bytes(packed(response(9, 1), response(9, 2))[:-30])
    (archives / "twice.warc.gz").write_bytes((archives / "part0.warc.gz").read_bytes())
    monkeypatch.setenv("PAGEMASON_MAX_RECORD_BYTES", "2 MiB")
    code, _, err = pm("batch", "report", archives, "--out", tmp_path / "out", "--jobs", 1)
    assert code == 1
    problems = {Path(row["file"]).name: row["what"] for row in lines(tmp_path / "out/report/problems.jsonl")}
    assert problems.keys() == {"large.warc.gz", "zero.warc.gz", "cut.warc.gz", "twice.warc.gz"}
    assert problems["zero.warc.gz"] == "a file of zero bytes"
    assert problems["cut.warc.gz"] == "the gzip member is cut off"
    assert f"more than {2 << 20}" in problems["large.warc.gz"]
    assert all(name in err for name in problems)
    sites = {row["site"]: row for row in lines(tmp_path / "out/report/sites.jsonl")}
    sound = {row["site"]: row for row in lines(tmp_path / "sound/report/sites.jsonl")}
    assert {**sound, "site8.test": sites["site8.test"], "site9.test": sites["site9.test"]} == sites
    assert sites["site9.test"]["captures"] == 1


def test_the_content_is_what_extract_finds(tmp_path: Path, pm: Invoke) -> None:
    (path,) = write_archives(tmp_path / "in", n_files=1)
    assert pm("batch", "extract", path, "--out", tmp_path)[0] == 0
    code, out, _ = pm("extract", path, "--jobs", 1)
    assert code == 0
    alone = [json.loads(line) for line in out.splitlines()]
    rows = lines(tmp_path / "extract/content/00000-part0.jsonl")
    assert [{name: row[name] for name in alone[0]} for row in rows] == alone
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "extract/content/00000-part0.parquet")
    assert table.column("text").to_pylist() == [row["text"] for row in rows]


def test_files_are_loaded_once(archives: Path, tmp_path: Path, pm: Invoke) -> None:
    one, other = f"sqlite:///{tmp_path}/one.db", f"sqlite:///{tmp_path}/other.db"
    assert pm("import", archives, "--store", one)[0] == 0
    run = ("batch", "load", archives, "--out", tmp_path / "out", "--jobs", 1, "--store")
    assert pm(*run, other)[1].startswith("52 captures of 4 files kept; ")
    assert captures_in(one) == captures_in(other)
    assert pm(*run, other)[1].startswith("0 captures of 4 files kept; ")


def test_files_without_repeated_bodies_hold_the_same_captures(archives: Path, tmp_path: Path, pm: Invoke) -> None:
    request = record(b"GET / HTTP/1.1\r\n\r\n", kind="request", record_id="<urn:uuid:request>")
    (archives / "plain.warc").write_bytes(request + response(0, 1, page(0, 0, 400), second=300))
    before, after = f"sqlite:///{tmp_path}/before.db", f"sqlite:///{tmp_path}/after.db"
    assert pm("batch", "warc", archives, "--out", tmp_path / "out")[1].startswith("5 files, 4 bodies not written again")
    written = tmp_path / "out/warc/warc"
    assert sum(p.stat().st_size for p in written.iterdir()) < sum(p.stat().st_size for p in archives.iterdir())
    assert b"WARC-Type: request" in gzip.decompress((written / "plain.warc.gz").read_bytes())
    assert pm("import", archives, "--store", before)[0] == 0
    assert pm("batch", "load", written, "--out", tmp_path / "out", "--store", after)[0] == 0
    assert captures_in(before) == captures_in(after)


@pytest.mark.parametrize(("missing", "extra"), [("pyarrow", "batch"), ("ray", "ray")])
def test_what_is_not_installed_is_a_sentence(
    missing: str, extra: str, archives: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pm: Invoke
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    code, _, err = pm("batch", "report", archives, "--out", tmp_path, "--ray", "auto")
    assert (code, err) == (1, f"pagemason: {missing} is not installed: pip install 'pagemason[{extra}]'\n")


def test_paths_that_are_nothing_are_a_sentence(tmp_path: Path, pm: Invoke) -> None:
    code, _, err = pm("batch", "report", tmp_path / "none.warc.gz", "--out", tmp_path)
    assert (code, err) == (1, f"pagemason: {tmp_path}/none.warc.gz: no such file\n")


def test_the_parts_explain_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("report", "extract", "load", "warc"):
        assert invoke(["batch", name, "--help"]) == 0
        assert f"Usage: pagemason batch {name}" in capsys.readouterr().out
