"""Selectors over a page's elements: what they describe, what they refuse, and any text at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.default.reader import read_passages
from extract.views.selectors import MAX_SELECTOR_CHARS, SelectorError, read_selectors, select

PAGE = """<body><nav class="top menu" id=menu><ul><li>one<li class=last>two</ul></nav>
<main><div data-kind="story long" lang=en-GB><p>text<div class="share bar"><p>share this</div></div>
<div id=comments><p>first!</div></main><footer>small print</footer>"""


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("nav", ["one two"]),
        ("#menu", ["one two"]),
        (".menu.top", ["one two"]),
        (".men", []),
        ("nav > li", []),
        ("nav li", ["one", "two"]),
        ("nav > ul > .last", ["two"]),
        ("main > div > div", ["share this"]),
        ("main div p", ["text", "share this", "first!"]),
        ("[data-kind~=long] p", ["text", "share this"]),
        ("[data-kind='story long']", ["text share this"]),
        ("[lang|=en]", ["text share this"]),
        ("[id^=com], footer", ["first!", "small print"]),
        ("[id$=ents]", ["first!"]),
        ("[id*=omm]", ["first!"]),
        ("[id*='']", []),
        ("*#comments", ["first!"]),
    ],
)
def test_a_selector_describes_elements(selector: str, expected: list[str]) -> None:
    passages = read_passages(PAGE)
    elements = passages.elements
    chosen = sorted(select(elements, read_selectors(selector)))
    assert [" ".join(passages.text[elements.first[e] : elements.last[e]]) for e in chosen] == expected


@pytest.mark.parametrize("text", ["", " ", ",", "a,", "a >", "> a", "a:hover", "a::before", "p + p", "[", "[x", "a{}"])
def test_what_is_no_selector_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(SelectorError, match="is no selector"):
        read_selectors(text)


def test_a_selector_has_a_bounded_length() -> None:
    with pytest.raises(SelectorError, match="at most"):
        read_selectors("a" * (MAX_SELECTOR_CHARS + 1))


@given(st.text(alphabet="ab*#.[]='\" >,~|^$:\\", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        selectors = read_selectors(text)
    except SelectorError:
        return
    assert selectors
    select(read_passages(PAGE).elements, selectors)
