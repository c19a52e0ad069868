"""Content codings: what decodes cleanly is decoded, everything else stays as it came."""

import gzip
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.coding import Decoded, codings, dechunk, decode, encode

PAGE = b"<html><body>" + b"".join(b"<p>line %d</p>" % n for n in range(500)) + b"</body></html>"
CODINGS = ("gzip", "deflate", "br", "zstd", "br, gzip", "gzip, zstd, deflate")


@pytest.mark.parametrize("coding", CODINGS)
@given(body=st.binary(max_size=2000))
@settings(max_examples=25)
def test_what_was_encoded_decodes(coding: str, body: bytes) -> None:
    assert decode(encode(body, coding), coding) == Decoded(body, coding)


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "br", "zstd", "br, gzip", "compress", "identity", ""])
@given(body=st.binary(max_size=300))
@settings(max_examples=50)
def test_any_bytes_under_any_coding_come_back_decoded_or_raw(coding: str, body: bytes) -> None:
    decoded = decode(body, coding)
    assert decoded.coding or decoded.body == body


@given(name=st.text(max_size=50), body=st.binary(max_size=50))
def test_any_field_value_is_answered(name: str, body: bytes) -> None:
    decode(body, name)
    decode(body, name.encode())


@pytest.mark.parametrize("coding", CODINGS[:5])
@pytest.mark.parametrize("cut", [0, 1, 5, -9, -5, -1])
def test_a_truncated_body_stays_raw(coding: str, cut: int) -> None:
    truncated = encode(PAGE, coding)[:cut]
    assert decode(truncated, coding) == Decoded(truncated, "")


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("garbage", [b"\0", b"tail", b"x" * 3000])
def test_bytes_after_the_end_make_the_body_opaque(coding: str, garbage: bytes) -> None:
    body = encode(PAGE, coding) + garbage
    assert decode(body, coding) == Decoded(body, "")


def test_gzip_members_and_zstd_frames_are_joined() -> None:
    assert decode(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip").body == b"one two"
    compressor = zstandard.ZstdCompressor()
    assert decode(compressor.compress(b"one ") + compressor.compress(b"two"), "zstd").body == b"one two"


def test_bare_deflate_is_understood() -> None:
    stream = zlib.compressobj(wbits=-15)
    assert decode(stream.compress(PAGE) + stream.flush(), "deflate") == Decoded(PAGE, "deflate")


def test_a_zstd_frame_whose_window_is_the_whole_body() -> None:
    body = bytes(range(256)) * (12 << 12)
    wide = zstandard.ZstdCompressionParameters.from_level(1, window_log=24)
    coded = zstandard.ZstdCompressor(compression_params=wide).compress(body)
    assert zstandard.get_frame_parameters(coded).window_size > 8 << 20
    assert decode(coded, "zstd", max_ratio=1e6).body == body


def test_a_wrong_checksum_makes_the_body_opaque() -> None:
    body = bytearray(gzip.compress(PAGE))
    body[-6] ^= 1
    assert decode(bytes(body), "gzip") == Decoded(bytes(body), "")


def test_names_are_normal_and_identity_is_none() -> None:
    assert codings(b"X-GZIP , Br,identity,") == ("gzip", "br")
    assert decode(PAGE, "identity") == Decoded(PAGE, "")


def test_too_many_codings_are_opaque() -> None:
    body = encode(b"x", "gzip, gzip, gzip, gzip, gzip")
    assert decode(body, "gzip, gzip, gzip, gzip, gzip") == Decoded(body, "")


def bombs() -> dict[str, bytes]:
    """Bodies of some kB that decode to 256 MB."""
    nothing = bytes(1 << 28)
    return {
        "gzip": gzip.compress(nothing, 9),
        "deflate": zlib.compress(nothing, 9),
        "br": brotli.compress(nothing, quality=5),
        "zstd": zstandard.ZstdCompressor(level=1).compress(nothing),
        "gzip, gzip": gzip.compress(gzip.compress(nothing, 9), 9),
    }


def test_bombs_stay_raw_in_bounded_memory() -> None:
    for coding, bomb in bombs().items():
        for limits in ({"max_bytes": 1 << 24, "max_ratio": 1e9}, {"max_bytes": 1 << 40, "max_ratio": 100.0}):
            tracemalloc.start()
            assert decode(bomb, coding, **limits).coding == "", (coding, limits)  # type: ignore[arg-type]
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < 100 << 20, (coding, limits)


def test_a_small_page_may_have_any_ratio() -> None:
    assert decode(encode(bytes(200_000), "br"), "br", max_ratio=2).coding == "br"


def test_many_tiny_members_cost_no_more_than_their_bytes() -> None:
    body = gzip.compress(b"") * 5000
    assert decode(body, "gzip") == Decoded(b"", "gzip")


def test_an_unknown_coding_cannot_be_applied() -> None:
    with pytest.raises(ValueError, match="'compress' is not known"):
        encode(PAGE, "compress")


@given(st.lists(st.binary(min_size=1, max_size=40)))
def test_chunks_are_joined(chunks: list[bytes]) -> None:
    coded = b"".join(b"%X;ext=1\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    assert dechunk(coded + b"0\r\n\r\n") == b"".join(chunks)
    assert dechunk(coded + b"0\r\nTrailer: 1\r\n\r\n") == b"".join(chunks)


@given(st.binary(max_size=60))
def test_dechunking_never_raises(body: bytes) -> None:
    dechunk(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"3\r\nabc\r\n",
        b"3\r\nabc",
        b"3\r\nabcd\r\n0\r\n\r\n",
        b"3\r\nabc\r\n0\r\n",
        b"-3\r\nabc\r\n0\r\n\r\n",
        b"3_0\r\n",
        b"0\r\n\r\nmore",
        b"0\r\na: b\r\n\r\nmore\r\n\r\n",
    ],
)
def test_what_is_not_exactly_chunked_is_none(body: bytes) -> None:
    assert dechunk(body) is None
