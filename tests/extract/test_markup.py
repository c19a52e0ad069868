"""Tags and visible text with their places: what counts, what is hidden, and that any characters are read."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.markup import scan, visible_text

PIECES = """<p> </p> <b > < " ' = text ~ <!-- --> <![CDATA[ ]]> <script> </script> <title> </title~> <noscript>
</noscript> <a~href='x'> </~p> <?x> &amp;"""

pieces = st.lists(st.sampled_from([piece.replace("~", " ") for piece in PIECES.split()]), max_size=30).map("".join)


def visible(source: str) -> str:
    return visible_text(source, scan(source), 0, len(source))


@given(st.text() | pieces)
@settings(max_examples=200, deadline=None)
def test_tags_and_texts_are_in_order_and_do_not_overlap(source: str) -> None:
    found = scan(source)
    spans = sorted([(t.start, t.end) for t in found.tags] + [(t.start, t.end) for t in found.texts])
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert all(source[t.start] == "<" for t in found.tags)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", ""),
        ("a<b>c</b>d", "acd"),
        ("a<p>c</p>d", "a c d"),
        ("a<!-- <p> x -->b", "ab"),
        ("<title>no</title>a<script>if (a<b) 'x'</script>b<style>c</style>", "a b"),
        ("<noscript>no <b>no</b></noscript>a", "a"),
        ("1 < 2 &lt; 3", "1 < 2 < 3"),
        ("<a title='x > y'>z</a>", "z"),
        ("<a href=it's>z</a> it's", "z it's"),
        ("<xmp><b></xmp>", "<b>"),
        ("a<script>never closed", "a"),
        ("a <!-- never closed", "a"),
    ],
)
def test_visible_text(source: str, expected: str) -> None:
    assert visible(source) == expected


@pytest.mark.parametrize("unit", ["<", "<a '", '<a b="', "<!--", "<script>", "<a " + "= " * 9, "</", "<a b=c'", "&"])
def test_hostile_sources_are_read_in_one_pass(unit: str) -> None:
    source = unit * 100_000
    assert len(scan(source).tags) <= len(source)
