"""Stores whose bodies have BLAKE2b digests, as format 1 wrote them, are read, checked and carried on."""

from collections.abc import Sequence
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from blocks.model import body_digest, has_digest
from store.base import DamagedPage, Record
from store.opening import open_store
from store.packing import building
from store.sql import SqlStore
from tests.store.conftest import page, site_pages

PAGES = [*site_pages(12), page("http://a.test/private", private=True, body=b"<p>for one"), page("http://b.test/")]


def of_format_1(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).digest()


def opened(url: str) -> SqlStore:
    store = open_store(url)
    assert isinstance(store, SqlStore)
    return store


def compacted(store: SqlStore) -> dict[bytes, bytes]:
    """Return by each body that compaction takes the digest beside it."""
    return {store.read(record).body: record.digest for record in store.captures() if not record.capture.private}


@pytest.fixture
def old_url(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a store of format 1."""
    with monkeypatch.context() as patched:
        patched.setattr(building, "body_digest", of_format_1)
        store = opened(database_url)
        store.keep(PAGES)
        assert all(record.digest == of_format_1(store.read(record).body) for record in store.captures())
        store.close()
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '0002'"))
        connection.execute(text("update meta set value = '1' where name = 'format'"))
    engine.dispose()
    return database_url


def bodies(records: Sequence[Record], store: SqlStore) -> list[bytes]:
    return [store.read(record).body for record in records]


def test_a_store_of_format_1_is_read_checked_and_added_to(old_url: str) -> None:
    store = opened(old_url)
    assert store.check() == (len(PAGES), [])
    assert store.known(PAGES) == [True] * len(PAGES)
    again = page(PAGES[0].url, PAGES[0].body, PAGES[0].time + 5_000_000)
    store.keep([again])
    assert bodies(store.find(again.url), store) == [again.body] * 2
    store.compact()
    assert store.check() == (len(PAGES) + 1, [])
    assert compacted(store) == {capture.body: body_digest(capture.body) for capture in PAGES if not capture.private}
    store.close()


def test_a_digest_of_neither_kind_is_damage(old_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(old_url)
    with monkeypatch.context() as patched:
        patched.setattr(building, "body_digest", lambda body: of_format_1(body + b"another"))
        store.keep([page("http://c.test/")])
    with pytest.raises(DamagedPage, match=r"http://c\.test/.*digest differs"):
        bodies(store.find("http://c.test/"), store)
    store.close()


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_a_body_has_the_digests_of_its_own_bytes_alone(body: bytes, other: bytes) -> None:
    for digest in (body_digest, of_format_1):
        assert len(digest(body)) == 16
        assert has_digest(body, digest(body))
        assert has_digest(body, digest(other)) == (body == other)


def test_the_digest_is_the_first_half_of_blake3() -> None:
    assert body_digest(b"").hex() == "af1349b9f5f9a1a6a0404dea36dcc949"
