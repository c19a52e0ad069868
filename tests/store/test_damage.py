"""A byte that differs from what was written is found, and repairing keeps all that it does not touch."""

import random
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from blocks.model import Capture, body_digest
from store.base import DamagedPage, Freshening, StoreError
from store.opening import open_store
from store.packing.prose import prose_of
from store.sql import SqlStore
from tests.store.conftest import page, site_pages

PAGES = [*site_pages(25), page("http://b.test/x", key="http://b.test/"), page("http://b.test/y", private=True)]


LATER = site_pages(30)[25:]


def filled(path: Path) -> None:
    store = open_store(f"sqlite:///{path}")
    assert isinstance(store, SqlStore)
    for start in range(0, len(PAGES), 6):
        store.keep(PAGES[start : start + 6])
    store.compact()
    store.keep(LATER)
    fresh = Freshening(((b"a", b"b"),), 5, 6)
    store.freshen(PAGES[3].url, PAGES[3].time, body_digest(PAGES[3].body), fresh)
    store.note_uses([PAGES[1].url], 1_700_000_000)
    store.database.shrink()
    store.close()


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store that is sound."""
    path = tmp_path_factory.mktemp("damage") / "good.db"
    filled(path)
    return path


def observed(path: Path) -> Any:
    """Return all that can be read of a store, but for the numbers that captures are known by."""
    store = open_store(f"sqlite:///{path}")
    try:
        kept = [(record.freshening, store.read(record)) for record in store.captures()]
        found = [len(store.find(url)) for url in ("http://b.test/", *(p.url for p in PAGES))]
        stats = store.stats()
        return kept, found, stats.captures, stats.pages, stats.blocks, stats.bytes.original, stats.bytes.block
    finally:
        store.close()


def sound(path: Path) -> bool:
    try:
        store = open_store(f"sqlite:///{path}", create=False)
        try:
            return not store.check()[1]
        finally:
            store.close()
    except StoreError:
        return False


def test_a_flipped_bit_that_changes_what_is_read_is_found(tmp_path: Path) -> None:
    filled(tmp_path / "good.db")
    data = (tmp_path / "good.db").read_bytes()
    good = observed(tmp_path / "good.db")
    rng = random.Random(11)
    for number in range(60):
        flipped = bytearray(data)
        place = rng.randrange(len(data))
        flipped[place] ^= 1 << rng.randrange(8)
        path = tmp_path / f"{number}.db"
        path.write_bytes(flipped)
        if sound(path):
            assert observed(path) == good, f"byte {place}"


@pytest.mark.parametrize(
    "statement",
    [
        "update meta set value = '1' where name = 'next'",
        "update meta set value = 'x' where name = 'purges'",
        "delete from meta where name = 'format'",
        "update site set captures = captures + 1",
        "update site set blocks = blocks + 1",
        "update site set block = block - 1",
        "update site set name = 'c.test' where name = 'b.test'",
        "update capture set flags = flags | 1 where flags = 0",
        "update capture set flags = 4 where flags = 0",
        "update capture set slot = 99 where slot = 1",
        "update capture set id = id + 1000 where flags & 2 = 2",
        "update capture set time = time + 1 where flags & 2 = 2",
        "delete from need",
        "update pack set kind = 2 where kind = 0",
        "update freshening set id = id + 1",
        "update freshening set data = x'00'",
        "update fingerprint set data = x'00'",
        "update fingerprint set data = (select data from fingerprint order by pack desc limit 1)",
    ],
)
def test_a_row_that_says_something_else_is_found(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "x.db"
    filled(path)
    assert sound(path)
    store = open_store(f"sqlite:///{path}")
    assert isinstance(store, SqlStore)
    with store.database.write() as connection:
        connection.execute(text(statement))
    store.close()
    assert not sound(path)


def readable(store: SqlStore) -> Counter[Capture]:
    """Return the captures that can be found and read."""
    found: Counter[Capture] = Counter()
    for capture in PAGES + LATER:
        with suppress(DamagedPage):
            found.update(
                store.read(record) for record in store.find(capture.url) if record.capture.time == capture.time
            )
    return found


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 99), st.sampled_from(["head", "body"]), st.integers(0, 1 << 20), st.integers(1, 255))
def test_repair_after_a_flipped_byte_loses_what_cannot_be_read_and_nothing_else(
    good: Path, number: int, column: str, at: int, flip: int
) -> None:
    path = good.parent / "flipped.db"
    path.write_bytes(good.read_bytes())
    store = open_store(f"sqlite:///{path}")
    assert isinstance(store, SqlStore)
    with store.database.write() as connection:
        packs = connection.execute(text(f"select id, {column} from pack order by id")).all()
        pack = packs[number % len(packs)]
        data = bytearray(pack[1])
        data[at % len(data)] ^= flip
        connection.execute(
            text(f"update pack set {column} = :data where id = :id"), {"data": bytes(data), "id": pack.id}
        )
    left = readable(store)
    _, findings = store.check()
    assert findings or left == Counter(PAGES + LATER)
    store.reader.forget()
    store.check(repair=True)
    store.reader.forget()
    assert readable(store) == left
    assert store.check() == (left.total(), [])
    store.keep([capture for capture in PAGES + LATER if not left[capture]])
    assert readable(store) == Counter(PAGES + LATER)
    store.close()


def test_repair_drops_fingerprints_that_nobody_can_use_and_no_capture(tmp_path: Path) -> None:
    filled(tmp_path / "x.db")
    store = open_store(f"sqlite:///{tmp_path / 'x.db'}")
    assert isinstance(store, SqlStore)
    with store.database.write() as connection:
        connection.execute(text("update fingerprint set data = x'00'"))
    wanted = prose_of(PAGES[3])
    before = {record.capture.url for record in store.alike(wanted).records}
    assert PAGES[3].url not in before  # only what arrived later is found
    assert store.check(repair=True)[1]
    assert store.check() == (len(PAGES) + 5, [])
    assert PAGES[3].url in {record.capture.url for record in store.alike(wanted).records}
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "update meta set value = '1' where name = 'next'",
        "update meta set value = 'x' where name like 'used %'",
        "update freshening set id = id + 1",
        "update site set captures = captures + 1",
        "update fingerprint set pack = pack + 100000",
    ],
)
def test_repair_puts_right_what_is_no_capture_and_loses_none(good: Path, statement: str) -> None:
    path = good.parent / "wrong.db"
    path.write_bytes(good.read_bytes())
    store = open_store(f"sqlite:///{path}")
    assert isinstance(store, SqlStore)
    before = readable(store)
    with store.database.write() as connection:
        connection.execute(text(statement))
    assert store.check(repair=True)[1]
    store.reader.forget()
    if "freshening" in statement:  # the capture that has lost what is known of its freshness cannot be trusted
        before -= Counter([PAGES[3]])
    assert readable(store) == before
    assert store.check() == (before.total(), [])
    store.close()


def test_repair_drops_what_is_lost_and_keeps_the_rest(database_url: str) -> None:
    store = open_store(database_url)
    assert isinstance(store, SqlStore)
    a, b = site_pages(12), site_pages(12, "b.test")
    store.keep(a)
    store.keep(b)
    with store.database.write() as connection:
        connection.execute(text("update pack set body = head where site = (select id from site where name = 'b.test')"))
    store.reader.forget()
    n, findings = store.check()
    assert n == 24
    assert {url for finding in findings for url in finding.urls} == {capture.url for capture in b}
    store.check(repair=True)
    store.reader.forget()
    kept: Counter[Capture] = Counter(store.read(record) for record in store.captures())
    assert kept == Counter(a)
    assert store.find(b[0].url) == []
    store.keep(b)
    assert store.read(store.find(b[3].url)[0]) == b[3]
    store.close()
