"""The element tree: what closes what, and that spans nest whatever the source."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.markup import scan
from extract.tree import Tree, build_tree

NAMES = ("p", "div", "li", "ul", "table", "tr", "td", "b", "br", "option", "select", "dd", "dl")

markup = st.lists(
    st.sampled_from(
        [f"<{name}>" for name in NAMES] + [f"</{name}>" for name in NAMES] + ["x", "<b/>", "<", "<script>"]
    ),
    max_size=40,
).map("".join)


def tree_of(source: str) -> Tree:
    return build_tree(source, scan(source))


def shape(tree: Tree, node: int = 0) -> str:
    inner = "".join(shape(tree, child) for child in tree.children()[node])
    name = "x" if tree.names[node] == "#text" else tree.names[node]
    return f"{name}({inner})" if inner else name


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", "#document"),
        ("<p>a<p>b", "#document(p(x)p(x))"),
        ("<p>a<div>b</div>c", "#document(p(x)div(x)x)"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "#document(ul(li(xul(li(x)))li(x)))"),
        ("<table><tr><td>a<td>b<tr><td>c</table>d", "#document(table(tr(td(x)td(x))tr(td(x)))x)"),
        ("<table><tr><td><table><tr><td>a</table>b</table>", "#document(table(tr(td(table(tr(td(x)))x))))"),
        ("<div><table><tr><td></div>a</table>b</div>", "#document(div(table(tr(td(x)))x))"),
        ("<b>a<br>c</b></b>d", "#document(b(xbrx)x)"),
        ("<script>a<b</script>c", "#document(scriptx)"),
        ("<head><title>t</title><script>s</script><body>a", "#document(head(titlescript)body(x))"),
        ("<head><meta>a<head>b<p>c", "#document(head(meta)xheadxp(x))"),
    ],
)
def test_trees(source: str, expected: str) -> None:
    assert shape(tree_of(source)) == expected


@given(markup)
@settings(max_examples=100, deadline=None)
def test_a_node_lies_in_its_parent(source: str) -> None:
    tree = tree_of(source)
    for node in range(1, len(tree)):
        parent = tree.parents[node]
        assert parent < node < parent + tree.sizes[parent]
        assert tree.starts[parent] <= tree.starts[node] <= tree.ends[node] <= tree.ends[parent]


@pytest.mark.parametrize("unit", ["<div>", "<table><tr><td>", "<p></b>", "</div>", "<li></td>", "<b><table></b>"])
def test_deep_and_broken_pages_cost_no_more_than_others(unit: str) -> None:
    assert len(tree_of(unit * 50_000)) <= 3 * 50_000 + 1
