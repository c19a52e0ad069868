"""A pack's bytes: what is encoded is decoded, and nothing else is taken for it."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.model import Run
from store.packs import Codec, DamagedPack, Head, decode, decode_head, decode_runs, encode_head, encode_runs
from tests.store.conftest import page

runs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**40), st.integers(0, 2**40)), max_size=20)


@given(runs)
def test_runs_come_back(wanted: list[tuple[int, int, int]]) -> None:
    recipe = decode_runs(encode_runs(wanted, 4), 4)
    assert recipe.runs == tuple(Run(*run) for run in wanted)


@given(st.binary(max_size=60), st.integers(1, 5))
def test_any_bytes_are_runs_or_damaged(data: bytes, n_sources: int) -> None:
    with contextlib.suppress(DamagedPack):
        decode_runs(data, n_sources)


def test_neighbouring_runs_cost_two_bytes() -> None:
    """A run that begins where the last one of its source ended has offset 0."""
    assert len(encode_runs([(0, 0, 100), (1, 0, 50), (0, 100, 20)], 2)) == 6


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
    head = Head([7, 9], captures, [b"a" * 16, b"b" * 16], [b"\x00\x05", b""])
    assert decode_head(encode_head(head)) == head


@given(st.binary(max_size=200))
def test_any_bytes_are_a_head_or_damaged(raw: bytes) -> None:
    with contextlib.suppress(DamagedPack):
        decode_head(raw)
