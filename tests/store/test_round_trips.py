"""How often a database is asked for a page: its network may be slow."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError

from store.copying import LEAST_ROWS, add_rows
from store.models import CaptureRow
from store.opening import open_store
from store.sql import SqlStore
from tests.store.conftest import site_pages

CAPTURE = CaptureRow.metadata.tables["capture"]


@contextmanager
def statements(store: SqlStore) -> Iterator[list[str]]:
    """Note the statements that a store sends."""
    sent: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        sent.append(statement)

    event.listen(store.database._writer, "before_cursor_execute", note)
    yield sent
    event.remove(store.database._writer, "before_cursor_execute", note)


@pytest.fixture
def store(pg_url: str) -> Iterator[SqlStore]:
    """A store on Postgres, with some pages of a site."""
    opened = open_store(pg_url)
    assert isinstance(opened, SqlStore)
    opened.keep(site_pages(20))
    yield opened
    opened.close()


@pytest.mark.parametrize("n", [1, 20])
def test_captures_of_a_site_are_kept_in_six_statements(store: SqlStore, n: int) -> None:
    pages = site_pages(60)[20:]
    store.keep(pages[20:])
    with statements(store) as sent:
        store.keep(pages[:n])
    assert len(sent) <= 6, sent


def test_after_another_process_has_written_it_takes_a_few_more(store: SqlStore, pg_url: str) -> None:
    pages = site_pages(40)[20:]
    store.keep(pages[:1])
    other = open_store(pg_url)
    other.keep(pages[1:2])
    other.close()
    with statements(store) as sent:
        store.keep(pages[2:3])
    assert len(sent) <= 12, sent


def test_a_page_is_found_in_three_statements_and_read_in_two(store: SqlStore) -> None:
    with statements(store) as sent:
        (record,) = store.find("http://a.test/page/3")
        store.read(record)
    assert len(sent) <= 5, sent


def test_rows_that_are_copied_are_there_once(store: SqlStore) -> None:
    names = [column.name for column in CAPTURE.columns]
    rows = [dict.fromkeys(names, 7) | {"id": number} for number in range(2 * LEAST_ROWS)]
    with store.database.write() as connection:
        add_rows(connection, CAPTURE, rows)
    with pytest.raises(IntegrityError), store.database.write() as connection:
        add_rows(connection, CAPTURE, rows)
    with store.database.read() as connection:
        kept = connection.exec_driver_sql("select count(*), min(url), max(flags) from capture where site = 7").one()
    assert tuple(kept) == (2 * LEAST_ROWS, 7, 7)
