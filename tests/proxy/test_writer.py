"""The writer: order, decoding, patience with a store that fails, and no capture twice."""

import gzip
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from blocks.model import Capture
from proxy.operations import Freshen, Invalidate, Keep, Limits, Operation, Purge, Settled, Trying
from proxy.upkeep import Chores, Upkeep
from proxy.writer import Writer
from store.base import Freshening, StoreUnavailable
from store.memory import MemoryStore
from store.opening import open_store
from tests.proxy.making import FRESH, LIMITS, capture
from tests.store.conftest import site_pages

URL = "http://a.test/"


class Failing(MemoryStore):
    """A store that is unavailable some times, before or after it has done what it was asked."""

    def __init__(self, times: int, *, after: bool = False) -> None:
        super().__init__()
        self.times, self.after = times, after

    def keep(self, captures: Sequence[Capture]) -> list[int]:
        ids = super().keep(captures) if self.after or not self.times else []
        if self.times:
            self.times -= 1
            raise StoreUnavailable("the disk is full")
        return ids


class Refusing(MemoryStore):
    """A store with which one URL does not agree."""

    def keep(self, captures: Sequence[Capture]) -> list[int]:
        if any("bad" in one.url for one in captures):
            raise ValueError("no such page")
        return super().keep(captures)


def write(
    store: MemoryStore, operations: Sequence[Operation], *, again: bool = False, limits: Limits = LIMITS
) -> list[Settled | Trying]:
    """Let a writer carry out operations; return what it tells."""
    told: list[Settled | Trying] = []

    def tell(message: object) -> None:
        told.extend(message if isinstance(message, list) else [message])  # type: ignore[list-item]

    Writer(lambda: store, limits, tell).write(operations, again)
    return told


def test_bodies_are_decoded_and_all_is_done_in_order() -> None:
    store = MemoryStore()
    coded = ((b"Content-Encoding", b"gzip"), *FRESH)
    first = capture(instant=1, headers=coded, body=gzip.compress(b"page"))
    told = write(
        store,
        [
            Keep(1, first),
            Freshen(2, URL, 1, b"", Freshening(FRESH, 5, 6)),
            Invalidate(3, URL, 9),
            Keep(4, capture("http://b.test/")),
            Purge(5, "http://b.test/*"),
        ],
    )
    assert told == [Settled(number) for number in (1, 2, 3, 4, 5)]
    (record,) = store.find(URL)
    assert store.read(record).body == b"page"
    assert (record.capture.coding, record.freshening) == ("gzip", Freshening(FRESH, 5, 6, invalid=True))
    assert store.find("http://b.test/") == []


def test_a_body_that_decodes_to_too_much_is_kept_as_it_came() -> None:
    store = MemoryStore()
    bomb = gzip.compress(bytes(3 << 20))
    write(store, [Keep(1, capture(headers=((b"Content-Encoding", b"gzip"),), body=bomb))])
    (record,) = store.find(URL)
    assert (store.read(record).body, record.capture.coding) == (bomb, "")


def test_a_store_that_is_unavailable_is_tried_again() -> None:
    store = Failing(2)
    assert write(store, [Keep(1, capture())]) == [Trying("the disk is full"), Trying("the disk is full"), Settled(1)]
    assert len(store.find(URL)) == 1


def test_a_commit_whose_answer_was_lost_is_not_repeated() -> None:
    store = Failing(1, after=True)
    assert write(store, [Keep(1, capture())])[-1] == Settled(1)
    assert len(store.find(URL)) == 1


def test_what_an_earlier_writer_committed_is_not_kept_twice() -> None:
    store = MemoryStore()
    one, two = capture(), capture("http://b.test/")
    store.keep([one])
    assert write(store, [Keep(1, one), Keep(2, two)], again=True) == [Settled(1), Settled(2)]
    assert len(list(store.captures())) == 2


def test_patience_ends_and_the_next_gets_one_attempt() -> None:
    store = Failing(1000)
    told: list[object] = []
    writer = Writer(lambda: store, Limits(1 << 20, 1000, patience_seconds=0.3), told.append)
    writer.write([Keep(1, capture())], False)
    assert told[-1] == [Settled(1, "store_unavailable", "the disk is full")]
    told.clear()
    writer.write([Keep(2, capture())], False)
    assert told == [[Settled(2, "store_unavailable", "the disk is full")]]
    store.times = 0
    told.clear()
    writer.write([Keep(3, capture())], False)
    assert told == [[Settled(3)]]


def test_what_the_store_refuses_is_given_up_alone() -> None:
    store = Refusing()
    told = write(store, [Keep(1, capture()), Keep(2, capture("http://bad.test/")), Keep(3, capture("http://c.test/"))])
    assert told == [Settled(1), Settled(2, "refused", "ValueError: no such page"), Settled(3)]


def test_a_purge_is_settled_before_its_bytes_are_written_anew(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    with closing(open_store(url)) as store:
        store.keep(site_pages(40))
        store.compact()
        told: list[object] = []
        writer = Writer(lambda: open_store(url), LIMITS, told.append, Upkeep(url, {}, Chores()))
        with closing(writer):
            writer.write([Purge(1, "*1"), Keep(2, capture("http://b.test/"))], False)
            assert told == [[Settled(1)], [Settled(2)]]
            assert not list(store.captures("http://a.test/*1"))
            deadline = time.monotonic() + 60
            while store.collect(dry_run=True, purged=True).notes:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert store.check()[1] == []
