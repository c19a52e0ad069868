"""A content tree as Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.default.reader import read_passages
from extract.views.document import arrange
from extract.views.markdown import escape, markdown


def written(source: str) -> str:
    page = read_passages(source)
    return markdown(arrange(source, page, range(len(page)), "http://a.test/dir/page"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<h2>Title <i>x</i></h2><p>Text", "## Title *x*\n\nText\n"),
        ("<p>a <b>bold </b>word, <a href=x>a link</a>", "a **bold** word, [a link](http://a.test/dir/x)\n"),
        ("<ul><li>one<li>two<ul><li>inner</ul></ul>", "- one\n- two\n  - inner\n"),
        ("<ol><li>one<li>two</ol>", "1. one\n2. two\n"),
        ("<pre>x = `1`\n  y</pre>", "```\nx = `1`\n  y\n```\n"),
        ("<p>call <code>f(`x`)</code>", "call ``f(`x`)``\n"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b\n"),
        (
            "<table><tr><th>A<th>B<tr><td>1|2<td>3</table>",
            "| A | B |\n| --- | --- |\n| 1\\|2 | 3 |\n",
        ),
        ("<table><tr><td>alone</table>", "alone\n"),
        ("<p>a<br>b", "a\\\nb\n"),
        ("<p>see <img src=/i.png alt='a [b]'> here", "see ![a \\[b\\]](http://a.test/i.png) here\n"),
        ("<p><a href='javascript:alert(1)'>no</a> way", "no way\n"),
        ("<p>1. no list", "1\\. no list\n"),
        ("<p># no heading", "\\# no heading\n"),
        ("<p>&lt;script>", "\\<script>\n"),
        ("<dl><dt>term<dd>meaning</dl>", "term\n: meaning\n"),
    ],
)
def test_elements_in_markdown(source: str, expected: str) -> None:
    assert written(source) == expected


def test_words_with_underscores_stay_readable() -> None:
    assert escape("snake_case and _emphasis_") == "snake_case and \\_emphasis\\_"


@given(st.text(alphabet="abc *_`[]<>#-+1.|&;\n\\!~"))
def test_escaping_loses_no_character(text: str) -> None:
    assert escape(text).replace("\\", "") == text.replace("\\", "")
