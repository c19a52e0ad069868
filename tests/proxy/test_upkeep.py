"""The writer's own chores: a process that evicts when the store is over its budget, and compacts when it is quiet."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from proxy.upkeep import Chores, Upkeep
from store.base import Budget, Store, StoreUnavailable
from store.models import ARRIVAL, Pack
from store.opening import open_store
from store.sql import SqlStore
from tests.store.conftest import page, site_pages


def wait_for(done: Callable[[], bool], timeout_seconds: float = 60) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def fill(store: Store, n: int) -> None:
    for i in range(n):
        body = b"<p>" + os.urandom(20_000)
        store.keep([page(f"http://a.test/{i}", body, (1_700_000_000 + 9000 * i) * 1_000_000)])


def test_a_store_over_its_budget_takes_nothing_until_there_is_room(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    store = open_store(url)
    upkeep = Upkeep(url, {}, Chores(Budget(max_store_bytes=1_000_000)))
    upkeep.admit(store)
    assert not upkeep.running
    fill(store, 80)
    with pytest.raises(StoreUnavailable, match="room is being made"):
        upkeep.admit(store)
    assert upkeep.running
    wait_for(lambda: not upkeep.running)
    upkeep.admit(store)
    assert store.size() <= 1_000_000
    assert store.stats().captures > 10
    assert store.check()[1] == []
    upkeep.close()
    store.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_quiet_store_is_compacted(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    database_url = f"sqlite:///{tmp_path}/x.db" if kind == "sqlite" else str(request.getfixturevalue("pg_url"))
    store = open_store(database_url)
    assert isinstance(store, SqlStore)
    pages = site_pages(40)
    for start in range(0, 40, 5):
        store.keep(pages[start : start + 5])
    upkeep = Upkeep(database_url, {}, Chores(compact_idle_seconds=0.2))
    upkeep.admit(store)
    upkeep.idle()
    assert not upkeep.running, "it is not quiet yet"
    time.sleep(0.3)
    upkeep.idle()
    assert upkeep.running
    wait_for(lambda: not upkeep.running)
    assert ARRIVAL not in kinds(store)
    assert store.check() == (40, [])
    upkeep.close()
    store.close()


def test_compaction_makes_way_for_what_is_more_urgent_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.upkeep.PAUSE_SECONDS", 0.0)
    url = f"sqlite:///{tmp_path}/x.db"
    store = open_store(url)
    assert isinstance(store, SqlStore)
    for host in range(4):
        for start in range(0, 200, 40):
            store.keep(site_pages(200, f"{host}.test")[start : start + 40])
    upkeep = Upkeep(url, {}, Chores(compact_idle_seconds=0.01))
    upkeep.admit(store)
    time.sleep(0.02)
    upkeep.idle()
    time.sleep(0.5)
    assert upkeep.running, "it takes longer than this"
    assert store.purge("http://1.test/page/7", later=True) == 1
    upkeep.purged()
    time.sleep(0.1)
    assert ARRIVAL in kinds(store)
    assert store.collect(dry_run=True, purged=True).notes, "it waits"
    monkeypatch.setattr("proxy.upkeep.PATIENCE_SECONDS", 0.1)
    upkeep.idle()
    wait_for(lambda: not upkeep.running)
    assert not store.collect(dry_run=True, purged=True).notes
    assert ARRIVAL in kinds(store), "it was broken off"
    upkeep.idle()
    wait_for(lambda: not upkeep.running)
    assert ARRIVAL not in kinds(store)
    assert store.check() == (799, [])
    upkeep.close()
    store.close()


def kinds(store: SqlStore) -> set[int]:
    with store.database.read() as connection:
        return set(connection.execute(select(Pack.kind)).scalars())


def test_what_is_killed_at_work_leaves_a_sound_store(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    store = open_store(url)
    fill(store, 60)
    kept = {record.capture.url for record in store.captures()}
    for pause in (0.5, 0.8, 1.1):
        upkeep = Upkeep(url, {}, Chores(Budget(max_store_bytes=600_000)))
        upkeep._start("evict")
        time.sleep(pause)
        upkeep.close()
        assert store.check()[1] == []
    assert {record.capture.url for record in store.captures()} <= kept
    store.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_a_purge_left_is_taken_up_by_the_next_process(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    database_url = f"sqlite:///{tmp_path}/x.db" if kind == "sqlite" else str(request.getfixturevalue("pg_url"))
    store = open_store(database_url)
    store.keep(site_pages(40))
    store.compact()
    upkeep = Upkeep(database_url, {}, Chores())
    upkeep.opened(store)
    upkeep.idle()
    assert not upkeep.running, "nothing was purged"
    assert store.purge("*1", later=True)
    upkeep.opened(store)
    upkeep.idle()
    assert upkeep.running
    wait_for(lambda: not upkeep.running)
    assert not store.collect(dry_run=True, purged=True).notes
    assert store.check()[1] == []
    upkeep.close()
    store.close()
