"""What is purged is gone: from packs, bases and heads, from free pages, from the log, and from Postgres's files."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from blocks.model import Capture
from store.models import COMPACTED, FingerprintRow, Pack
from store.packing.prose import decode_prose, prose_of
from store.sql import SqlStore
from tests.store.conftest import page, site_pages

SECRET = b"the-marker-that-must-go"
KEPT = b"the-marker-that-stays"


@pytest.fixture
def store(sql_store: SqlStore) -> SqlStore:
    return sql_store


def marked(host: str = "a.test", n: int = 60) -> list[Capture]:
    """Return pages of a site; every tenth has a secret, of which some stand on several pages, beside what stays."""
    pages = []
    for i, plain in enumerate(site_pages(n, host, words=400)):
        secret = b"<p>%s %d<p>%s shared<div>%s</div>" % (SECRET, i, SECRET, SECRET * 40) if i % 10 == 3 else b""
        body = plain.body.replace(b"<h1>", b"%s<p>%s %d</p><h1>" % (secret, KEPT, i))
        name = b"%s-%d" % (SECRET if secret else KEPT, i)
        headers = ((b"content-type", b"text/html"), (b"X-Mark", name))
        pages.append(page(plain.url + ("/secret" if secret else ""), body, plain.time, headers=headers))
    return pages


def decoded(store: SqlStore) -> bytes:
    """Return all raw bodies, bases among them, and all raw heads."""
    with store.database.read() as connection:
        packs = connection.execute(select(Pack.site, Pack.id)).all()
        raws = [store.reader.raw(connection, *pack) + store.reader.raw_head(connection, *pack) for pack in packs]
    return b"".join(raws)


def on_disk(store: SqlStore, server: Any = None) -> bytes:
    """Return the bytes of all files of the database; Postgres's log excepted."""
    if store.database.path is not None:
        path = store.database.path
        return b"".join(p.read_bytes() for p in (path, Path(f"{path}-wal"), Path(f"{path}-shm")) if p.exists())
    with store.database.read() as connection:
        oid = connection.execute(text("select oid from pg_database where datname = current_database()")).scalar_one()
        folder = connection.execute(text("show data_directory")).scalar_one()
    server.psql("checkpoint;")
    return b"".join(p.read_bytes() for p in (Path(folder) / "base" / str(oid)).iterdir() if p.is_file())


def contents(store: SqlStore) -> Counter[Capture]:
    return Counter(store.read(record) for record in store.captures())


@pytest.mark.parametrize("compacted", [False, True])
def test_a_purge_leaves_no_byte_that_no_other_page_uses(
    store: SqlStore, compacted: bool, request: pytest.FixtureRequest
) -> None:
    pages = [*marked(), page("http://a.test/raw/secret", SECRET * 3, private=True), *marked("b.test", 20)]
    server = None if store.database.is_sqlite else request.getfixturevalue("pg_server")
    for start in range(0, len(pages), 9):
        store.keep(pages[start : start + 9])
    if compacted:
        store.compact()
    assert SECRET in decoded(store)
    assert SECRET in on_disk(store, server)
    store.purge("*/secret")
    store.reader.forget()
    assert SECRET not in decoded(store)
    assert SECRET not in on_disk(store, server)
    kept = [capture for capture in pages if not capture.url.endswith("/secret")]
    assert contents(store) == Counter(kept)
    assert all(KEPT + b" %d<" % i in decoded(store) for i in (0, 21, 59))
    assert store.check() == (len(kept), [])


def test_a_purged_site_leaves_nothing(store: SqlStore, request: pytest.FixtureRequest) -> None:
    server = None if store.database.is_sqlite else request.getfixturevalue("pg_server")
    other = site_pages(5, "b.test")
    store.keep([*marked(), *other])
    store.compact()
    assert store.purge("http://a.test/*") == 60
    files = on_disk(store, server)
    assert SECRET not in files
    assert KEPT not in files
    assert b"a.test" not in files
    assert contents(store) == Counter(other)


def with_own_text(capture: Capture) -> Capture:
    """Return a capture with 100 words that stand nowhere else."""
    rng = random.Random(capture.url)
    words = b" ".join(rng.randbytes(4).hex().encode() for _ in range(100))
    return replace(capture, body=capture.body + b"<p>" + words)


def stored(store: SqlStore, hosts: tuple[str, ...]) -> list[bytes]:
    """Return what the packs of some sites are stored as: heads, bodies, fingerprints."""
    sites = {record.place[0] for host in hosts for record in store.captures(f"http://{host}/*")}
    with store.database.read() as connection:
        rows = [*connection.execute(select(Pack.head, Pack.body).where(Pack.site.in_(sites)))]
        rows += connection.execute(select(FingerprintRow.data).where(FingerprintRow.site.in_(sites)))
    return [cell for row in rows for cell in row]


def prints(store: SqlStore) -> list[bytes]:
    """Return the fingerprints of all rows, in any order."""
    with store.database.read() as connection:
        rows = connection.execute(select(FingerprintRow.pack, FingerprintRow.data)).all()
    return sorted(one.tobytes() for pack, data in rows for one in decode_prose(pack, data)[1])


