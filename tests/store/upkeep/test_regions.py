"""Of a large site compaction writes anew only the regions that have new captures."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from blocks.model import Capture
from store.models import Pack
from store.opening import open_store
from store.sql import SqlStore
from store.upkeep import rewriting
from store.upkeep.regions import SMALL_SHARE, Placed, regions
from tests.store.conftest import page, site_pages

MOST = 100

placed = st.builds(
    Placed,
    st.sampled_from(["a", "b", "c", "d"]),
    st.integers(0, 9),
    st.integers(1, 9),
    st.integers(0, 99),
    st.integers(0, 60),
)
captures = st.lists(placed, max_size=60, unique_by=lambda each: (each.pack, each.slot))
bases = st.dictionaries(st.integers(1, 9), st.integers(1, 9))


@given(captures, bases, st.sets(st.integers(1, 9)))
def test_new_captures_are_written_once_and_others_at_most_once(
    found: list[Placed], base_of: dict[int, int], new: set[int]
) -> None:
    new -= base_of.keys()
    written = [each for region in regions(found, base_of, new, most=MOST) for each in region]
    assert len(written) == len(set(written))
    assert {each for each in found if each.pack in new} <= set(written) <= set(found)


@given(captures, bases, st.sets(st.integers(1, 9)))
def test_a_region_is_in_order_and_no_larger_than_asked(
    found: list[Placed], base_of: dict[int, int], new: set[int]
) -> None:
    for region in regions(found, base_of, new - base_of.keys(), most=MOST):
        assert region == sorted(region)
        assert sum(each.size for each in region[:-1]) < MOST


def test_without_new_captures_nothing_is_written() -> None:
    assert [*regions([Placed("a", 1, 1, 0, 50), Placed("b", 1, 2, 0, 50)], {1: 1, 2: 1}, (), most=MOST)] == []


def test_all_goes_together_that_has_no_region() -> None:
    empty = [Placed("a", at, 1, at, 0) for at in range(5)]
    assert [*regions(reversed(empty), {}, {1}, most=MOST)] == [empty]


def test_parts_of_what_is_too_large_have_about_the_same_size() -> None:
    many = [Placed("a", at, 1, at, 10) for at in range(21)]
    assert [len(region) for region in regions(many, {}, {1}, most=MOST)] == [7, 7, 7]


def test_a_small_region_is_written_with_others() -> None:
    small = int(SMALL_SHARE * MOST) - 1
    first, tiny, last = (
        Placed(url, 1, at, 0, size) for at, (url, size) in enumerate(zip("abc", (40, small, 40), strict=True), 1)
    )
    new = Placed("d", 1, 9, 0, 5)
    assert [*regions([first, tiny, last, new], {1: 1, 2: 2, 3: 3}, {9}, most=MOST)] == [[tiny, last, new]]


LETTERS = "abcdefgh"


def large_site() -> list[Capture]:
    """Return pages of which a region has room for two letters' worth."""
    pages = site_pages(8 * len(LETTERS), words=400)
    return [page(f"http://a.test/{LETTERS[i // 8]}/{i}", each.body, each.time) for i, each in enumerate(pages)]


@pytest.fixture
def store(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqlStore]:
    most = sum(len(each.body) for each in large_site()) // 4 + 20_000  # room for what is added
    monkeypatch.setattr(rewriting, "REGION_BYTES", most)
    opened = open_store(database_url)
    assert isinstance(opened, SqlStore)
    yield opened
    opened.close()


def bases_of(store: SqlStore) -> set[int]:
    with store.database.read() as connection:
        return {row.base or row.id for row in connection.execute(select(Pack.id, Pack.base))}


def bodies(store: SqlStore) -> dict[tuple[str, int], bytes]:
    return {(r.capture.url, r.capture.time): store.read(r).body for r in store.captures()}


def test_regions_without_new_captures_stay_as_they_are(store: SqlStore) -> None:
    kept = large_site()
    store.keep(kept)
    store.compact()
    before = bases_of(store)
    assert len(before) == 4
    again = page(kept[0].url, kept[0].body + b"<p>once more", kept[0].time + 10**9)
    store.keep([again])
    assert store.compact().rewrite == 1
    after = bases_of(store)
    assert len(after) == 4
    assert len(before & after) == 3
    assert bodies(store) == {(c.url, c.time): c.body for c in [*kept, again]}
    assert store.check() == (len(kept) + 1, [])


def test_purging_pages_of_one_region_leaves_none_of_their_bytes(store: SqlStore) -> None:
    kept = large_site()
    store.keep(kept)
    store.compact()
    assert store.purge("http://a.test/c/*") == 8
    store.keep([page("http://a.test/c/new", b"<p>instead")])
    store.compact()
    left = [c for c in kept if "/c/" not in c.url]
    assert bodies(store) == {(c.url, c.time): c.body for c in left} | {
        (r.capture.url, r.capture.time): b"<p>instead" for r in store.find("http://a.test/c/new")
    }
    assert store.check() == (len(left) + 1, [])


def test_what_is_gone_from_a_region_is_still_told_from_it(store: SqlStore) -> None:
    kept = large_site()
    store.keep(kept)
    store.compact()
    assert store.purge("http://a.test/d/*", later=True) == 8
    store.keep([page("http://a.test/a/new", b"<p>new")])
    store.compact()
    assert store.collect(dry_run=True, purged=True).notes
    store.collect(purged=True)
    assert not store.collect(dry_run=True, purged=True).notes
    with store.database.read() as connection:
        for pack in connection.execute(select(Pack.site, Pack.id)).all():
            raw = store.reader.raw(connection, pack.site, pack.id)
            assert not any(b"<h1>Page %d</h1>" % i in raw for i in range(24, 32))
    assert store.check() == (len(kept) - 7, [])


def test_a_site_whose_pages_are_gone_has_a_row_as_long_as_it_has_packs(store: SqlStore) -> None:
    store.keep(large_site())
    store.compact()
    store.purge("*", later=True)
    store.keep([page("http://a.test/a/new", b"<p>new")])
    store.purge("*", later=True)
    store.compact()
    assert store.check() == (0, [])
    store.collect()
    assert store.check() == (0, [])
    assert store.stats().sites == 0
