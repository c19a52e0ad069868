"""Several processes compact a store, each a site at a time."""

import threading
import time
from contextlib import suppress

import psutil
import pytest

from blocks.model import Capture
from store.base import StoreError
from store.sql import SqlStore
from tests.store.conftest import site_pages

SITES = ("a.test", "b.test", "c.test")


@pytest.fixture
def store(sql_store: SqlStore) -> SqlStore:
    return sql_store


def keep(store: SqlStore, n: int) -> list[Capture]:
    kept = [each for at, host in enumerate(SITES) for each in site_pages(n * (at + 1), host)]
    for host in SITES:
        of_site = [each for each in kept if f"//{host}/" in each.url]
        for start in range(0, len(of_site), 10):
            store.keep(of_site[start : start + 10])
    return kept


def read(store: SqlStore) -> set[Capture]:
    return {store.read(record) for record in store.captures()}


def test_all_sites_are_compacted_and_every_page_is_there(store: SqlStore) -> None:
    kept = keep(store, 10)
    asked = store.compact(dry_run=True, jobs=2)
    done = store.compact(jobs=2)
    assert (done.rewrite, done.notes) == (asked.rewrite, asked.notes)
    assert [note.split(":")[0] for note in sorted(done.notes)] == [*SITES]
    assert store.compact(jobs=2).rewrite == 0
    assert read(store) == set(kept)
    assert store.check() == (len(kept), [])


def killed_soon(found: list[psutil.Process]) -> None:
    """Kill the first worker process that comes."""
    end = time.monotonic() + 30
    while not found and time.monotonic() < end:
        with suppress(psutil.Error):  # it may have ended by now
            children = psutil.Process().children()
            found += [child for child in children if any("spawn_main" in part for part in child.cmdline())][:1]
        time.sleep(0.01)
    time.sleep(0.3)
    for child in found:
        child.kill()


def test_when_a_process_is_killed_nothing_is_lost(store: SqlStore) -> None:
    kept = keep(store, 40)
    found: list[psutil.Process] = []
    killer = threading.Thread(target=killed_soon, args=(found,))
    killer.start()
    with pytest.raises(StoreError, match=r"process that compacted was killed; what was done is kept"):
        store.compact(jobs=2)
    killer.join()
    assert found
    assert read(store) == set(kept)
    store.compact()
    assert read(store) == set(kept)
    assert store.check() == (len(kept), [])
