"""What of a page its site has: a page of a site that has nothing is compared with itself alone."""

from hypothesis import given
from hypothesis import strategies as st

from store.packing.known import Known
from store.packing.matching import NEW, SELF, Segment, Tail, append, match

JOIN_BYTES = 4
PIECES = st.lists(st.sampled_from([b"<p>", b"<p>a", b"<p>bb", b"<div>cccc", b"<div>dddddd", b"x"]), max_size=12)


def nothing() -> Known:
    return Known(1, "a.test", lambda number: b"")


def something() -> Known:
    """Return what is known of a site with another block."""
    known = nothing()
    known.raws[7], known.places[bytes(16)] = b"other", (7, 0)
    return known


@given(PIECES)
def test_a_first_page_is_matched_as_any_other(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    segments, new = match(body, pieces, nothing(), Tail(9), JOIN_BYTES)
    assert (segments, new) == match(body, pieces, something(), Tail(9), JOIN_BYTES)


@given(PIECES)
def test_the_runs_of_a_first_page_give_it_back(pieces: list[bytes]) -> None:
    body, tail = b"".join(pieces), Tail(9)
    runs = append(body, *match(body, pieces, nothing(), tail, JOIN_BYTES), tail, JOIN_BYTES)
    assert b"".join(bytes(tail.raw[offset : offset + length]) for _, offset, length in runs) == body


def test_a_block_that_stands_further_up_is_referred_to() -> None:
    pieces = [b"<p>abcd", b"<p>x", b"<p>abcd", b"<p>"]
    segments, new = match(b"".join(pieces), pieces, nothing(), Tail(9), JOIN_BYTES)
    (first, at), *_ = new.items()
    assert at == 0
    assert segments == [Segment(NEW, 0, 0, 11), Segment(SELF, 0, 11, 18, first), Segment(NEW, 0, 18, 21)]
