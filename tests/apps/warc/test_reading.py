"""Records are read whole or named by where they begin; nothing raises, nothing is read twice over."""

import gzip
import io
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.warc.reading import Damage, WarcRecord, records
from tests.apps.warc.samples import HEAD, packed, record

ONE, TWO, THREE = (record(HEAD + text * 1000, record_id=f"<{text.decode()}>") for text in (b"one", b"two", b"three"))


def read(content: bytes, max_bytes: int = 1 << 20) -> list[str]:
    """Return a word for each thing found: a record's id, or what is wrong and where."""
    found = records(io.BytesIO(content), max_bytes)
    return [
        f"{thing.place}: {thing.what}" if isinstance(thing, Damage) else thing.field("warc-record-id").decode()
        for thing in found
    ]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (packed(ONE, TWO, THREE), ["<one>", "<two>", "<three>"]),
        (ONE + TWO + THREE, ["<one>", "<two>", "<three>"]),
        (packed(ONE + TWO + THREE), ["<one>", "<two>", "<three>"]),
        (packed(ONE, TWO) + bytes(512), ["<one>", "<two>"]),
        (ONE.removesuffix(b"\r\n\r\n") + TWO, ["<one>", "<two>"]),
        (b"\r\n" + ONE.replace(b"\r\n", b"\n", 6).replace(b"\n\r\n", b"\n\n", 1) + TWO, ["<one>", "<two>"]),
        (b"", []),
        (b"\r\n\r\n", []),
    ],
    ids=["gzip", "plain", "one member", "zero padding", "no line ends between", "line feeds", "empty", "blank"],
)
def test_whole_records_are_read(content: bytes, found: list[str]) -> None:
    assert read(content) == found


N1, N2 = len(packed(ONE)), len(packed(ONE, TWO))
P1, P2 = len(ONE), len(ONE + TWO)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (packed(ONE, TWO, THREE)[:-20], ["<one>", "<two>", f"byte {N2}: the gzip member is cut off"]),
        (packed(ONE, TWO, THREE)[: N2 + 5], ["<one>", "<two>", f"byte {N2}: the gzip member is cut off"]),
        ((ONE + TWO + THREE)[:-99], ["<one>", "<two>", f"byte {P2}: the record is cut off: 4949 of 5044 bytes are"]),
        ((ONE + TWO + THREE)[: P2 + 50], ["<one>", "<two>", f"byte {P2}: the record is cut off in its header"]),
        (packed(ONE + TWO)[:-9], ["<one>", "<two>", "byte 0: the gzip member is cut off"]),
        (packed(ONE) + b"\x1f\x8b\x08" + bytes(9) + packed(TWO), ["<one>", f"byte {N1}: the gzip member is", "<two>"]),
        (packed(ONE) + b"junk" + packed(TWO), ["<one>", f"byte {N1}: the gzip member is damaged", "<two>"]),
        (packed(ONE)[:-8] + b"1234" + packed(ONE)[-4:] + packed(TWO), ["byte 0: the gzip member is dam", "<two>"]),
        (b"junk" + ONE + TWO, ["byte 0: no record begins here", "<two>"]),
        (record(length=3) + TWO, ["byte 0: the record does not end where its Content-Length says", "<two>"]),
        (record(length=60) + TWO + THREE, ["byte 0: the record does not end where", "<two>", "<three>"]),
        (packed(record(length=60) + TWO, THREE), ["byte 0: the record does not end", "<two>", "<three>"]),
        (ONE.replace(b"Content-Length", b"Content-Size") + TWO, ["byte 0: the record has no Content-Length", "<two>"]),
        (ONE.replace(b"3044", b"-1") + TWO, ["byte 0: the record has no Content-Length that is a number", "<two>"]),
        (b"<html><body>no archive", ["byte 0: no record begins here"]),
        (packed(b"no archive"), ["byte 0: no record begins here"]),
    ],
)
def test_a_damage_is_named_by_its_offset_and_the_rest_is_read(content: bytes, found: list[str]) -> None:
    got = read(content)
    assert len(got) == len(found)
    assert [word[: len(wanted)] for word, wanted in zip(got, found, strict=True)] == found


def test_a_record_over_the_limit_is_passed_over() -> None:
    huge = record(HEAD + bytes(1 << 20), record_id="<huge>")
    assert read(packed(ONE, huge, TWO), 1 << 20) == [
        "<one>",
        f"byte {N1}: the record has {(1 << 20) + len(HEAD)} bytes, more than {1 << 20}",
        "<two>",
    ]


def test_a_header_without_an_end_is_not_read_into_memory() -> None:
    assert read(b"WARC/1.1\r\n" + b"X: y\r\n" * 400_000)[0].startswith("byte 0: the record's header is longer than")


def test_fields_are_kept_in_order_repeated_and_folded() -> None:
    block = record(fields="X-A: 1\nX-B: 2\nX-A: 3\n  4")
    (found,) = records(io.BytesIO(block), 1000)
    assert isinstance(found, WarcRecord)
    assert [value for name, value in found.fields if name in (b"X-A", b"X-B")] == [b"1", b"2", b"3 4"]


@settings(max_examples=150)
@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 60), st.booleans())
def test_any_bytes_anywhere_are_survived(junk: bytes, at: int, cut: int, zipped: bool) -> None:
    sound = packed(record(), record(), record()) if zipped else record() * 3
    broken = sound[:at] + junk + sound[at + cut :]
    for found in records(io.BytesIO(broken), 1 << 16):
        assert isinstance(found, WarcRecord | Damage)
    for found in records(io.BytesIO(junk), 1 << 16):
        assert isinstance(found, WarcRecord | Damage)


@pytest.mark.parametrize(
    "unit",
    [
        b"WARC/1.1\r\nContent-Length: 900000\r\n\r\n",
        b"\nWARC/1.1",
        gzip.compress(b"WARC/1.1\r\n", mtime=0)[:-8] + b"damaged!",
        b"\x1f\x8b\x08",
    ],
)
def test_time_grows_with_the_file_and_no_faster(unit: bytes) -> None:
    def seconds(n_bytes: int) -> float:
        content = unit * (n_bytes // len(unit))
        start = time.process_time()
        for _ in records(io.BytesIO(content), 1 << 20):
            pass
        return time.process_time() - start

    small, large = min(seconds(60_000) for _ in range(3)), seconds(480_000)
    assert large < 0.2 + small * 8 * 3
