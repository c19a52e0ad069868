"""GetBlockSet over original bytes: where it cuts, what it keeps, and that it never fails."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blocks.partition import PARTITIONING_TAGS, partition

PAPER = ("table", "tr", "p", "hr", "ul", "div", "span")

markup = st.lists(
    st.sampled_from(
        [
            *(b"<%s>" % t.encode() for t in PAPER),
            *(b"</%s>" % t.encode() for t in PAPER),
            *(b"<TABLE>", b"<Div class='a>b'>", b'<p title="<div>">', b"<a href=x>", b"</a >", b"<b"),
            *(
                b"<!--",
                b"-->",
                b"<!-->",
                b"<![CDATA[",
                b"]]>",
                b"<script>",
                b"</script>",
                b"<title>",
                b"</title >",
            ),
            *(
                b"text ",
                b"<",
                b">",
                b'"',
                b"'",
                b"=",
                b" ",
                b"/",
                b"\xff",
                b"<!doctype html>",
                b"<?php ?>",
                b"</>",
            ),
        ]
    ),
    max_size=30,
).map(b"".join)


def pieces(body: bytes, tag_set: tuple[str, ...] = PAPER) -> list[bytes]:
    return partition(body, tag_set).pieces()


@given(st.binary() | markup)
@example(b"\xff\xfe<\x00p\x00>\x00x")
def test_joined_blocks_are_the_page(body: bytes) -> None:
    blocks = partition(body).blocks()
    assert b"".join(block.data for block in blocks) == body


@given(markup)
def test_no_block_is_empty_but_the_block_of_an_empty_page(body: bytes) -> None:
    assert all(pieces(body)) or body == b""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", [b""]),
        (b"no markup", [b"no markup"]),
        (b"a<p>b<p>c", [b"a", b"<p>b", b"<p>c"]),
        (b"a<p>b</p>c", [b"a", b"<p>b</p>", b"c"]),
        (b"a<hr>b</hr>c", [b"a", b"<hr>b</hr>c"]),
        (b"<ul><li>a</ul>b", [b"<ul><li>a</ul>", b"b"]),
        (b"<TABLE><Tr><td>a</tAbLe>b", [b"<TABLE>", b"<Tr><td>a</tAbLe>", b"b"]),
        (b"a</div>b", [b"a</div>b"]),  # a stray end tag ends nothing
        (b"<div>a<div>b</div>c</div>d", [b"<div>a", b"<div>b</div>", b"c</div>", b"d"]),
        (b"<p>a<p>b</p>c</p>d", [b"<p>a", b"<p>b</p>", b"c</p>d"]),  # a P ends the P before it
        (b"<pre>a<param>b</pre>", [b"<pre>a<param>b</pre>"]),  # names are compared whole
        (b"<p-x>a<p:x>b", [b"<p-x>a<p:x>b"]),
        (b"<![CDATA[a<p><p>b", [b"<![CDATA[a<p>", b"<p>b"]),
        (b"<p/>a<p\n>b<p\tc>d", [b"<p/>a", b"<p\n>b", b"<p\tc>d"]),
    ],
)
def test_cuts(body: bytes, expected: list[bytes]) -> None:
    assert pieces(body) == expected


@pytest.mark.parametrize(
    "whole",
    [
        b"<!-- <p> -->",
        b"<!--><i>",
        b"<!-- <p> --!>",
        b"<!-- a -- <p> -->",
        b"<!-- never closed <p> ",
        b"<script>if (a<b) document.write('<p></p>')</script>",
        b"<script><!-- <p> --></script>",
        b"<SCRIPT type='a>b'>'<p>'</SCRIPT >",
        b"<style>p > a::before {content: '<p>'}</style>",
        b"<textarea><p></textarea>",
        b"<title>a <p> b</title>",
        b"<title>never closed <p> ",
        b'<a title="x > <p> y">',
        b"<a title='<p>'>",
        b'<a title = "<p> it\'s">',
        b'<a title="a>b" alt="c>d<p>e">',
        b"<a title='\"' alt='\"<p>\"'>",
        b"<a href=it's><b>",
        b'<a title="never closed <p> ',
        b"<!doctype html [ <!element p> ]>",
        b"<?xml version='1.0'?>",
        b"</ p>",
    ],
)
def test_what_is_no_markup_is_not_cut(whole: bytes) -> None:
    assert pieces(whole) == [whole]


@pytest.mark.parametrize(
    "ended", [b"<!-->", b"<!--->", b"<!-- -->", b"<script></script>", b'<a b=c"d>', b"<![CDATA[]]>", b"<!x>"]
)
def test_markup_begins_again_after_it(ended: bytes) -> None:
    assert pieces(ended + b"<p>x") == [ended, b"<p>x"]


def test_the_order_of_the_tag_set_matters() -> None:
    """Cut at TABLE first, the DIV around it lies in three blocks, and its end tag ends nothing."""
    body = b"<div>a<table>b</table>c</div>d"
    assert pieces(body, ("table", "div")) == [b"<div>a", b"<table>b</table>", b"c</div>d"]
    assert pieces(body, ("div", "table")) == [b"<div>a", b"<table>b</table>", b"c</div>", b"d"]


def test_nested_tables_are_cut_breadth_first() -> None:
    body = b"<table><tr><td>a<table><tr><td>b</table>c</table>d"
    parts = partition(body, PAPER)
    assert parts.pieces() == [b"<table>", b"<tr><td>a", b"<table>", b"<tr><td>b</table>", b"c</table>", b"d"]
    assert list(zip(parts.ranks, parts.depths, strict=True)) == [
        (-1, 0),
        (1, 0),
        (0, 1),
        (1, 0),
        (0, 1),
        (0, 0),
    ]


def test_the_blocks_know_their_tags() -> None:
    assert partition(b"a<P>b</p>c<div><table>").tags == ["", "p", "", "div", "table"]


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_wide_encodings_are_cut_between_characters(coding: str) -> None:
    page = "<i>žluť</i><p>kůň</p><p title='a>b'>漢字"
    parts = pieces(page.encode(coding))
    text = [
        part.decode(
            coding
            if i == 0
            else coding.replace("utf-16", "utf-16-le")
            if coding == "utf-16"
            else "utf-32-le"
            if coding == "utf-32"
            else coding
        )
        for i, part in enumerate(parts)
    ]
    assert text == ["<i>žluť</i>", "<p>kůň</p>", "<p title='a>b'>漢字"]


def test_a_window_may_end_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"<div class='x'>a<!-- <p> --><p>b</p><script>'<p>'</script></div><table><tr><td>c</table>" * 3
    expected = pieces(body)
    for size in range(1, 40):
        monkeypatch.setattr("blocks.tags.WINDOW_BYTES", size)
        assert pieces(body) == expected


@given(markup)
def test_every_cut_is_at_a_tag_of_the_set(body: bytes) -> None:
    names = "|".join(PARTITIONING_TAGS)
    before = re.compile(rf"</(?:{names})[^>]*>$|</(?:{names})[\s/][\s\S]*>$".encode(), re.IGNORECASE)
    after = re.compile(rf"<(?:{names})[\s/>]".encode(), re.IGNORECASE)
    parts = partition(body)
    for at in parts.starts[1:-1]:
        assert after.match(body, at) or before.search(body, 0, at)


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 100000,
        b"<table><tr><td><p>" * 50000,
        b"<" * 1000000,
        b"<!--" * 200000,
        b'<a b="' * 200000,
        b"<a " + b"= " * 400000,
        b"</div>" * 200000,
        b"<script>" * 100000,
        b"<a<p" * 200000,
        b"<p '" * 200000,
    ],
)
def test_hostile_pages_are_cut_like_others(body: bytes) -> None:
    assert b"".join(pieces(body)) == body


@pytest.mark.parametrize("tag_set", [(), ("h1.",), ("",), ("toolonganame",)])
def test_a_tag_set_of_no_elements_is_refused(tag_set: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="tag-set"):
        partition(b"<p>", tag_set)
