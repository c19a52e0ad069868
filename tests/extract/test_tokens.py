"""Tokens of a page's markup, and their places."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.tokens import TOKEN, attributes


def names(source: str) -> list[str]:
    return [
        m["start"] or m["raw"] or ("/" + m["end"] if m["end"] else m.lastgroup or "-") for m in TOKEN.finditer(source)
    ]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>a</P>", ["p", "/P"]),
        ('<a title="1 > 2" href=x>', ["a"]),
        ("<a title='>'>", ["a"]),
        ("<!-- <p> --><b>", ["other", "b"]),
        ("<script>if (a < b) '<p>'</script><i>", ["script", "/script", "i"]),
        ("<script>never ended <p>", ["script"]),
        ("<![CDATA[<p>", ["other"]),
        ("<![CDATA[ a > <p>", ["other", "p"]),
        ("<noscript><iframe src=x /></noscript><p>", ["noscript", "frame", "/noscript", "p"]),
        ("1 < 2 <3", []),
        ("<p", ["p"]),
        ("</>x", ["other"]),
    ],
)
def test_what_is_markup(source: str, found: list[str]) -> None:
    assert names(source) == found


def test_attributes_as_written() -> None:
    assert list(attributes(" A=1 b='x y' c d=\"q'\"")) == [("a", "1"), ("b", "x y"), ("c", ""), ("d", "q'")]


@given(st.text(alphabet="<>/!-ab='\" \n&;scriptSTYLE[CDATA]"))
def test_tokens_do_not_overlap(source: str) -> None:
    at = 0
    for match in TOKEN.finditer(source):
        assert match.start() >= at
        assert match.end() > match.start()
        at = match.end()


@pytest.mark.parametrize(
    "piece", ["<", "<a ", "<a =", "<a b='", "<!--", "<script>", "</", "<iframe>", '<a b="', '<a/="']
)
def test_time_is_linear_for_hostile_markup(piece: str) -> None:
    def seconds(n: int) -> float:
        source, spent = piece * n, []
        for _ in range(3):
            begin = time.process_time()
            for _ in TOKEN.finditer(source):
                pass
            spent.append(time.process_time() - begin)
        return min(spent)

    assert seconds(160_000) < 64 * max(seconds(10_000), 0.002)  # sixteen times as many; 256 would be quadratic
