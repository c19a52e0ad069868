"""What each command prints and returns, on a real store."""

import gzip
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.apps.conftest import FOUR, Invoke, html
from tests.apps.warc.samples import HEAD, packed, record

ROOT = Path(__file__).resolve().parents[3]
Ask = Callable[..., Any]


def test_import_counts_as_json(home: Path, ask: Ask) -> None:
    (home / "a.warc").write_bytes(record() + record(record_id="<2>"))
    code = [sys.executable, "-c", "from apps.cli import main; main()", "import", str(home / "a.warc"), "--json"]
    done = subprocess.run(code, cwd=ROOT, capture_output=True, text=True, check=True)
    first = json.loads(done.stdout)
    assert done.stderr == "2 acknowledged\n"
    assert set(first) == {"captures", "skipped", "seconds"}
    again = ask("import", home / "a.warc")
    assert (first["captures"], first["skipped"], again["captures"], again["skipped"]) == (2, 0, 0, 2)


def test_a_truncated_file_is_kept_in_part_and_named(home: Path, pm: Invoke, ask: Ask) -> None:
    whole = packed(record())
    (home / "cut.warc.gz").write_bytes(whole + packed(record(record_id="<2>"))[:-30])
    code, out, err = pm("import", home / "cut.warc.gz")
    assert code == 1
    assert err == f"pagemason: {home}/cut.warc.gz: byte {len(whole)}: the gzip member is cut off\n"
    assert "1 captures kept" in out
    assert len(ask("ls")) == 1


def test_a_date_that_is_none_is_named_and_the_record_kept(home: Path, pm: Invoke, ask: Ask) -> None:
    (home / "a.warc").write_bytes(record(date="2024-05-06T00:00:00Z") + record(record_id="<2>", date="tomorrow"))
    code, out, err = pm("import", home / "a.warc")
    assert (code, out.startswith("2 acknowledged\n")) == (0, True)
    assert "WARC-Date 'tomorrow' is no date: dated 2024-05-06T00:00:00Z" in err
    assert [row["time"] for row in ask("ls")] == ["2024-05-06T00:00:00Z"] * 2


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("missing.warc", None, "cannot be read: No such file or directory"),
        ("empty.warc.gz", b"", "is no WARC file, HAR file or page"),
        ("junk.warc.gz", b"\x1f\x8b\x08\0\0", "the gzip member is cut off"),
        ("page.txt", b"just text", "is no WARC file, HAR file or page"),
        ("folder", None, "holds no page"),
    ],
)
def test_what_holds_no_page_leaves_no_store(
    home: Path, pm: Invoke, name: str, content: bytes | None, sentence: str
) -> None:
    if content is not None:
        (home / name).write_bytes(content)
    elif name == "folder":
        (home / name).mkdir()
    code, _, err = pm("import", home / name)
    assert code == 1
    assert sentence in err
    assert err.count("\n") == 1
    assert not (home / "data").exists()


def test_cat_gives_the_body_and_nothing_else(home: Path, pm: Invoke) -> None:
    body = bytes(range(256)) * 300
    (home / "a.warc").write_bytes(record(HEAD + body))
    pm("import", home / "a.warc")
    for url in ("http://a.test/", "http://a.test"):
        code, out, err = pm("cat", url)
        assert (code, out.encode("utf-8", "surrogateescape"), err) == (0, body, "")


@pytest.fixture
def article(home: Path, pm: Invoke) -> str:
    """The URL of a stored page with an article and a menu, among others of its site."""
    menu = "".join(f"<li><a href=/{n}>Part {n}</a>" for n in range(20))
    for number in range(6):
        text = "".join(
            f"<p>Report {number}, part {n}: the river rose by a further {n + number} centimetres, and the town council "
            f"met to decide about the bridge, the school and the {n} houses beside the water, "
            f"which had been dry for {n} years and more until the rain came over the hills on Sunday night.</p>"
            for n in range(8)
        )
        page = f"<title>Flood {number}</title><ul>{menu}</ul><div id=main><h1>Flood {number}</h1>{text}</div>"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        one = record(head + page.encode(), url=f"http://a.test/{number}", record_id=f"<{number}>")
        (home / f"{number}.warc").write_bytes(one)
    pm("import", *home.glob("*.warc"))
    return "http://a.test/3"


