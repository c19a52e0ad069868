"""A pack's bytes: what is encoded is decoded, and nothing else is taken for it."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.model import Run
from store.packing import recipes
from store.packing.packs import Codec, DamagedPack, Head, decode, decode_head, encode_head
from store.packing.recipes import BadRecipes
from tests.store.conftest import page

runs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)), max_size=20)


@given(st.lists(runs, max_size=5))
def test_recipes_come_back(wanted: list[list[tuple[int, int, int]]]) -> None:
    decoded = recipes.decode(recipes.encode(wanted))
    assert [decoded.recipe(slot).runs for slot in range(len(decoded))] == [
        tuple(Run(*run) for run in r) for r in wanted
    ]
    assert [decoded.size(slot) for slot in range(len(decoded))] == [sum(run[2] for run in r) for r in wanted]


@given(
    st.binary(max_size=80) | st.binary(max_size=60).map(lambda tail: bytes(4) + bytes([1, 0, 0, 0, 0, 0, 0, 0]) + tail)
)
def test_any_bytes_are_recipes_or_not(data: bytes) -> None:
    with contextlib.suppress(BadRecipes):
        recipes.decode(data)


def test_new_blocks_in_order_cost_two_bytes_and_their_source() -> None:
    one, two = recipes.encode([[(0, 0, 100)]]), recipes.encode([[(0, 0, 100), (0, 100, 50)]])
    assert len(two) - len(one) == 3


@given(st.binary(max_size=500), st.binary(max_size=500), st.sampled_from([1, 3, 19]))
def test_decoded_is_what_was_encoded(raw: bytes, base: bytes, level: int) -> None:
    stored = Codec(level, base).encode(raw)
    assert decode(stored, base) == raw


@given(st.data())
def test_a_flipped_bit_is_found(data: st.DataObject) -> None:
    raw = data.draw(st.sampled_from([b"short", b"<p>some text " * 40, bytes(range(256))]))
    stored = bytearray(Codec(3).encode(raw))
    stored[data.draw(st.integers(0, len(stored) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with contextlib.suppress(DamagedPack):
        assert decode(bytes(stored)) == raw  # a bit that means nothing


def test_another_base_is_noticed() -> None:
    base = b"<p>the text of the base, long enough to be referred to</p>" * 20
    stored = Codec(9, base).encode(base[100:900])
    with pytest.raises(DamagedPack):
        decode(stored, base[::-1])


def test_a_frame_that_claims_too_much_is_refused() -> None:
    with pytest.raises(DamagedPack, match="more bytes"):
        decode(Codec(1).encode(b"x" * 100_000), max_bytes=1000)


def test_a_head_comes_back() -> None:
    captures = [
        page(body=b"", record_id="<urn:uuid:01234567-89ab-cdef-0123-456789abcdef>", date="soon", coding="gzip"),
        page("http://a.test/\udcff", b"", 5, record_id="other", key="k", private=True, vary=((b"a", b"b"),)),
    ]
    head = Head([7, 9], captures, [b"a" * 16, b"b" * 16], tokens=[((b"a", b"b"),), ()])
    found = decode_head(encode_head(head, recipes.encode([[(2, 5, 7)], []])))
    assert (found.needs, found.digests, found.tokens) == ([7, 9], head.digests, head.tokens)
    assert list(found.captures) == found.captures[:] == captures
    assert [found.recipes.recipe(slot).runs for slot in range(2)] == [(Run(2, 5, 7),), ()]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_head_or_damaged(raw: bytes) -> None:
    with contextlib.suppress(DamagedPack):
        list(decode_head(raw).captures)


def test_a_head_that_names_fields_it_does_not_have_is_damaged() -> None:
    head = Head([], [page()], [b"a" * 16], tokens=[()])
    raw = encode_head(head, recipes.encode([[]]))
    number = raw.index(b"headers") + len(b"headers") + 2
    assert decode_head(raw).captures[0].headers == page().headers
    with pytest.raises(DamagedPack, match="no such header field"):
        list(decode_head(raw[:number] + b"\x05" + raw[number + 1 :]).captures)
