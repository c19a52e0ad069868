"""What every store promises, whatever it stands on."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from blocks.model import Capture, body_digest
from store.base import Freshening, NoSuchCapture, Store
from store.memory import MemoryStore
from tests.store.conftest import page, site_pages

SLOW = settings(
    max_examples=30,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking over a database takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

headers = st.lists(st.tuples(st.binary(max_size=20), st.binary(max_size=60)), max_size=6).map(tuple)
captures = st.builds(
    Capture,
    url=st.sampled_from(["http://a.test/", "http://www.a.test/x?y=1", "http://b.test:81/ž", "", "no url", "\udc80"]),
    time=st.integers(0, 2**52),
    status=st.integers(100, 999),
    headers=headers,
    body=st.binary(max_size=300) | st.text("<p>tabletr/ ax", max_size=200).map(str.encode),
    coding=st.sampled_from(["", "gzip", "br, gzip"]),
    reason=st.binary(max_size=10),
    http_version=st.sampled_from([b"HTTP/1.1", b"HTTP/2", b""]),
    request_time=st.just(0),
    key=st.sampled_from(["", "http://a.test/key"]),
    vary=headers,
    private=st.booleans(),
    record_id=st.sampled_from(["", "<urn:uuid:00000000-0000-5000-8000-00000000000a>", "<urn:uuid:X>", "é"]),
    date=st.sampled_from(["", "yesterday"]),
)


def contents(store: Store) -> Counter[Capture]:
    return Counter(store.read(record) for record in store.captures())


@SLOW
@given(st.lists(captures, max_size=8))
def test_what_goes_in_comes_out(store: Store, kept: list[Capture]) -> None:
    before = contents(store)
    store.keep(kept)
    assert contents(store) == before + Counter(kept)
    assert store.check()[1] == []


def test_an_id_for_each_in_order(store: Store) -> None:
    kept = site_pages(5) + site_pages(3, "b.test")
    ids = store.keep(kept)
    assert len(set(ids)) == 8
    assert {r.id: r.capture.url for r in store.captures()} == dict(zip(ids, (c.url for c in kept), strict=True))


def test_a_record_has_everything_but_the_body(store: Store) -> None:
    capture = page(key="http://a.test/k", vary=((b"accept", b"*/*"),), request_time=1_699_999_999_000_000)
    (number,) = store.keep([capture])
    (record,) = store.find("http://a.test/")
    assert (record.id, record.size, record.digest) == (number, 8, body_digest(b"<p>hello"))
    assert record.capture == replace(capture, body=b"")


def test_the_newest_capture_is_found_first(store: Store) -> None:
    store.keep([page(time=t, body=b"%d" % t) for t in (2_000_001, 1_000_000, 2_000_003, 2_000_002)])
    times = [record.capture.time for record in store.find("http://a.test/")]
    assert times == [2_000_003, 2_000_002, 2_000_001, 1_000_000]
    assert [r.capture.time for r in store.find("http://a.test/", before=2_000_002, limit=2)] == [2_000_002, 2_000_001]


def test_a_capture_may_be_older_than_1970(store: Store) -> None:
    old = page("http://a.test/old", time=-1)
    store.keep([old])
    (found,) = store.find("http://a.test/old")
    assert store.read(found) == old
    assert store.known([old]) == [True]
    assert [record.capture.time for record in store.captures("http://a.test/old")] == [-1]
    assert store.purge("http://a.test/old") == 1
    assert store.find("http://a.test/old") == []


def test_a_capture_is_found_by_its_key_too(store: Store) -> None:
    store.keep([page("http://a.test/?utm=1", key="http://a.test/")])
    assert [r.capture.url for r in store.find("http://a.test/")] == ["http://a.test/?utm=1"]
    assert [r.capture.url for r in store.find("http://a.test/?utm=1")] == ["http://a.test/?utm=1"]
    assert len(list(store.captures())) == 1


def test_a_default_port_may_be_written(store: Store) -> None:
    archived = page("http://a.test:80/x", time=1_000_000)
    store.keep(
        [archived, page("http://a.test/x", time=2_000_000, key="http://a.test:80/x"), page("http://a.test:81/x")]
    )
    for url in ("http://a.test/x", "http://a.test:80/x"):
        assert [r.capture.time for r in store.find(url)] == [2_000_000, 1_000_000]
    assert len(store.find("http://a.test:81/x")) == 1
    assert store.find("https://a.test/x") == []
    record = store.find("http://a.test/x")[1]
    assert store.read(record) == archived
    assert store.freshen("http://a.test/x", record.capture.time, record.digest, Freshening((), 5, 6)) == 1
    assert store.invalidate("http://a.test/x", 1_500_000) == 1
    assert store.find("http://a.test:80/x")[1].freshening == Freshening((), 5, 6, invalid=True)


def test_nothing_is_found_under_another_url(store: Store) -> None:
    store.keep([page()])
    assert store.find("http://a.test/other") == []
    assert store.find("http://nowhere.test/") == []


def test_equal_captures_twice_are_two(store: Store) -> None:
    assert len(store.keep([page(), page()])) == 2
    store.keep([page()])
    assert len(store.find("http://a.test/")) == 3


def test_known_tells_records_apart_by_id_url_time_and_body(store: Store) -> None:
    kept = page(record_id="<urn:uuid:1>")
    store.keep([kept])
    others = [replace(kept, record_id="<urn:uuid:2>"), replace(kept, body=b"x"), replace(kept, time=kept.time + 1)]
    assert store.known([kept, *others, page("http://b.test/")]) == [True, False, False, False, False]


def test_captures_come_by_site_url_and_time(store: Store) -> None:
    store.keep(
        [page("http://b.test/"), page("http://a.test/2"), page("http://www.a.test/1"), page("http://a.test/2", time=5)]
    )
    found = [(r.capture.url, r.capture.time) for r in store.captures()]
    late = 1_700_000_000_000_000
    expected = [
        ("http://a.test/2", 5),
        ("http://a.test/2", late),
        ("http://www.a.test/1", late),
        ("http://b.test/", late),
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("pattern", "n"), [("*", 3), ("http://a.test/*", 2), ("http://a.test/1", 1), ("*/1", 2), ("http://a.test/", 0)]
)
def test_patterns(store: Store, pattern: str, n: int) -> None:
    store.keep([page("http://a.test/1"), page("http://a.test/2?x=[1]"), page("http://b.test/1")])
    assert len(list(store.captures(pattern))) == n


def test_a_freshening_belongs_to_one_capture(store: Store) -> None:
    old, new = page(time=1_000_000), page(time=2_000_000)
    store.keep([old, new])
    fresh = Freshening(((b"ETag", b'"x"'),), 3_000_000, 3_000_001)
    assert store.freshen(new.url, new.time, body_digest(new.body), fresh) == 1
    assert [r.freshening for r in store.find(new.url)] == [fresh, None]
    assert store.freshen(new.url, new.time, b"0" * 16, fresh) == 0


def test_invalidation_marks_what_was_received_before(store: Store) -> None:
    store.keep([page(time=1_000_000), page(time=3_000_000)])
    assert store.invalidate("http://a.test/", 2_000_000) == 1
    marks = [r.freshening and r.freshening.invalid for r in store.find("http://a.test/")]
    assert marks == [None, True]
    assert len(contents(store)) == 2


def test_purging_deletes_what_matches_and_nothing_else(store: Store) -> None:
    kept = site_pages(12) + site_pages(4, "b.test")
    store.keep(kept)
    assert store.purge("http://a.test/page/1*", dry_run=True) == 3
    before = store.purges()
    assert store.purge("http://a.test/page/1*") == 3
    assert store.purges() > before
    assert contents(store) == Counter(c for c in kept if not c.url.startswith("http://a.test/page/1"))
    assert store.purge("http://b.test/*") == 4
    assert store.stats().sites == 1
    assert store.check() == (9, [])


def test_a_purged_capture_cannot_be_read(store: Store) -> None:
    store.keep([page()])
    (record,) = store.find("http://a.test/")
    store.purge("*")
    with pytest.raises(NoSuchCapture, match=r"http://a\.test/"):
        store.read(record)


def test_compaction_changes_no_capture(store: Store) -> None:
    kept = [*site_pages(30), *site_pages(3, "b.test"), page(private=True), page(body=b""), page(key="http://a.test/k")]
    for start in range(0, len(kept), 4):
        store.keep(kept[start : start + 4])
    ids = [r.id for r in store.captures()]
    fresh = Freshening((), 5, 6)
    store.freshen(kept[3].url, kept[3].time, body_digest(kept[3].body), fresh)
    store.compact()
    assert contents(store) == Counter(kept)
    assert [r.id for r in store.captures()] == ids
    assert store.find(kept[3].url)[0].freshening == fresh
    assert len(store.find("http://a.test/k")) == 1
    assert store.check() == (len(kept), [])
    more = site_pages(40)
    store.keep(more)
    assert contents(store) == Counter(kept) + Counter(more)


def test_the_last_compaction_is_known(store: Store) -> None:
    assert store.last_compaction() is None
    for start in range(0, 30, 3):
        store.keep(site_pages(30)[start : start + 3])
    before = store.size()
    store.compact(dry_run=True)
    assert store.last_compaction() is None
    plan = store.compact()
    last = store.last_compaction()
    if isinstance(store, MemoryStore):  # has nothing to compact
        assert (plan.rewrite, last) == (0, None)
        return
    assert last is not None
    assert (last.packs, last.bytes_before, last.bytes_after) == (10, before, plan.bytes_after)
    store.compact()  # nothing is left to do
    assert store.last_compaction() == last
    assert store.check() == (30, [])


def test_the_figures_add_up(store: Store) -> None:
    pages = site_pages(10)
    store.keep([*pages, pages[0], *site_pages(2, "b.test"), page("http://c.test/", b"x", private=True)])
    stats = store.stats()
    assert (stats.captures, stats.pages, stats.sites) == (14, 13, 3)
    assert stats.bytes.original == sum(len(c.body) for c in [*pages, pages[0], *site_pages(2, "b.test")]) + 1
    assert stats.bytes.exact == stats.bytes.original - len(pages[0].body)
    assert stats.bytes.block < stats.bytes.exact / 2
    for figure in ("original", "exact", "block", "ondisk"):
        assert sum(getattr(row.bytes, figure) for row in stats.by_site) == getattr(stats.bytes, figure)
    for figure in ("captures", "pages", "blocks"):
        assert sum(getattr(row, figure) for row in stats.by_site) == getattr(stats, figure)


def test_a_block_shared_by_two_pages_is_stored_once(store: Store) -> None:
    store.keep([page("http://a.test/1", b"<p>menu<p>home")])
    store.keep([page("http://a.test/2", b"<p>menu<p>about")])
    assert store.stats().blocks == 3


def test_sites_share_nothing(store: Store) -> None:
    store.keep([page("http://a.test/", b"<p>x"), page("http://b.test/", b"<p>x")])
    assert store.stats().blocks == 2


def test_bodies_that_are_no_pages_are_kept_whole(store: Store) -> None:
    css = ((b"content-type", b"text/css"),)
    coded = ((b"content-type", b"text/html"), (b"content-encoding", b"x-unknown"))
    store.keep([page(body=b"<p>a<p>b", headers=css), page(body=b"<p>c<p>d", headers=coded)])
    assert store.stats().blocks == 2


def test_a_large_body_is_kept_and_shared(store: Store) -> None:
    body = bytes(range(256)) * 2000
    image = ((b"content-type", b"image/png"),)
    store.keep([page(f"http://a.test/{i}", body, headers=image) for i in range(3)])
    store.keep([page("http://a.test/4", body, headers=image)])
    assert store.stats().bytes.exact == len(body)
    assert all(store.read(record).body == body for record in store.captures())


def test_an_empty_store_is_sound(store: Store) -> None:
    assert store.keep([]) == []
    assert store.check() == (0, [])
    assert (store.stats().captures, store.stats().bytes.original) == (0, 0)
    assert store.purge("*") == 0
    store.compact()
    store.collect()


def test_a_site_is_listed_by_itself(store: Store) -> None:
    store.keep([page("http://b.test/2"), page("http://www.a.test/2"), page("http://a.test/1", time=2), page()])
    listed = [(r.capture.url, r.capture.time) for r in store.of_site("a.test")]
    assert listed == sorted(listed)
    assert listed == [(r.capture.url, r.capture.time) for r in store.captures() if "a.test" in r.capture.url]
    assert store.of_site("nowhere.test") == []
