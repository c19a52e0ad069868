"""The element tree of a page, as lists in document order, every node with its place in the source.

A tolerant builder in the spirit of the HTML standard (section 13.2.6), not the whole of it: implied end tags, void
elements, end tags without a start are ignored, and an end tag inside a table does not close what is outside.
Parents come before their children, so a loop backwards over the nodes sums bottom-up without recursion; pages
nest as deep as they like.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from extract.markup import VOID, Scan, Tag, Text, attributes_of

TEXT = "#text"
DOCUMENT = "#document"

BLOCK_LEVEL = frozenset(
    {"address", "article", "aside", "blockquote", "center", "details", "dialog", "dd", "dir", "div", "dl", "dt"}
    | {"fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup"}
    | {"hr", "li", "main", "menu", "nav", "ol", "p", "pre", "section", "summary", "table", "ul"}
)
"""A start tag of these ends an open P (HTML, 13.1.2.4)."""

_LIST = ("ul", "ol", "menu", "dir", "table")
_CELL = ("td", "th")
_ROWS = ("tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup")

_CLOSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "li": (("li",), _LIST),
    "dt": (("dt", "dd"), ("dl", "table")),
    "dd": (("dt", "dd"), ("dl", "table")),
    "option": (("option",), ("select", "table")),
    "optgroup": (("option", "optgroup"), ("select", "table")),
    "td": (_CELL, ("table",)),
    "th": (_CELL, ("table",)),
    "tr": (("tr", *_CELL, "caption", "colgroup"), ("table",)),
    **dict.fromkeys(("tbody", "thead", "tfoot"), (_ROWS, ("table",))),
}
"""A start tag ends these open elements, unless one of those has been opened since."""

IN_HEAD = frozenset({"base", "link", "meta", "noscript", "script", "style", "template", "title", "object", "bgsound"})
"""What does not end a HEAD, and what often stands in one."""

_P_BARRIERS = ("table", *_CELL, "button", "caption", "object")


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes in document order; node 0 is the document. All lists have one length, n_nodes.

    `names` are element names in lower case, `#text` for text that is not all white space; `parents` are indices, -1
    for the document; `starts` and `ends` are offsets in the source, end tag included; `tags` is the start tag, None
    for text; `sizes` is the number of nodes in the subtree, the node itself included, so that
    `range(n + 1, n + sizes[n])` are below `n`.
    """

    names: list[str]
    parents: list[int]
    starts: list[int]
    ends: list[int]
    tags: list[Tag | None]
    sizes: list[int]

    def __len__(self) -> int:
        return len(self.names)

    def children(self) -> list[list[int]]:
        """Return the children of each node, in order."""
        found: list[list[int]] = [[] for _ in self.names]
        for node in range(1, len(self.names)):
            found[self.parents[node]].append(node)
        return found

    def attributes(self, node: int) -> dict[str, str]:
        """Return the attributes of a node; none for text."""
        tag = self.tags[node]
        return attributes_of(tag) if tag else {}


class _Builder:
    """Open elements, and for each name where in the stack its open ones are."""

    def __init__(self) -> None:
        self.tree = Tree([], [], [], [], [], [])
        self.stack: list[int] = []
        self.open: dict[str, list[int]] = {}

    def add(self, name: str, start: int, end: int, tag: Tag | None) -> int:
        tree = self.tree
        tree.names.append(name)
        tree.parents.append(self.stack[-1] if self.stack else -1)
        tree.starts.append(start)
        tree.ends.append(end)
        tree.tags.append(tag)
        tree.sizes.append(1)
        return len(tree.names) - 1

    def push(self, name: str, start: int, end: int, tag: Tag | None) -> None:
        node = self.add(name, start, end, tag)
        self.open.setdefault(name, []).append(len(self.stack))
        self.stack.append(node)

    def text(self, source: str, text: Text) -> None:
        if not source[text.start : text.end].isspace():
            self.end_head(TEXT, text.start)
            self.add(TEXT, text.start, text.end, None)

    def top(self, names: tuple[str, ...]) -> int:
        """Return the highest place in the stack of an open element of these names, -1 for none."""
        return max((self.open[name][-1] for name in names if self.open.get(name)), default=-1)

    def close(self, place: int, at: int) -> None:
        """Close the element at this place of the stack and all above it; they end at `at`."""
        tree = self.tree
        while len(self.stack) > place:
            node = self.stack.pop()
            self.open[tree.names[node]].pop()
            tree.ends[node] = max(at, tree.ends[node])
            tree.sizes[node] = len(tree.names) - node

    def imply(self, name: str, at: int) -> None:
        """Close what a start tag of this name ends."""
        self.end_head(name, at)
        if name in BLOCK_LEVEL and (place := self.top(("p",))) > self.top(_P_BARRIERS):
            self.close(place, at)
        if name in _CLOSES:
            closes, barriers = _CLOSES[name]
            barrier = self.top(barriers)
            places = [self.open[each][-1] for each in closes if self.open.get(each)]
            if lowest := min((place for place in places if place > barrier), default=0):
                self.close(lowest, at)

    def end_head(self, name: str, at: int) -> None:
        """Close an open HEAD before what cannot stand in it (HTML, 13.2.6.4.4): many a page does not close it."""
        places = self.open.get("head")
        if places and name not in IN_HEAD:
            self.close(places[0], at)

    def end_tag(self, tag: Tag) -> None:
        place = self.top((tag.name,))
        if place < 0 or (tag.name != "table" and place < self.top(("table",))):
            return
        self.tree.ends[self.stack[place]] = tag.end
        self.close(place + 1, tag.start)
        self.close(place, tag.end)


def build_tree(source: str, scanned: Scan) -> Tree:
    """Return the element tree of a scanned source; linear in the number of tags.

    >>> from extract.markup import scan
    >>> page = "<ul><li>one<li>two</ul><p>x<p>y"
    >>> build_tree(page, scan(page)).names
    ['#document', 'ul', 'li', '#text', 'li', '#text', 'p', '#text', 'p', '#text']
    """
    builder = _Builder()
    builder.push(DOCUMENT, 0, len(source), None)
    texts, n_texts, at = scanned.texts, len(scanned.texts), 0
    for tag in scanned.tags:
        while at < n_texts and texts[at].start < tag.start:
            builder.text(source, texts[at])
            at += 1
        if tag.closing:
            builder.end_tag(tag)
            continue
        builder.imply(tag.name, tag.start)
        if tag.name in VOID or tag.attributes.endswith("/"):
            builder.add(tag.name, tag.start, tag.end, tag)
        else:
            builder.push(tag.name, tag.start, tag.end, tag)
    for text in texts[at:]:
        builder.text(source, text)
    builder.close(0, len(source))
    return builder.tree


def innermost(tree: Tree, names: Collection[str], offsets: Sequence[int]) -> list[int]:
    """Return for each ascending offset the innermost node of these names around it, 0 for none. Linear."""
    nodes = [node for node, name in enumerate(tree.names) if name in names]
    stack, at, found = [0], 0, []
    for offset in offsets:
        while at < len(nodes) and tree.starts[nodes[at]] <= offset:
            while len(stack) > 1 and tree.ends[stack[-1]] <= tree.starts[nodes[at]]:
                stack.pop()
            stack.append(nodes[at])
            at += 1
        while len(stack) > 1 and tree.ends[stack[-1]] <= offset:
            stack.pop()
        found.append(stack[-1])
    return found
