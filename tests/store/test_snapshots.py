"""What a reader remembers is never older than what the database holds."""

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import text

from blocks.model import body_digest
from store.base import DamagedPage, Freshening, StoreError
from store.opening import open_store
from store.snapshots import MAX_REMEMBERED, Snapshot
from store.sql import SqlStore
from tests.store.conftest import page, site_pages

PAGES = site_pages(30)
URL = PAGES[3].url


@pytest.fixture
def two(database_url: str) -> Iterator[tuple[SqlStore, SqlStore]]:
    """A reader that has read a page, and another process's store."""
    reader, other = open_store(database_url), open_store(database_url)
    assert isinstance(reader, SqlStore)
    assert isinstance(other, SqlStore)
    other.keep(PAGES)
    for _ in range(2):
        assert reader.read(reader.find(URL)[0]) == PAGES[3]
    yield reader, other
    reader.close()
    other.close()


def test_what_another_process_purges_is_not_found_any_more(two: tuple[SqlStore, SqlStore]) -> None:
    reader, other = two
    other.purge(URL)
    assert reader.find(URL) == []
    other.keep([PAGES[3]])
    assert reader.read(reader.find(URL)[0]) == PAGES[3]


def test_what_it_purges_itself_is_not_found_any_more(two: tuple[SqlStore, SqlStore]) -> None:
    reader, _ = two
    reader.purge(URL)
    assert reader.find(URL) == []


def test_a_newer_capture_and_a_freshening_are_seen_at_once(two: tuple[SqlStore, SqlStore]) -> None:
    reader, other = two
    newer = page(URL, b"<p>newer", PAGES[3].time + 5_000_000)
    other.keep([newer])
    assert [record.capture.time for record in reader.find(URL)] == [newer.time, PAGES[3].time]
    fresh = Freshening(((b"age", b"1"),), 7, 8)
    other.freshen(URL, newer.time, body_digest(newer.body), fresh)
    assert reader.find(URL, limit=1)[0].freshening == fresh


def test_what_compaction_moves_is_found_and_read(two: tuple[SqlStore, SqlStore]) -> None:
    reader, other = two
    (before,) = reader.find(URL)
    other.compact()
    (after,) = reader.find(URL)
    assert before.place != after.place
    reader.reader.forget()
    assert reader.read(before) == reader.read(after) == PAGES[3]


def test_a_page_that_is_damaged_after_it_was_read_is_not_given(two: tuple[SqlStore, SqlStore]) -> None:
    reader, other = two
    other.compact()
    found = reader.find(URL)[0]
    assert reader.read(found) == PAGES[3]
    with other.database.write() as connection:
        connection.execute(text("update pack set body = head"))
    reader.reader._raws.clear()  # the heads, and what was checked, stay in memory
    with pytest.raises(DamagedPage, match=URL):
        reader.read(found)


def test_a_body_made_of_other_bytes_than_those_checked_is_checked_again(two: tuple[SqlStore, SqlStore]) -> None:
    reader, _ = two
    found = reader.find(URL)[0]
    site, pack, slot = found.place
    head = reader.reader._heads.get((site, pack))
    assert head is not None
    assert slot in head.proofs
    head.digests[slot] = bytes(16)
    assert reader.read(found) == PAGES[3]  # the same bytes in memory
    reader.reader._raws.clear()
    with pytest.raises(DamagedPage, match="digest differs"):
        reader.read(found)


def test_answers_remembered_are_bounded(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    assert isinstance(store, SqlStore)
    store.keep(PAGES)
    with store.database.snapshot() as source:
        assert isinstance(source, Snapshot)
    for number in range(MAX_REMEMBERED + 50):
        store.find(f"http://a.test/{number}")
    assert len(source._remembered) <= MAX_REMEMBERED
    store.close()


def test_several_threads_read_at_once(two: tuple[SqlStore, SqlStore]) -> None:
    reader, other = two
    wrong: list[str] = []

    def read() -> None:
        for capture in PAGES * 3:
            if [reader.read(record) for record in reader.find(capture.url)] != [capture]:
                wrong.append(capture.url)

    threads = [Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    other.keep(site_pages(10, "b.test"))
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_file_that_is_no_database_any_more_is_a_store_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_store(f"sqlite:///{path}")
    assert isinstance(store, SqlStore)
    store.keep(PAGES)
    store.database.shrink()
    store.close()
    reader = open_store(f"sqlite:///{path}")
    path.write_bytes(b"?" * path.stat().st_size)
    with pytest.raises(StoreError, match=r"store\.db"):
        reader.find(URL)
    reader.close()
