"""`analyze` counts what an import would, and leaves nothing behind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.apps.conftest import FOUR, Invoke, html
from tests.apps.warc.samples import packed, record

Ask = Callable[..., Any]


def many(n: int) -> bytes:
    text = " ".join(f"word{i * 7919 % 997}" for i in range(200))
    pages = (record(html(text, str(i)), url=f"http://a.test/{i}", record_id=f"<{i}>") for i in range(n))
    image = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + bytes(range(256)) * 400
    images = (record(image, url=f"http://a.test/i{i}", record_id=f"<i{i}>") for i in range(3))
    return packed(*pages, record(html("x", "y"), url="http://b.test/", record_id="<b>"), *images)


def test_the_figures_are_those_of_an_import(home: Path, ask: Ask, pm: Invoke) -> None:
    (home / "a.warc.gz").write_bytes(many(40))
    before = set(home.rglob("*"))
    found = ask("analyze", home / "a.warc.gz")
    assert set(home.rglob("*")) == before
    assert pm("import", home / "a.warc.gz")[0] == 0
    stats = ask("stats")
    assert found["captures"] == stats["captures"] == 44
    for figure in ("original", "exact", "block"):
        assert found["bytes"][figure] == stats["bytes"][figure]
    assert [row["site"] for row in found["by_site"]] == ["a.test", "b.test"]
    assert 0 < found["bytes"]["packed"] < found["bytes"]["exact"]


def test_a_table_for_people(home: Path, pm: Invoke) -> None:
    (home / "a.warc.gz").write_bytes(many(3))
    code, out, err = pm("analyze", home / "a.warc.gz")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("total")
    assert pm("analyze", home / "none.warc.gz")[0] == 2


def test_what_is_cut_off_is_named(home: Path, pm: Invoke) -> None:
    (home / "cut.warc.gz").write_bytes(FOUR[:-20])
    code, _, err = pm("analyze", home / "cut.warc.gz")
    assert code == 1
    assert "the gzip member is cut off" in err
