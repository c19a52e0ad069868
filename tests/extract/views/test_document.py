"""Content trees: kept passages under the lists, tables and headings they stand in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.default.reader import read_passages
from extract.views.document import Node, arrange, safe_url


def tree(source: str, kept: list[int] | None = None) -> Node:
    page = read_passages(source)
    return arrange(source, page, range(len(page)) if kept is None else kept, "https://a.test/b/")


def shape(node: Node | str) -> object:
    return node if isinstance(node, str) else (node.tag, *map(shape, node.children))


def test_items_of_one_list_stay_together() -> None:
    found = shape(tree("<ul><li>a<li>b<li>c</ul>", [0, 2]))
    assert found == ("article", ("ul", ("li", "a"), ("li", "c")))


def test_layout_tables_are_left_out_and_data_tables_kept() -> None:
    data = "<table><tr><td>k<td>v</table>"
    found = shape(tree(f"<table><tr><td>menu<td>{data}</table>"))
    assert found == ("article", ("p", "menu"), ("table", ("tr", ("td", "k"), ("td", "v"))))


def test_text_without_a_paragraph_gets_one() -> None:
    assert shape(tree("<div>a</div>b")) == ("article", ("p", "a"), ("p", "b"))


def test_images_between_kept_passages_come_along() -> None:
    found = shape(tree("<p>a</p><img src=x.png alt=X><img src=p.gif width=1><p>b</p>"))
    assert found == ("article", ("p", "a"), ("p", ("img",)), ("p", "b"))


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("x?a=1&amp;b=2", "https://a.test/b/x?a=1&b=2"),
        ("//c.test/", "https://c.test/"),
        ("mailto:a@b.test", "mailto:a@b.test"),
        ("javascript:alert(1)", ""),
        ("java\nscript:alert(1)", ""),
        (" &#106;avascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("vbscript:x", ""),
        ("http://[", ""),
        ("x" * 5000, ""),
    ],
)
def test_only_urls_that_do_nothing_by_themselves(url: str, safe: str) -> None:
    assert safe_url("https://a.test/b/", url) == safe


@given(st.text(alphabet="<>/pulidvtrahbsco=\"'&; x\n"))
def test_any_page_has_a_tree_with_all_its_words(source: str) -> None:
    page = read_passages(source)
    root = arrange(source, page, range(len(page)), "http://a.test/")
    wanted = "".join("".join(page.text).split())
    assert "".join("".join(root.text()).split()) == wanted


def test_deep_nesting_keeps_the_text() -> None:
    root = tree("<blockquote>" * 5000 + "deep")
    assert "".join(root.text()) == "deep"
