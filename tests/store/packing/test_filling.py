"""What the open pack says of its head holds for the head that is written."""

from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.model import Capture
from store.packing.filling import OpenPack
from store.packing.known import Form
from store.packing.matching import Tail
from store.packing.packs import decode_head

texts = st.text(max_size=40)
pairs = st.lists(st.tuples(st.binary(max_size=20), st.binary(max_size=40)), max_size=8).map(tuple)
numbers = st.integers(0, 2**40)


@st.composite
def captures(draw: st.DrawFn) -> Capture:
    status = draw(st.integers(100, 599))
    written = [draw(texts) for _ in range(5)]
    url, coding, key, record_id, date = written
    return Capture(
        *(url, draw(numbers), status, draw(pairs), b"", coding, draw(st.binary(max_size=9)), b"HTTP/2", draw(numbers)),
        *(key, draw(pairs), draw(st.booleans()), record_id, date),
    )


@st.composite
def forms(draw: st.DrawFn) -> Form:
    runs = st.tuples(st.integers(1, 300), st.integers(0, 2**31), st.integers(0, 2**31))
    return tuple(draw(st.lists(runs, max_size=9))), draw(pairs)


@settings(max_examples=25)
@given(st.lists(st.tuples(captures(), forms(), forms(), st.booleans()), max_size=4))
def test_a_head_is_never_longer_than_was_said(parts: list[tuple[Capture, Form, Form, bool]]) -> None:
    pack = OpenPack(Tail(7))
    for capture, form, other, is_asked in parts:
        at_most = pack.head_with(capture, form)
        exactly = pack.exact_head_with(capture, bytes(16), form) if is_asked else 0
        if not is_asked:
            pack.exact_head_with(capture, bytes(16), other)
        pack.put(capture, bytes(16), form)
        raw, n_recipes = pack.head()
        if is_asked:
            assert len(raw) == exactly == pack.head_at_most
        assert len(raw) <= pack.head_at_most <= at_most
        assert n_recipes < len(raw)
    assert len(decode_head(pack.head()[0]).captures) == len(parts)
