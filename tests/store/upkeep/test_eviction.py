"""A store within its budget: what was not used for longest goes, nothing else is touched, the file shrinks."""

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from blocks.model import Capture
from store import uses
from store.base import Budget, Store
from store.opening import open_store
from store.sql import SqlStore
from store.upkeep.eviction import _Packs, choose
from tests.store.conftest import page, site_pages

DAY = 86_400
NOW = 1_700_000_000 + 10 * DAY


def noise(n: int, host: str = "a.test", *, days: float = 0.0, n_bytes: int = 12_000) -> list[Capture]:
    """Return pages that nothing makes smaller, received at equal distances over some days before NOW."""
    start, step = NOW - int(days * DAY), int(days * DAY) // n
    return [page(f"http://{host}/{i}", b"<p>" + os.urandom(n_bytes), (start + i * step) * 1_000_000) for i in range(n)]


def kept(store: Store) -> Counter[Capture]:
    return Counter(store.read(record) for record in store.captures())


def settled(store: Store) -> int:
    """Return a store's size once its log is empty."""
    store.evict(Budget(max_store_bytes=1 << 40), NOW)
    return store.size()


def fill(store: Store, pages: list[Capture]) -> None:
    for start in range(0, len(pages), 5):
        store.keep(pages[start : start + 5])


@pytest.mark.parametrize("compacted", [False, True])
def test_the_oldest_go_until_the_store_is_within_its_budget(store: Store, compacted: bool) -> None:
    pages = noise(240, days=60)
    fill(store, pages)
    if compacted:
        store.compact()
    before = settled(store)
    budget = Budget(max_store_bytes=before // 2)
    plan = store.evict(budget, NOW, dry_run=True)
    assert plan.drop
    assert store.size() <= before + (256 << 10)  # a PostgreSQL that vacuums by itself adds a map of what it saw
    assert len(kept(store)) == 240
    store.evict(budget, NOW)
    assert store.size() <= budget.max_store_bytes * budget.high_water
    left = kept(store)
    assert 30 <= len(left) <= 130
    assert left <= Counter(pages)
    if not compacted:  # packs of neighbours by URL have some of every age
        assert sum(c.time for c in left) / len(left) > sum(c.time for c in pages) / len(pages)
    assert store.check() == (len(left), [])


def test_what_was_used_stays(store: Store) -> None:
    pages = noise(100, days=60)
    fill(store, pages)
    used = [page.url for page in pages[:10]]
    store.note_uses(used, NOW - 60)
    store.evict(Budget(max_store_bytes=settled(store) // 2), NOW)
    left = {capture.url for capture in kept(store)}
    assert left >= set(used)
    assert len(left) < 70


def test_within_the_budget_nothing_happens(store: Store) -> None:
    fill(store, noise(10))
    assert store.evict(Budget(max_store_bytes=2 * store.size()), NOW).drop == 0
    assert store.evict(Budget(), NOW).drop == 0
    assert len(kept(store)) == 10


def test_what_is_too_old_goes(store: Store) -> None:
    pages = noise(40, days=40)
    fill(store, pages)
    store.evict(Budget(max_age_seconds=10 * DAY), NOW)
    assert kept(store) == Counter(c for c in pages if c.time >= (NOW - 10 * DAY) * 1_000_000)
    assert store.check()[1] == []


def test_a_site_has_a_limit_of_its_own(database_url: str) -> None:
    store = open_store(database_url)
    fill(store, noise(60, "big.test", days=50))
    small = noise(5, "small.test", days=50)
    fill(store, small)
    store.evict(Budget(max_site_bytes=300_000), NOW)
    sites = {row.site: row for row in store.stats().by_site}
    assert sites["big.test"].bytes.ondisk <= 300_000
    assert sites["big.test"].captures >= 10
    assert sites["small.test"].captures == 5
    assert store.check()[1] == []
    store.close()


def test_pages_that_share_are_evicted_and_the_rest_is_whole(database_url: str) -> None:
    store = open_store(database_url)
    hosts = ("a.test", "b.test", "c.test")
    plain = [c for host in hosts for c in site_pages(60, host)]
    pages = [page(c.url, c.body + b"<p>" + os.urandom(6000).hex().encode(), c.time) for c in plain]
    fill(store, pages)
    before = settled(store)
    store.evict(Budget(max_store_bytes=before // 2), NOW)
    assert store.size() <= before // 2
    left = kept(store)
    assert left <= Counter(pages)
    assert len(left) >= 30
    assert store.check() == (len(left), [])
    store.compact()
    assert kept(store) == left
    store.close()


def test_choosing_touches_nothing_that_is_hot() -> None:
    """A base goes last; among equally cold packs the largest goes first."""
    packs = _Packs()
    for number, (size, used) in {1: (50, 1), 2: (10, 1), 3: (30, 1), 4: (99, 1000)}.items():
        packs.sizes[1, number], packs.used[1, number] = size, used
    for number in (2, 3):
        packs.needs[1, number] = {(1, 1)}
        packs.pins[1, 1] += 1
    assert choose(packs, 25, 1000) == [(1, 3)]
    assert choose(packs, 80, 1000) == [(1, 3), (1, 2), (1, 1)]


def test_a_list_of_uses_is_bounded_and_checked(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    assert isinstance(store, SqlStore)
    with store.database.write() as connection:
        uses.note(connection, 5, range(3 * uses.MAX_USES), 7)
        uses.note(connection, 5, [1], 9)
        found = uses.load(connection, 5)
    assert len(found) == uses.MAX_USES
    assert found[1] == 9
    text = uses.encode({1: 2})
    assert uses.decode(text) == {1: 2}
    assert [uses.decode(t) for t in ("", "x", text[:-4], text.replace(text[0], "Z", 1))] == [None] * 4
    store.close()


def test_an_eviction_of_a_whole_site_leaves_no_list_of_uses(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    assert isinstance(store, SqlStore)
    fill(store, noise(10, days=5))
    store.note_uses(["http://a.test/1"], int(time.time()))
    store.evict(Budget(max_age_seconds=1), NOW + 100 * DAY)
    assert store.stats().captures == 0
    with store.database.read() as connection:
        assert connection.exec_driver_sql("select count(*) from meta where name like 'used%'").scalar() == 0
    store.close()
