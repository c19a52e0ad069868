"""Passages: text between the boundaries of block-level elements, and the elements around it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.default.hints import FLAGS
from extract.default.passages import Passages
from extract.default.reader import read_passages


def inside(page: Passages, index: int) -> set[str]:
    flags = page.elements.flags[page.element[index]]
    return {name for bit, name in enumerate(FLAGS) if flags >> bit & 1}


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("one <b>two</b> three", ["one two three"]),
        ("<p>one<p>two", ["one", "two"]),
        ("<ul><li>a<li>b</ul>", ["a", "b"]),
        ("a<br>b<br><br>c", ["a\nb", "c"]),
        ("<td>a<td>b", ["a", "b"]),
        ("<pre>  x\n   y\n</pre>", ["  x\n   y"]),
        ("a &amp; b&nbsp;c", ["a & b c"]),
        ("<title>T</title><p>x", ["x"]),
        ("<head><meta name=a><p>body begins here", ["body begins here"]),
        ("<script>var p = '<p>no</p>'</script>yes", ["yes"]),
        ("<template><p>no</p></template>yes", ["yes"]),
        ("<ul><li><svg><path></li></ul><p>after an open drawing", ["after an open drawing"]),
        ("<noscript><iframe src=a /></noscript><p>after a frame", ["after a frame"]),
        ("<textarea>typed</textarea>shown", ["shown"]),
        ("", []),
        ("   \n ", []),
    ],
)
def test_the_passages_of_a_page(source: str, texts: list[str]) -> None:
    assert read_passages(source).text == texts


def test_a_passage_knows_its_place_in_the_source() -> None:
    source = "<div><p><a href=/x>One</a> two</p></div>"
    page = read_passages(source)
    assert source[page.start[0] : page.end[0]] == "One</a> two"
    assert source[page.opening[0] : page.end[0]] == "<a href=/x>One</a> two"


def test_links_around_blocks_are_links_of_each() -> None:
    page = read_passages("<a href=/card><h3>Title</h3><p>More</p></a><p>Else</p>")
    assert page.link_chars == [5, 4, 0]
    assert page.around == [" href=/card", " href=/card", ""]


def test_elements_end_where_html_says() -> None:
    page = read_passages("<table><tr><td><div>a</td><td>b</div>c</table>d")
    assert page.text == ["a", "bc", "d"]
    assert "table" in inside(page, 1)
    assert inside(page, 2) == set()


def test_hidden_elements_are_known() -> None:
    page = read_passages("<div hidden><p>a</div><div style='display: none'>b</div><p>c")
    assert ["hidden" in inside(page, index) for index in range(3)] == [True, True, False]


def test_equal_paths_for_equal_places() -> None:
    page = read_passages("<ul class='x1'><li>a</li><li>b</li></ul><ul class='x2'><li>c</ul><ol><li>d</ol>")
    paths = [page.elements.path[element] for element in page.element]
    assert paths[0] == paths[1] == paths[2] != paths[3]


def test_title_meta_and_structured_data_are_kept_aside() -> None:
    page = read_passages("<title>A &lt; B</title><meta name=a content=b><script type=application/ld+json>{}</script>")
    assert (page.title, page.meta, page.structured) == ("A < B", [" name=a content=b"], ["{}"])


@given(st.text(alphabet="<>/pdivulabrtse =\"'&;\n!-x"))
def test_any_source_has_passages_in_order(source: str) -> None:
    page = read_passages(source)
    columns = (page.start, page.end, page.opening, page.around, page.element, page.n_links, page.link_chars, page.inner)
    assert {len(column) for column in columns} == {len(page)}
    assert all(a < b for a, b in zip(page.start, page.end, strict=True))
    assert all(a <= b for a, b in zip(page.end, page.start[1:], strict=False))
    assert all(first <= last for first, last in zip(page.elements.first, page.elements.last, strict=True))


@pytest.mark.parametrize(
    "piece", ["<div>", "<p>", "<td>", "<li>x", "</p>", "<b>", "<div>x</p>", "<svg>", "<a>x", "<br>"]
)
def test_time_is_linear_for_hostile_nesting(piece: str) -> None:
    def seconds(n: int) -> float:
        spent = []
        for _ in range(3):
            begin = time.process_time()
            read_passages(piece * n)
            spent.append(time.process_time() - begin)
        return min(spent)

    # sixteen times as many; 256 would be quadratic, and what no longer fits the processor's memory is slower
    assert seconds(80_000) < 64 * max(seconds(5_000), 0.002)