@pytest.mark.parametrize("compacted", [False, True])
def test_half_of_the_sites_purged_leave_no_trace(
    store: SqlStore, compacted: bool, request: pytest.FixtureRequest
) -> None:
    """Every pack, dictionary, base and row of fingerprints is decoded and searched, and so are the files: main file
    with its free pages and log, or Postgres's tables. What the purged packs were stored as is in none of them."""
    server = None if store.database.is_sqlite else request.getfixturevalue("pg_server")
    gone, rest = ("a.test", "c.test"), ("b.test", "d.test")
    pages = {host: [with_own_text(c) for c in marked(host, 40)] for host in (*gone, *rest)}
    for i in range(4):
        store.keep([capture for host in pages for capture in pages[host][i * 10 : i * 10 + 10]])
    if compacted:
        store.compact()
    others, before = b"\0".join(stored(store, rest)), on_disk(store, server)
    traces = {cell[at : at + 24] for cell in stored(store, gone) for at in range(0, len(cell) - 24, 100)}
    traces = {trace for trace in traces if trace in before and trace not in others}
    assert len(traces) > 20
    for host in gone:
        assert store.purge(f"http://{host}/*") == 40
    store.reader.forget()
    after, texts = on_disk(store, server), decoded(store)
    assert [trace for trace in traces if trace in after] == []
    for host in gone:
        assert host.encode() not in texts + after
    kept = [capture for host in rest for capture in pages[host]]
    assert contents(store) == Counter(kept)
    assert store.check() == (80, [])
    store.compact()
    assert prints(store) == sorted(one.tobytes() for capture in kept for one in prose_of(capture))


def test_a_purged_page_leaves_no_fingerprint(store: SqlStore) -> None:
    pages = marked()
    store.keep(pages)
    store.compact()
    store.purge("*/secret")
    kept = [capture for capture in pages if not capture.url.endswith("/secret")]
    assert prints(store) == sorted(one.tobytes() for capture in kept for one in prose_of(capture))


def big_site() -> list[Capture]:
    """Return pages with so much text of their own that they fill several packs."""
    pages = []
    for i, plain in enumerate(site_pages(90, words=10)):
        own = b"".join(b"<p>%d words of page %d, %x" % (j, i, hash((i, j)) & 0xFFFFFFFFFF) for j in range(1500))
        pages.append(page(plain.url, plain.body + own, plain.time))
    return pages


def test_purging_one_page_of_a_large_site_writes_one_pack_anew(store: SqlStore) -> None:
    pages = big_site()
    store.keep(pages)
    store.compact()

    def packs() -> set[int]:
        with store.database.read() as connection:
            query = select(Pack.id).where(Pack.kind == COMPACTED)
            return set(connection.execute(query).scalars())

    before = packs()
    assert len(before) > 5
    gone = pages[44]
    assert store.purge(gone.url) == 1
    assert len(before - packs()) == len(packs() - before) == 1
    assert contents(store) == Counter(pages) - Counter([gone])
    assert store.check() == (89, [])
    store.reader.forget()
    assert gone.body[-400:] not in decoded(store)


def test_what_a_base_keeps_of_purged_pages_alone_goes_too(store: SqlStore) -> None:
    pages = [
        page(c.url, c.body + b"<p>%s on several pages of several packs" % SECRET, c.time) if i % 18 == 4 else c
        for i, c in enumerate(big_site())
    ]
    store.keep(pages)
    store.compact()
    for i in range(4, 90, 18):
        store.purge(pages[i].url)
    store.reader.forget()
    assert SECRET not in decoded(store)
    assert contents(store) == Counter(c for i, c in enumerate(pages) if i % 18 != 4)


def test_collection_finishes_a_purge_that_was_interrupted(store: SqlStore) -> None:
    from store.upkeep.removing import forget

    pages = marked()
    store.keep(pages)
    store.compact()
    records = [r for r in store.captures() if r.capture.url.endswith("/secret")]
    with store.database.write() as connection:
        forget(connection, records[0].place[0], records)
    assert SECRET in decoded(store)
    assert store.collect(dry_run=True).rewrite
    assert SECRET in decoded(store)
    store.collect()
    store.reader.forget()
    assert SECRET not in decoded(store)
    assert store.check() == (len(pages) - len(records), [])
    assert not store.collect(dry_run=True).notes


def test_what_a_purge_leaves_for_later_is_noted_until_it_is_done(
    store: SqlStore, request: pytest.FixtureRequest
) -> None:
    pages = [*marked(), *site_pages(5, "b.test")]
    server = None if store.database.is_sqlite else request.getfixturevalue("pg_server")
    store.keep(pages)
    store.compact()
    assert not store.collect(dry_run=True, purged=True).notes
    before = store.purges()
    assert store.purge("*/secret", later=True) == 6
    assert store.purges() > before
    assert not any(record.capture.url.endswith("/secret") for record in store.captures())
    assert SECRET in decoded(store)
    assert store.check() == (len(pages) - 6, [])
    assert store.collect(dry_run=True, purged=True).rewrite
    assert store.collect(purged=True).rewrite
    store.reader.forget()
    assert SECRET not in decoded(store)
    assert SECRET not in on_disk(store, server)
    assert not store.collect(dry_run=True, purged=True).notes
    assert store.check() == (len(pages) - 6, [])


def test_only_the_sites_that_were_purged_are_looked_at(store: SqlStore) -> None:
    from store.upkeep import leftovers
    from store.upkeep.removing import forget

    store.keep([*marked(), *marked("b.test", 20)])
    store.compact()
    records = [record for record in store.captures("http://b.test/*") if record.capture.url.endswith("/secret")]
    with store.database.write() as connection:
        forget(connection, records[0].place[0], records)
    store.purge("http://a.test/*/secret", later=True)
    (note,) = store.collect(dry_run=True, purged=True).notes
    assert note.startswith("a.test")
    with store.database.write() as connection:
        (site,) = leftovers.noted(connection)
        leftovers.settle(connection, site, "0")
        assert set(leftovers.noted(connection)) == {site}, "a later purge stays noted"
    store.collect()
    with store.database.read() as connection:
        assert not leftovers.noted(connection)
