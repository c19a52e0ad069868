"""What is accepted is in force before the store has it, and until no look-up can have missed it."""

from proxy.pending import Freshened, Invalidated, Pending, Purged
from store.base import Freshening
from tests.proxy.making import FRESH, entry

URL = "http://a.test/"


def test_captures_of_a_key_come_newest_first_before_what_is_stored() -> None:
    pending = Pending()
    old, middle, new = entry(instant=1), entry(instant=2), entry(instant=3)
    pending.add(1, middle)
    pending.add(2, new)
    assert pending.overlay(URL, [old]) == [new, middle, old]
    assert pending.entries("http://other.test/") == []


def test_a_capture_that_was_committed_meanwhile_is_there_once() -> None:
    pending = Pending()
    accepted, stored = entry(instant=1), entry(instant=1)
    pending.add(1, accepted)
    assert pending.overlay(URL, [stored]) == [accepted]


def test_what_is_settled_stays_until_earlier_look_ups_have_ended() -> None:
    pending = Pending()
    pending.add(1, entry())
    look_up = pending.begin()
    pending.settle(1)
    assert len(pending.overlay(URL, [])) == 1
    pending.end(look_up)
    assert pending.overlay(URL, []) == []


def test_a_later_look_up_holds_nothing_back() -> None:
    pending = Pending()
    pending.add(1, entry())
    pending.settle(1)
    pending.begin()
    assert len(pending) == 0


def test_look_ups_that_end_out_of_order_hold_back_as_long_as_the_oldest() -> None:
    pending = Pending()
    pending.change(1, Invalidated(URL, 10))
    first = pending.begin()
    pending.settle(1)
    second = pending.begin()
    pending.end(second)
    assert len(pending) == 1
    pending.end(first)
    assert len(pending) == 0


def test_changes_act_on_what_is_pending_and_on_what_is_stored() -> None:
    pending = Pending()
    mine, stored, newer = entry(instant=5), entry(instant=4), entry(instant=6)
    pending.add(1, mine)
    pending.change(2, Invalidated(URL, 5))
    assert mine.stored.invalid
    assert [one.stored.invalid for one in pending.overlay(URL, [newer, stored])] == [True, False, True]


def test_a_freshening_reaches_the_capture_it_is_for() -> None:
    pending = Pending()
    headers = (*FRESH, (b"X-New", b"1"))
    pending.change(1, Freshened(URL, 4, Freshening(headers, 8, 9)))
    older, newer = pending.overlay(URL, [entry(instant=4), entry(instant=5)])
    assert (older.stored.headers, older.stored.time) == (headers, 9)
    assert newer.stored.headers == FRESH


def test_a_purge_hides_what_was_there_and_not_what_comes() -> None:
    pending = Pending()
    pending.add(1, entry(instant=4))
    pending.change(2, Purged(lambda url: url == URL, 5))
    assert pending.overlay(URL, [entry(instant=3)]) == []
    pending.add(3, entry(instant=6))
    assert len(pending.overlay(URL, [])) == 1
    for number in (1, 2, 3):
        pending.settle(number)
    assert len(pending) == 0