def test_cat_gives_the_content_in_each_format(article: str, pm: Invoke) -> None:
    for form, wanted in (
        ("html", "<h1>Flood 3</h1>"),
        ("markdown", "# Flood 3"),
        ("text", "Report 3, part 0"),
        ("json", '"title": "Flood 3"'),
    ):
        code, out, err = pm("cat", article, "--view", "content", "--format", form)
        assert (code, err) == (0, "")
        assert wanted in out
        assert "part 7: the river" in out
        assert form == "json" or "Part 7" not in out
    everything = pm("cat", article, "--format", "text")[1]
    assert "Part 7" in everything
    assert "part 7: the river" in everything


def test_cat_names_the_pages_with_the_same_content(article: str, home: Path, pm: Invoke) -> None:
    (home / "b.warc").write_bytes((home / "3.warc").read_bytes().replace(b"http://a.test/3", b"http://b.test/3"))
    pm("import", home / "b.warc")
    found = json.loads(pm("cat", article, "--view", "content", "--format", "json")[1])["similar"]
    assert (found[0]["url"], found[0]["resemblance"]) == ("http://b.test/3", 1.0)


def test_cat_follows_the_rules(article: str, home: Path, pm: Invoke) -> None:
    rules = home / "config" / "pagemason" / "rules.yaml"
    rules.parent.mkdir(parents=True)
    rules.write_text('- {host: a.test, drop: ["#main"], keep: [ul]}')
    out = pm("cat", article, "--view", "content", "--format", "text")[1]
    assert "Part 7" in out
    assert "the river" not in out
    rules.write_text("- {host: a.test, view: half}")
    code, out, err = pm("cat", article, "--view", "content")
    assert (code, out) == (2, "")
    assert err == f"pagemason: {rules}: a.test: 'half' is no view: full or content expected\n"


