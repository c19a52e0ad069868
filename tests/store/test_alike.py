"""Which captures have a text in common: found on all sites, compacted or not, and never what is private or gone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.fingerprints import FINGERPRINT_BYTES
from blocks.model import Capture
from store import alike
from store.base import Store
from store.opening import open_store
from store.packing.packs import DamagedPack
from store.packing.prose import decode_prose, encode_prose, prose_of
from store.sql import SqlStore
from tests.store.conftest import page, site_pages

AGENCY = b" ".join(b"agency%d" % (i * i % 997) for i in range(60))


def reprinted(host: str, text: bytes = AGENCY, *, time: int = 1_700_000_000_000_000, private: bool = False) -> Capture:
    """Return a page of a site that prints a text among its own."""
    own = b" ".join(b"%s%d" % (host.encode(), i) for i in range(50))
    return page(
        f"http://{host}/news", b"<div>menu of %s<p>%s<p>%s</div>" % (host.encode(), own, text), time, private=private
    )


def urls(store: Store, capture: Capture) -> list[str]:
    return [record.capture.url for record in store.alike(prose_of(capture)[-1:]).records]


@pytest.mark.parametrize("compacted", ["none", "some", "all"])
def test_a_text_is_found_on_every_site(store: Store, compacted: str) -> None:
    near = AGENCY.replace(b"agency9", b"AGENT").replace(b"agency100 ", b"")
    store.keep([reprinted("a.test", time=1), *site_pages(30, "a.test")])
    if compacted == "some":
        store.compact()
    store.keep([reprinted("b.test", near, time=2), *site_pages(30, "b.test"), *site_pages(3, "c.test")])
    if compacted == "all":
        store.compact()
    assert urls(store, reprinted("c.test")) == ["http://b.test/news", "http://a.test/news"]
    assert store.alike(prose_of(reprinted("c.test"))).n_unread == 0


def test_one_of_each_site_in_turn(store: Store) -> None:
    several = [replace(reprinted("a.test", time=10 + i), url=f"http://a.test/{i}") for i in range(3)]
    store.keep([*several, reprinted("b.test", time=5)])
    found = ["http://a.test/2", "http://b.test/news", "http://a.test/1", "http://a.test/0"]
    assert urls(store, several[0]) == found
    store.compact()
    assert urls(store, several[0]) == found


def test_what_is_private_or_gone_is_not_found(store: Store) -> None:
    gone, private = reprinted("a.test"), reprinted("b.test", private=True)
    store.keep([gone, private, *site_pages(30, "a.test")])
    store.compact()
    assert urls(store, gone) == [gone.url]
    store.purge(gone.url)
    assert urls(store, gone) == []
    assert len(prose_of(private)) == 0


def test_only_pages_have_prose() -> None:
    plain = page(body=b"<p>" + AGENCY)
    assert len(prose_of(plain)) == 1
    assert len(prose_of(replace(plain, headers=((b"content-type", b"text/plain"),)))) == 0
    assert len(prose_of(replace(plain, body=plain.body * 3))) == 1


def test_a_question_is_answered_within_bounds(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [replace(reprinted("a.test", time=1000 * i), url=f"http://a.test/{i}") for i in range(6)]
    store = open_store(database_url)
    store.keep(several)
    with monkeypatch.context() as bounds:
        bounds.setattr(alike, "ARRIVED_BYTES", 2 * len(several[0].body))
        found = store.alike(prose_of(several[0]))
        assert (len(found.records), found.n_unread) == (2, 4)
    monkeypatch.setattr(alike, "SITE_CAPTURES", 4)
    store.compact()
    found = store.alike(prose_of(several[0]))
    assert ([r.capture.time for r in found.records], found.n_unread) == ([5000, 4000, 3000, 2000], 2)
    store.close()


def test_rows_are_compared_many_together(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """Whatever is compared at once, each hit is told the capture it stands in."""
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    assert isinstance(store, SqlStore)
    for host in ("a.test", "b.test", "c.test"):
        store.keep([*site_pages(20, host), reprinted(host), *site_pages(40, host)[20:]])
    store.compact()
    every = urls(store, reprinted("d.test"))
    assert sorted(every) == [f"http://{name}.test/news" for name in "abc"]
    monkeypatch.setattr(alike, "AT_ONCE", 1)
    assert urls(store, reprinted("d.test")) == every
    store.close()


rows = st.lists(st.binary(min_size=FINGERPRINT_BYTES, max_size=FINGERPRINT_BYTES), max_size=5).map(b"".join)


@given(st.integers(1, 2**40), st.lists(rows, max_size=5))
def test_a_row_gives_back_what_was_written(pack: int, each: list[bytes]) -> None:
    arrays = [np.frombuffer(one, np.uint8).reshape(-1, FINGERPRINT_BYTES) for one in each]
    counts, found = decode_prose(pack, encode_prose(pack, arrays))
    assert counts == [len(one) for one in arrays]
    assert found.tobytes() == b"".join(each)
    with pytest.raises(DamagedPack):
        decode_prose(pack + 1, encode_prose(pack, arrays))


@settings(max_examples=50)
@given(st.binary(max_size=60), st.lists(rows, max_size=3), st.integers(0, 200), st.integers(1, 255))
def test_other_bytes_are_told(noise: bytes, each: list[bytes], at: int, flip: int) -> None:
    row = bytearray(encode_prose(7, [np.frombuffer(one, np.uint8).reshape(-1, FINGERPRINT_BYTES) for one in each]))
    row[at % len(row)] ^= flip
    for data in (noise, bytes(row)):
        with pytest.raises(DamagedPack):
            decode_prose(7, data)
