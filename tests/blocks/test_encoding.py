"""Which encoding a page is in: the standard's order, browsers' labels, a guess, and always an answer."""

import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.encoding import CODEC_OF_LABEL, WIDE, codec_of, decode, decode_as, encoding_of

RUSSIAN = "<p>Сегодня в городе хорошая погода, завтра ожидается дождь</p>"
CHINESE = "<p>今天天气很好，我们去公园散步，看见了许多美丽的花朵</p>"
TAIWANESE = "<p>今天天氣很好，我們去公園散步，看見了許多美麗的花朵</p>"
JAPANESE = "<p>きょうはとてもいい天気なので、みんなで公園へ散歩に行きました</p>"
KOREAN = "<p>오늘은 날씨가 아주 좋아서 우리는 공원으로 산책을 갔습니다</p>"


def meta(charset: str) -> str:
    return f'<html><head><meta http-equiv="Content-Type" content="text/html; charset={charset}"></head>'


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"", b"", "utf-8"),
        (b"<p>plain", b"text/html", "utf-8"),
        (b"\xef\xbb\xbf<p>", b"text/html; charset=gbk", "utf-8"),
        ("<p>ü".encode("utf-16"), b"", "utf-16-le"),
        ("<p>ü".encode("utf-16-be"), b"", "utf-16-be"),
        (b"<p>\xfc", b"text/html; charset=iso-8859-1", "cp1252"),
        (b"<p>\xfc", b'text/html; charset="ISO-8859-2"', "iso8859-2"),
        (b"<p>\xfc", b"text/html; charset=no-such", "cp1252"),
        (b'<meta charset="windows-1251"><p>\xef', b"text/html", "cp1251"),
        (b'<meta charset="windows-1251"><p>\xef', b"text/html; charset=koi8-r", "koi8-r"),
        (b'<!-- <meta charset="gbk"> --><meta charset=windows-1253><p>\xef', b"", "cp1253"),
        (b'<?xml version="1.0" encoding="iso-8859-15"?><p>\xa4', b"", "iso8859-15"),
        (b"<meta charset=utf-16><p>\xc3\xbc", b"", "utf-8"),
    ],
)
def test_the_mark_the_header_and_the_declaration_are_asked_in_that_order(
    body: bytes, content_type: bytes, expected: str
) -> None:
    assert encoding_of(body, content_type) == expected


def test_gb2312_is_read_as_gb18030() -> None:
    body = (meta("gb2312") + "镕€").encode("gb18030")  # neither is in GB 2312
    assert decode(body).endswith("镕€")


def test_latin_1_is_read_as_windows_1252() -> None:
    assert decode(b"\x93quoted\x94 \x81", b"text/html; charset=latin1") == "“quoted” \x81"


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (CHINESE, "gb18030"),
        (TAIWANESE, "big5hkscs"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc-jp"),
        (JAPANESE, "iso2022-jp"),
        (KOREAN, "cp949"),
        ("<p>Größe und Stärke", "cp1252"),
        (RUSSIAN, "utf-8"),
        (CHINESE, "utf-8"),
    ],
)
def test_an_undeclared_encoding_is_guessed(text: str, codec: str) -> None:
    assert decode(text.encode(codec)) == text


def test_valid_utf8_outweighs_a_single_byte_label() -> None:
    body = (meta("iso-8859-1") + "<p>naïve “quotes”").encode()
    assert decode(body).endswith("naïve “quotes”")


def test_short_chinese_that_happens_to_be_valid_utf8_keeps_its_label() -> None:
    body = "茅台".encode("gbk")
    assert body.decode() != "茅台"
    assert decode(body, b"text/html; charset=gbk") == "茅台"


def test_a_page_labelled_utf8_that_is_not_is_judged_by_its_bytes() -> None:
    assert decode((meta("utf-8") + CHINESE).encode("gb18030")).endswith(CHINESE)


def test_one_broken_byte_does_not_unmake_utf8() -> None:
    body = (meta("utf-8") + CHINESE).encode() + b"\xff"
    assert encoding_of(body) == "utf-8"


def test_every_label_names_a_codec_of_python() -> None:
    for codec in {*CODEC_OF_LABEL.values(), *WIDE}:
        assert codecs.lookup(codec)
    assert codec_of("x-no-such-thing") == ""


@given(
    st.binary(),
    st.binary(max_size=40) | st.sampled_from(sorted(CODEC_OF_LABEL)).map(lambda x: b"charset=" + x.encode()),
)
def test_any_bytes_are_decoded(body: bytes, content_type: bytes) -> None:
    assert isinstance(decode(body, content_type), str)


@given(st.binary(max_size=60), st.sampled_from(sorted({*CODEC_OF_LABEL.values(), *WIDE, "no-such", "base64"})))
def test_any_codec_decodes_any_bytes(data: bytes, codec: str) -> None:
    assert isinstance(decode_as(data, codec), str)


@pytest.mark.parametrize("unit", [b"\xff", b"\x81", b"<!--", b"<meta ", b"~{", b"\x1b$B\xff", b"<meta charset"])
def test_a_megabyte_of_garbage_takes_bounded_time(unit: bytes) -> None:
    body = unit * (1_000_000 // len(unit)) + b"\xff"
    start = time.process_time()
    decode(body, b"charset=windows-874")
    decode(body)
    assert time.process_time() - start < 3
