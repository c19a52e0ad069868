"""Stores outlive the rules by which pages are cut: what was kept in other blocks is read, checked and added to."""

from importlib import import_module
from pkgutil import iter_modules

import pytest

import store.packing
from blocks.partition import Partition, partition
from store.opening import open_store
from tests.store.conftest import page, site_pages

PACKING = [import_module(f"store.packing.{module.name}") for module in iter_modules(store.packing.__path__)]
CUTTING = [module for module in PACKING if getattr(module, "partition", None) is partition]


def cut_otherwise(body: bytes) -> Partition:
    """As another version of the program may cut."""
    return partition(body, ("ul", "h", "b"))


@pytest.mark.parametrize("compacted", [False, True])
def test_a_store_whose_pages_were_cut_otherwise(
    database_url: str, compacted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [*site_pages(25), page("http://a.test/open", b"<ul><li><b>one<p>two</ul><p>three" * 20)]
    with monkeypatch.context() as other:
        assert CUTTING
        for module in CUTTING:
            other.setattr(module, "partition", cut_otherwise)
        opened = open_store(database_url)
        opened.keep(pages)
        if compacted:
            opened.compact()
        opened.close()
    opened = open_store(database_url)
    assert [opened.read(opened.find(each.url)[0]) for each in pages] == pages
    later = site_pages(30)[25:]
    opened.keep(later)
    opened.compact()
    assert [opened.read(opened.find(each.url)[0]) for each in (*pages, *later)] == [*pages, *later]
    assert not opened.check()[1]
    opened.close()
