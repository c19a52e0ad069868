"""Of a large site only the newest packs are held in memory; what they refer to beyond is kept anew, never lost."""

import pytest

from store import writing
from store.opening import open_store
from tests.store.conftest import page, site_pages


def test_a_body_whose_bytes_are_in_a_pack_that_is_not_held(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = site_pages(30, words=900)
    last = pages[-1]
    later = [page(last.url, last.body, last.time + day * 86_400_000_000) for day in (1, 2)]
    store = open_store(database_url)
    store.keep(pages[:15])  # the base
    store.keep(pages[15:])
    store.keep([later[0]])
    store.close()
    monkeypatch.setattr(writing, "SITE_BYTES", 1000)
    store = open_store(database_url)
    store.keep([later[1]])
    assert [store.read(record).body for record in store.find(last.url)] == [last.body] * 3
    assert store.check() == (len(pages) + 2, [])
    store.close()
