"""The tags that `find_tags` finds at once are those a tokenizer finds that walks the page rule by rule."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blocks.tags import RAW_TEXT, find_tags
from tests.blocks.hostile import HOSTILE

TAG_SET = ("table", "p", "div")

WHITE = b" \t\r\n\f"
_OPENER = re.compile(rb"<[a-zA-Z/!?]")

PIECES = (
    *(b"<p>", b"</p>", b"<P class=x>", b"<div", b"</div ", b"<table/>", b"<p-x>", b"<param>", b"</>", b"</ p>"),
    *(b'<a title="<p>">', b"<a title='>'>", b"<a b=c'd>", b"<a b='\"'>", b"<a = >", b'<a b=="c>', b'b="', b"b='"),
    *(b"<!--", b"-->", b"--!>", b"<!-->", b"<!--->", b"<!-", b"<!\r\r", b"-", b"<!doctype p>", b"<?p ?>"),
    *(b"<![CDATA[", b"<![cdata[", b"<!{cdata{", b"]]>", b"<script>", b"</script>", b"</Script ", b"</scripts>"),
    *(b"<style/>", b"</style", b"<title>", b"</title>", b"<textarea '>", b"<xmp", b"<iframe>", b"</iframe>"),
    *(b"<", b">", b"/", b"=", b'"', b"'", b" ", b"\n", b"\0", b"\xff", b"text"),
)

markup = st.lists(st.sampled_from(PIECES), max_size=25).map(b"".join)
letters = st.lists(st.sampled_from([b"%c" % byte for byte in b"<>/!-[]='\" \rpPdiv"]), max_size=25).map(b"".join)


def walked(text: bytes) -> tuple[list[int], list[int]]:
    """Return the places and kinds of the tags, one piece of markup after the other."""
    places, kinds, at = [], [], 0
    while (at := text.find(b"<", at)) >= 0:
        tag = re.compile(rb"<(/?)([a-zA-Z][^ \t\r\n\f/>]*)").match(text, at)
        if tag is None:
            at = _end_of_other(text, at)
            continue
        end = _end_of_tag(text, at)
        name = tag[2].decode("latin-1").lower() if tag.end() < len(text) else ""
        if name in TAG_SET:
            places.append(end if tag[1] else at)
            kinds.append(2 * TAG_SET.index(name) + bool(tag[1]))
        elif name in RAW_TEXT and not tag[1]:
            closing = re.compile(rb"(?i)</%s[ \t\r\n\f/>]" % name.encode()).search(text, end)
            end = closing.start() if closing else len(text)
        at = end
    return places, kinds


def _end_of_other(text: bytes, at: int) -> int:
    """Return where a comment or a declaration ends; a `<` that opens nothing ends at once."""
    if text.startswith((b"<!-->", b"<!--->"), at):
        return text.index(b">", at) + 1
    if text.startswith(b"<!--", at):
        return _after(text, at + 4, b"-->", b"--!>")
    return _after(text, at, b">") if text[at + 1 : at + 2] in (b"!", b"?", b"/") else at + 1


def _after(text: bytes, at: int, *ends: bytes) -> int:
    """Return where the first of some ends is over, or the text is."""
    return min((found + len(end) for end in ends if (found := text.find(end, at)) >= 0), default=len(text))


def _end_of_tag(text: bytes, at: int) -> int:
    """Return where a tag ends: at a `>` outside values, or at the next when nothing before it makes that doubtful."""
    end = _after(text, at, b">")
    n_quotes = text.count(b'"', at, end), text.count(b"'", at, end)
    if text[end - 1 : end] == b">" and 0 in n_quotes and not (sum(n_quotes) & 1 or _OPENER.search(text, at + 1, end)):
        return end
    while at < len(text) and text[at] != ord(">"):
        at += 1
        if text[at - 1] == ord("="):
            at = _end_of_value(text, at)
    return min(at + 1, len(text))


def _end_of_value(text: bytes, at: int) -> int:
    while text[at : at + 1] and text[at] in WHITE:
        at += 1
    if text[at : at + 1] in (b'"', b"'"):
        return _after(text, at + 1, text[at : at + 1])
    while text[at : at + 1] and text[at] not in WHITE + b">":
        at += 1
    return at


def found_in(text: bytes) -> tuple[list[int], list[int]]:
    tags = find_tags(text, TAG_SET)
    return tags.places, tags.kinds


@given(markup | letters)
@example(b"<!\r\r<p>")
@example(b"<![CDATA[' <p>]]><p title='>'>")
@example(b"<script></script x='>'><p>")
@example(b"<!-- ' --><p title='>'>")
@example(b"<!-- > <p> -->")
@example(b"<!-- -> <p> -->")
@example(b"<script></style><p></script>")
def test_the_tags_are_those_of_a_tokenizer(text: bytes) -> None:
    assert found_in(text) == walked(text)


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_the_tags_of_hostile_pages_are_those_of_a_tokenizer(name: str) -> None:
    text = HOSTILE[name][:20_000] + b"<p>" + HOSTILE[name][-100:] + b"'\"--></script><p>"
    assert found_in(text) == walked(text)


@pytest.mark.parametrize(
    "ended", [b"<!\r\r<i>", b"<!-\r>", b"<!\r->", b"<![CDATA[>", b"<![CDATA[']]>", b"<![cdata[<p>"]
)
def test_what_only_resembles_a_comment_ends_like_a_declaration(ended: bytes) -> None:
    assert found_in(ended + b"<p>") == ([len(ended)], [2 * TAG_SET.index("p")])
