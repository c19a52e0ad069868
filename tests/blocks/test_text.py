"""Text and terms of blocks: what counts as text, in any encoding, in bounded time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.encoding import CODEC_OF_LABEL, WIDE
from blocks.text import terms, text_of, texts
from tests.blocks.hostile import HOSTILE

PIECES = rb"""<p> </p> <script> </script> <STYLE|a> </Style|> <!-- --> <a|t=' " '> text | < > &amp; & <b|title="a>b">"""
pieces = [*(piece.replace(b"|", b" ") for piece in PIECES.split()), b"\0\xff", "ü".encode(), "网页".encode()]
markup = st.lists(
    st.sampled_from(pieces),
    max_size=20,
).map(b"".join)
"""Markup as a hostile page might have it, cut anywhere."""


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"", ""),
        (b"<p>Hello <b>big</b>\n\t world", "Hello big world"),
        (b"one<br>two</td><td>three", "one two three"),
        (b"a<script>no(a<b)</script>b<style>p {}</style>c", "a b c"),
        (b"<SCRIPT type='>'>no</scripts></ScRiPt >yes", "yes"),
        (b"a<!-- <p>no --> b <!-->c", "a b c"),
        (b"a <!-- open", "a"),
        (b"a <script> open", "a"),
        (b"<a title='x > y' href=\"<b>\">link</a>", "link"),
        (b"a < b & c > d", "a < b & c > d"),
        (b"<!doctype html><?xml ?>x</ >y", "x y"),
        (b"caf&eacute; &#8364;&nbsp;5 &amp;lt; &unknown;", "café € 5 &lt; &unknown;"),
    ],
)
def test_text_is_what_stands_outside_of_markup(block: bytes, expected: str) -> None:
    assert text_of(block) == expected


def test_what_a_block_leaves_open_does_not_reach_the_next() -> None:
    assert texts([b"a<!-- b", b"c<script>d", b"e<a f='", b"g"]) == ["a", "c", "e", "g"]


@pytest.mark.parametrize("codec", ["gb18030", "cp932", "euc-jp", "utf-16-le", "utf-8", "iso2022-jp"])
def test_a_block_is_read_in_its_pages_encoding(codec: str) -> None:
    assert texts(["<p>日本".encode(codec), "<p>東京".encode(codec)], codec) == ["日本", "東京"]


@given(st.lists(st.binary() | markup, max_size=4), st.sampled_from(sorted({*CODEC_OF_LABEL.values(), *WIDE})))
def test_blocks_together_read_as_one_by_one(blocks: list[bytes], codec: str) -> None:
    assert texts(blocks, codec) == [text_of(block, codec) for block in blocks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Don't stop: 2 hits.", ["don", "t", "stop", "2", "hits"]),
        ("Größe ÉTÉ", ["größe", "été"]),
        ("网页缓存", ["网页", "页缓", "缓存"]),
        ("在 abc网页", ["在", "abc", "网页"]),
        ("한국어", ["한국", "국어"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
    ],
)
def test_terms_are_words_or_pairs_of_characters(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_block_takes_bounded_time(name: str) -> None:
    start = time.process_time()
    terms(text_of(HOSTILE[name]))
    assert time.process_time() - start < 3
