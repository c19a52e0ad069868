"""What the frame is given: no script, nothing to fetch, whatever the page is."""

import time

import lxml.html
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.dashboard.drawing import KINDS, drawn
from apps.site_blocks import Placed, blocks_of
from tests.store.conftest import page


@given(
    st.lists(
        st.sampled_from([b"<p>", b"<div", b"<script>", b"<style>", b"</", b'"', b"<!--", b">", b"\xff", b"\0", b"x"])
    )
)
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_drawn(parts: list[bytes]) -> None:
    blocks = blocks_of(page(body=b"".join(parts)))
    text = drawn(
        blocks,
        "utf-8",
        [KINDS[n % 3] for n in range(len(blocks))],
        [("yes", "no", "")[n % 3] for n in range(len(blocks))],
    )
    assert lxml.html.document_fromstring(text.replace("\0", "")).xpath("//script") == []


def test_blocks_are_marked_where_they_begin() -> None:
    blocks = blocks_of(page(body=b"<html><body><p class=x>one<P>two<div>three"))
    text = drawn(blocks, "utf-8", ["new", "known", "similar", "new"], ["", "yes", "no", "yes"])
    assert 'data-pm-kind="known" data-pm-content="yes" class="x"' in text
    assert 'data-pm-kind="similar" data-pm-content="no"' in text


@pytest.mark.parametrize(
    "body",
    [
        b'<img src="http://evil.test/x.png">',
        b'<img src="//evil.test/x" srcset="http://evil.test/y 2x">',
        b'<link rel="stylesheet" href="http://evil.test/x.css">',
        b'<style>@import "http://evil.test/x.css"; p { background: url(http://evil.test/y) }</style><p>x',
        b"<style>p { background: u\\72l(http://evil.test/y) }</style><p>x",
        b'<p style="background:url(http://evil.test/z)">x',
        b'<meta http-equiv="refresh" content="0;url=http://evil.test/">',
        b'<iframe src="http://evil.test/"></iframe>',
        b'<form action="http://evil.test/"><button>x</button></form>',
        b'<a href="http://evil.test/" ping="http://evil.test/">x</a>',
        b'<svg><image href="http://evil.test/x"/></svg>',
        b'<video poster="http://evil.test/x"></video>',
        b'<base href="http://evil.test/">',
    ],
)
def test_nothing_is_left_that_would_be_fetched(body: bytes) -> None:
    text = drawn(blocks_of(page(body=body)), "utf-8")
    for way in ("src=", "href=", "url(", "@import", "http-equiv", "action=", "poster=", "\\72"):
        assert way not in text


@pytest.mark.parametrize(
    "unit", [b"<div>", b"<b>", b"<div><select></div></select>", b"<style>", b"<a href='", b"<p><font>"]
)
def test_deep_and_broken_pages_take_little_time(unit: bytes) -> None:
    body = unit * (600_000 // len(unit))
    begin = time.process_time()
    drawn([Placed(0, body, "")], "utf-8")
    assert time.process_time() - begin < 5
