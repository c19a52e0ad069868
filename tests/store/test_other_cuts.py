"""Stores outlive the rules by which pages are cut: what was kept in other blocks is read, checked and added to."""

import pytest

from blocks.partition import Partition, partition
from store.opening import open_store
from tests.store.conftest import page, site_pages


def cut_otherwise(body: bytes) -> Partition:
    """As another version of the program may cut."""
    return partition(body, ("ul", "h", "b"))


@pytest.mark.parametrize("compacted", [False, True])
def test_a_store_whose_pages_were_cut_otherwise(
    database_url: str, compacted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [*site_pages(25), page("http://a.test/open", b"<ul><li><b>one<p>two</ul><p>three" * 20)]
    with monkeypatch.context() as other:
        for module in ("kinds", "building", "layout"):
            other.setattr(f"store.packing.{module}.partition", cut_otherwise)
        store = open_store(database_url)
        store.keep(pages)
        if compacted:
            store.compact()
        store.close()
    store = open_store(database_url)
    assert [store.read(store.find(each.url)[0]).body for each in pages] == [each.body for each in pages]
    later = site_pages(30)[25:]
    store.keep(later)
    store.compact()
    assert [store.read(store.find(each.url)[0]).body for each in (*pages, *later)] == [e.body for e in (*pages, *later)]
    assert not store.check()[1]
    store.close()