def test_cat_has_no_content_of_what_is_no_page(home: Path, pm: Invoke) -> None:
    (home / "a.warc").write_bytes(record(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG"))
    pm("import", home / "a.warc")
    assert pm("cat", "http://a.test/", "--view", "content") == (
        1,
        "",
        "pagemason: http://a.test/: image/png, an HTML page expected\n",
    )


def test_cat_gives_the_full_page_when_in_doubt(home: Path, pm: Invoke) -> None:
    body = b"<p>Hello"
    (home / "a.warc").write_bytes(record(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body))
    pm("import", home / "a.warc")
    assert pm("cat", "http://a.test/", "--view", "content") == (
        0,
        body.decode(),
        "pagemason: the full page: no content found\n",
    )


def test_show_says_what_is_content(article: str, pm: Invoke, ask: Ask) -> None:
    judged = {block["begins"]: block["content"] for block in ask("show", article)["blocks"]}
    assert any(content for begins, content in judged.items() if begins.startswith("<p>Report 3, part 7"))
    assert not any(content for begins, content in judged.items() if "Part 7</a>" in begins)


def test_cat_at_a_time_gives_the_newest_until_then(four: Path, pm: Invoke) -> None:
    assert "<p>new" in pm("cat", "http://a.test/")[1]
    assert "<p>old" in pm("cat", "http://a.test/", "--at", "2024-05-02")[1]
    assert pm("cat", "http://a.test/", "--at", "2023") == (
        1,
        "",
        "pagemason: http://a.test/: not in the store at 2023\n",
    )
    assert pm("cat", "http://c.test/") == (1, "", "pagemason: http://c.test/: not in the store\n")


def test_ls_lists_by_pattern(four: Path, pm: Invoke, ask: Ask) -> None:
    assert [row["record_id"] for row in ask("ls")] == ["<1>", "<2>", "<3>", "<4>"]
    assert [row["record_id"] for row in ask("ls", "*a.test/*")] == ["<1>", "<2>", "<3>"]
    assert [row["record_id"] for row in ask("ls", "http://www.a.test/about?x=1")] == ["<3>"]
    assert ask("ls", "http://*nothing*") == []
    code, out, _ = pm("ls", "http://b.test/")
    assert (code, out) == (0, "2024-05-04T00:00:00.500000Z 200        53 http://b.test/\n")


def test_a_url_cannot_steer_the_terminal(home: Path, pm: Invoke) -> None:
    (home / "a.warc").write_bytes(record(url="http://a.test/\x1b[2J\x07"))
    pm("import", home / "a.warc")
    assert "http://a.test/\\x1b[2J\\x07\n" in pm("ls")[1]


def test_stats_add_up(four: Path, pm: Invoke, ask: Ask) -> None:
    stats = ask("stats")
    assert list(stats) == ["captures", "pages", "sites", "blocks", "bytes", "by_site"]
    assert (stats["captures"], stats["pages"], stats["sites"]) == (4, 3, 2)
    assert list(stats["bytes"]) == ["original", "exact", "block", "ondisk"]
    for figure, total in stats["bytes"].items():
        assert sum(row["bytes"][figure] for row in stats["by_site"]) == total
    assert stats["bytes"]["original"] == sum(row["size"] for row in ask("ls"))
    lines = pm("stats")[1].splitlines()
    assert lines[0].split()[:4] == ["site", "captures", "pages", "blocks"]
    assert lines[-1].startswith("total")


def test_check_finds_nothing_wrong(four: Path, pm: Invoke, ask: Ask) -> None:
    assert ask("check") == {"captures": 4, "damaged": []}
    assert pm("check") == (0, "4 captures, all sound\n", "")


def test_show_says_on_how_many_pages_a_block_stands(four: Path, pm: Invoke, ask: Ask) -> None:
    shown = ask("show", "http://a.test/")
    assert (shown["url"], shown["site_pages"], shown["time"]) == ("http://a.test/", 2, "2024-05-03T00:00:00Z")
    by_text = {block["begins"]: block for block in shown["blocks"]}
    assert by_text["<div>menu of all pages</div>"]["pages"] == 2
    assert by_text["<p>home"]["pages"] == 1
    assert sum(block["size"] for block in shown["blocks"]) == shown["size"]
    assert "<p>home" in pm("show", "http://a.test/")[1]


def test_show_says_what_a_block_resembles(home: Path, pm: Invoke, ask: Ask) -> None:
    words = " ".join(f"word{n}" for n in range(40))
    pages = [html(words, "one"), html(words.replace("word7 ", "other "), "two")]
    records = [record(page, url=f"http://a.test/{n}", record_id=f"<{n}>") for n, page in enumerate(pages)]
    (home / "a.warc").write_bytes(b"".join(records))
    pm("import", home / "a.warc")
    for mine, theirs in ((0, 1), (1, 0)):
        blocks = ask("show", f"http://a.test/{mine}")["blocks"]
        (block,) = (block for block in blocks if "word1 " in block["begins"])
        assert block["pages"] == 1
        assert block["similar"]["url"] == f"http://a.test/{theirs}"
        assert 0.9 < block["similar"]["cosine"] < 1


def test_diff_says_which_blocks_went_and_came(four: Path, pm: Invoke, ask: Ask) -> None:
    found = ask("diff", "http://a.test/", "--from", "2024-05-01", "--to", "2024-05-04")
    assert (found["from"], found["to"]) == ("2024-05-01T00:00:00Z", "2024-05-03T00:00:00Z")
    assert [block["begins"] for block in found["removed"]] == ["<p>old</html>"]
    assert [block["begins"] for block in found["added"]] == ["<p>new</html>"]
    assert ask("diff", "http://a.test/") == found
    assert pm("diff", "http://b.test/")[0] == 1
    assert "'--from': 'then' is no time" in pm("diff", "http://a.test/", "--from", "then")[2]


def test_a_page_is_found_by_the_url_that_people_see(four: Path, pm: Invoke, ask: Ask) -> None:
    for url in ("http://a.test", "http://a.test/#part", "http://a.test#part"):
        assert ask("show", url)["url"] == "http://a.test/"


def test_export_and_import_give_the_same_captures(four: Path, home: Path, pm: Invoke, ask: Ask) -> None:
    assert pm("export", home / "all.warc.gz") == (0, f"4 captures written to {home}/all.warc.gz\n", "")
    before = ask("ls")
    pm("import", home / "all.warc.gz", "--store", f"sqlite:///{home}/other.db")
    assert ask("ls", "--store", f"sqlite:///{home}/other.db") == before
    assert ask("import", home / "all.warc.gz")["captures"] == 0
    pm("export", home / "some.warc.gz", "http://a.test/*", "--revisit")
    assert gzip.decompress((home / "some.warc.gz").read_bytes()).count(b"WARC-Type: response") == 2


def test_an_export_of_nothing_leaves_the_file_that_is_there(four: Path, home: Path, pm: Invoke) -> None:
    assert pm("import", four)[0] == 0
    out = home / "out.warc.gz"
    assert pm("export", out)[0] == 0
    before = out.read_bytes()
    for what in (("http://elsewhere.test/*",), ("--to", "1990")):
        assert pm("export", out, *what)[::2] == (
            1,
            f"pagemason: {what[0] if len(what) == 1 else '*'}: no capture matches\n",
        )
    assert out.read_bytes() == before
    assert list(home.glob(".out*")) == []


@pytest.mark.parametrize(
    ("times", "ids"),
    [
        (("--from", "2024-05-03"), ["<2>", "<4>"]),
        (("--to", "2024-05-02"), ["<1>", "<3>"]),
        (("--from", "2024-05-02", "--to", "2024-05-03"), ["<2>", "<3>"]),
        (("http://a.test/*", "--to", "2024-05-01"), ["<1>"]),
    ],
)
def test_export_takes_what_was_captured_between_two_times(
    four: Path, home: Path, pm: Invoke, times: tuple[str, ...], ids: list[str]
) -> None:
    assert pm("export", home / "some.warc.gz", *times)[0] == 0
    written = gzip.decompress((home / "some.warc.gz").read_bytes()).decode()
    assert sorted(re.findall(r"WARC-Record-ID: (<\d>)", written)) == ids
    assert pm("export", home / "none.warc.gz", "--from", "soon")[0] == 2


def test_a_purge_says_what_it_could_not_erase(
    pg_url: str, home: Path, pm: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = f"--store={pg_url}"
    (home / "a.warc").write_bytes(record(url="http://a.test/") + record(url="http://a.test/", record_id="<2>"))
    pm("import", home / "a.warc", to)
    assert pm("purge", "http://a.test/", "--dry-run", to)[2] == ""
    monkeypatch.setattr("store.upkeep.vacuuming.FULL_BYTES", 0)
    left = "bytes of purged pages may still be in the files of the database's tables"
    told = f"{left}: pagemason gc --erase writes them anew, and others wait meanwhile\n"
    assert pm("purge", "http://a.test/", to) == (0, "2 captures deleted\n", told)
    assert f"{left}: run pagemason gc --erase" in pm("doctor", to)[1]
    assert pm("gc", "--dry-run", "--erase", to)[0] == 0
    assert left in pm("doctor", to)[1]
    assert pm("gc", "--erase", to)[0] == 0
    assert left not in pm("doctor", to)[1]


def test_purge_deletes_what_matches(four: Path, pm: Invoke, ask: Ask) -> None:
    assert pm("purge", "http://a.test/", "--dry-run") == (0, "2 captures would be deleted\n", "")
    assert len(ask("ls")) == 4
    assert pm("purge", "http://a.test/") == (0, "2 captures deleted\n", "")
    assert [row["record_id"] for row in ask("ls")] == ["<3>", "<4>"]
    assert pm("purge", "http://a.test/") == (1, "", "pagemason: http://a.test/: no capture matches\n")


@pytest.mark.parametrize("command", ["compact", "gc"])
def test_clean_up_keeps_every_capture(four: Path, pm: Invoke, ask: Ask, command: str) -> None:
    before = ask("ls")
    assert pm(command, "--dry-run")[0] == 0
    assert pm(command)[0] == 0
    assert ask("ls") == before
    assert ask("check")["damaged"] == []


@pytest.mark.parametrize("command", [("ls",), ("stats",), ("check",), ("cat", "http://a.test/"), ("purge", "*")])
def test_no_store_is_a_sentence_and_none_is_made(home: Path, pm: Invoke, command: tuple[str, ...]) -> None:
    code, out, err = pm(*command, "--store", f"sqlite:///{home}/none.db")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "none.db" in err
    assert not (home / "none.db").exists()


def test_the_store_of_another_program_is_left_alone(home: Path, four: Path, pm: Invoke) -> None:
    theirs = home / "theirs.db"
    with sqlite3.connect(theirs) as connection:
        connection.execute("create table captures (id integer primary key)")
    connection.close()
    before = theirs.read_bytes()
    for command in (("ls",), ("import", four), ("init",)):
        code, _, err = pm(*command, "--store", f"sqlite:///{theirs}")
        assert code == 1
        assert err.count("\n") == 1
    assert theirs.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(home: Path, four: Path, pm: Invoke) -> None:
    for command in (("stats",), ("import", four)):
        code, _, err = pm(*command, "--store", f"sqlite:///{four}")
        assert (code, err.count("\n")) == (1, 1)
    assert four.read_bytes() == FOUR
