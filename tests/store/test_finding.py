"""Looking a page up costs no more than it must."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store import reading
from store.opening import open_store
from store.packing.packs import Head, decode_head
from store.sql import SqlStore
from tests.store.conftest import page

URL = "http://a.test/often"
MILLISECOND = 1_000
FIRST = 1_700_000_000_000_000
CAPTURES = [page(URL, b"<p>captured %d" % i, FIRST + i * 500) for i in range(8)]
"""Two in each millisecond: a row of `capture` does not tell which of them is newer."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    """A store with each capture in a pack of its own."""
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    assert isinstance(opened, SqlStore)
    for capture in CAPTURES:
        opened.keep([capture])
    yield opened
    opened.close()


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one for each head that is decoded."""
    decoded: list[int] = []

    def counted(raw: bytes) -> Head:
        decoded.append(len(raw))
        return decode_head(raw)

    monkeypatch.setattr(reading, "decode_head", counted)
    return decoded


def test_the_newest_capture_costs_the_heads_of_its_own_millisecond(store: SqlStore, heads: list[int]) -> None:
    store.forget()
    (record,) = store.find(URL, limit=1)
    assert store.read(record) == CAPTURES[-1]
    assert len(heads) == 2


@pytest.mark.parametrize("limit", [1, 2, 3, 8, 20])
def test_the_newest_captures_come_in_their_order(store: SqlStore, limit: int) -> None:
    found = [record.capture.time for record in store.find(URL, limit=limit)]
    assert found == [capture.time for capture in reversed(CAPTURES)][:limit]


def test_what_came_later_in_the_same_millisecond_is_left_out(store: SqlStore) -> None:
    before = FIRST + 2 * MILLISECOND
    found = [record.capture.time for record in store.find(URL, before=before, limit=2)]
    assert found == [before, before - 500]
