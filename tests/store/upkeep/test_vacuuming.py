"""What a purge leaves in Postgres's files while it cannot write them anew, and that this is said and made good."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from store.opening import open_store
from store.sql import SqlStore
from tests.store.conftest import page, site_pages
from tests.store.test_forgetting import SECRET, marked, on_disk


@pytest.fixture
def store(pg_url: str) -> Iterator[SqlStore]:
    """A store whose a.test has secrets, beside another site."""
    opened = open_store(pg_url)
    assert isinstance(opened, SqlStore)
    secret = page("http://a.test/raw/secret", SECRET * 3, private=True)
    opened.keep([*marked(), secret, *site_pages(9, "b.test")])
    yield opened
    opened.close()


def files(store: SqlStore) -> set[int]:
    with store.database.read() as connection:
        query = "select relfilenode from pg_class where relname in ('pack', 'capture')"
        return set(connection.exec_driver_sql(query).scalars())


def test_a_purge_erases(store: SqlStore) -> None:
    before = files(store)
    store.purge("http://a.test/*")
    assert not store.unerased()
    assert not files(store) & before
    assert store.check() == (9, [])


def test_large_tables_are_written_anew_when_asked(
    store: SqlStore, pg_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody would wait meanwhile."""
    before = files(store)
    assert SECRET in on_disk(store, pg_server)
    monkeypatch.setattr("store.upkeep.vacuuming.FULL_BYTES", 0)
    store.purge("http://a.test/*")
    store.collect()
    assert store.unerased()
    assert files(store) == before
    store.erase()
    assert not store.unerased()
    assert not files(store) & before
    assert SECRET not in on_disk(store, pg_server)
    assert store.check() == (9, [])


@pytest.mark.parametrize("seen", ["pack", "pg_class"])
def test_what_others_still_see_is_erased_later(store: SqlStore, pg_server: Any, seen: str) -> None:
    """An open transaction keeps the table in use, or what was deleted visible though it reads another table."""
    with store.database.read() as connection:
        connection.execute(text("set transaction isolation level repeatable read"))
        connection.exec_driver_sql(f"select count(*) from {seen}")
        store.purge("http://a.test/*")
        assert store.unerased()
    store.purge("http://b.test/page/1")
    assert store.unerased(), "only the second purge is known to have left nothing"
    store.collect()
    assert not store.unerased()
    assert SECRET not in on_disk(store, pg_server)
    assert store.check() == (8, [])
