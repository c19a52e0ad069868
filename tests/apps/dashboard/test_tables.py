"""The figures are those of the commands, to the byte, and every table is there as .json and .csv."""

import csv
import io
import json
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from apps.dashboard.app import TABLES
from apps.dashboard.blocks import difference
from apps.dashboard.live import STATS_SECONDS
from apps.dashboard.tables import Column, Table, answer
from tests.apps.dashboard.conftest import Served

PAGE = "http://a.test/page/1"


def address(served: Served, table: str) -> str:
    """Return the query that a table needs."""
    rows = json.loads(served.ask(f"/page/blocks.json?{urlencode({'url': PAGE})}").body)
    block = next(row["block"] for row in rows if row["pages"] == 12)
    return "?" + urlencode({"url": PAGE, "site": "a.test", "block": block, "table": table})


def test_the_four_figures_are_those_of_stats(served: Served, ask: Callable[..., Any]) -> None:
    stats = ask("stats", "--store", f"sqlite:///{served.folder / 'store.db'}")
    time.sleep(STATS_SECONDS + 0.1)  # opening the store for `stats` may lengthen its WAL
    assert json.loads(served.ask("/live.json").body)["bytes"] == stats["bytes"]
    rows = json.loads(served.ask("/overview/bytes.json").body)
    assert {row["stage"]: row["bytes"] for row in rows} == stats["bytes"]
    shown = served.ask("/").text
    for name, value in stats["bytes"].items():
        assert f'data-value="exact-{name}">{value:,}<' in shown
    metrics = served.ask("/metrics").text
    for name, value in stats["bytes"].items():
        assert float(re.findall(rf'pagemason_store_bytes{{stage="{name}"}} (\S+)', metrics)[0]) == value


def test_the_sites_are_those_of_stats(served: Served, ask: Callable[..., Any]) -> None:
    by_site = ask("stats", "--store", f"sqlite:///{served.folder / 'store.db'}")["by_site"]
    rows = {row["site"]: row for row in json.loads(served.ask("/sites.json").body)}
    assert rows.keys() == {row["site"] for row in by_site} - {"(shared)"}
    for row in by_site:
        if row["site"] in rows:
            assert {name: rows[row["site"]][name] for name in row["bytes"]} == row["bytes"]
            assert rows[row["site"]]["captures"] == row["captures"]


def test_blocks_stand_on_as_many_pages_as_show_says(served: Served, ask: Callable[..., Any]) -> None:
    shown = ask("show", PAGE, "--store", f"sqlite:///{served.folder / 'store.db'}")["blocks"]
    rows = json.loads(served.ask(f"/page/blocks.json?{urlencode({'url': PAGE})}").body)
    assert [(r["offset"], r["size"], r["pages"]) for r in rows] == [(b["offset"], b["size"], b["pages"]) for b in shown]
    assert {row["kind"] for row in rows} >= {"known", "new"}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_the_same_as_json_and_as_csv(served: Served, table: str) -> None:
    query = address(served, table)
    served.counted("a.test")
    rows = json.loads(served.ask(f"{table}.json{query}").body)
    answered = served.ask(f"{table}.csv{query}")
    lines = list(csv.DictReader(io.StringIO(answered.text)))
    assert answered.headers["Content-Type"].startswith("text/csv")
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        assert line.keys() == row.keys()


def test_a_spreadsheet_finds_no_formula() -> None:
    table = Table("t", (Column("url", "URL"),), [{"url": "=HYPERLINK(1)"}, {"url": "@x"}, {"url": "http://a.test/"}])
    lines = bytes(answer(table, "csv").body).decode().split()
    assert lines == ["url", "'=HYPERLINK(1)", "'@x", "http://a.test/"]


def test_sites_are_searched_sorted_and_paged(served: Served) -> None:
    def names(query: str) -> list[str]:
        return [row["site"] for row in json.loads(served.ask(f"/sites.json?{query}").body)]

    assert names("sort=site&order=up") == ["a.test", "b.test"]
    assert names("sort=site") == ["b.test", "a.test"]
    assert names("q=B.") == ["b.test"]
    assert names("sort=nonsense") == names("")
    assert served.ask("/sites?page=99999999999999").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/site?site=nowhere.test",
        "/page?url=http://a.test/none",
        "/page",
        f"/page?url={PAGE}&capture=x",
        "/block?site=a.test&block=zz",
        f"/block?site=a.test&block={'0' * 32}",
        "/diff?url=http://b.test/",
        "/site/pages.json?site=nowhere.test",
        "/site?site=%00%ff",
        "/page?url=%ed%a0%80",
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(served: Served, path: str) -> None:
    served.counted("a.test")
    answered = served.ask(path)
    assert answered.status == 404
    assert "Traceback" not in answered.text


def test_a_difference_gives_both_sides() -> None:
    parts = difference(b"<p>the old words</p>", b"<p>the new words</p>")
    assert "".join(text for kind, text in parts if kind != "come") == "<p>the old words</p>"
    assert "".join(text for kind, text in parts if kind != "gone") == "<p>the new words</p>"
    assert ("gone", "old") in parts


def test_a_difference_of_two_captures_names_what_went_and_came(served: Served) -> None:
    rows = json.loads(served.ask(f"/diff/blocks.json?{urlencode({'url': PAGE})}").body)
    assert {row["change"] for row in rows} == {"gone", "come"}
    assert any("before" in row["begins"] for row in rows if row["change"] == "gone")
