"""The content of a page as a small tree of known elements: what every format is written from.

Kept passages are put under the lists, tables, quotations and headings they stand in; everything else about their
place (divisions, classes, scripts) is left behind. Attributes are only links and images, their URLs absolute.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urljoin

from extract.default.passages import Passages
from extract.tokens import TOKEN, attributes

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
CONTAINERS = frozenset(["ul", "ol", "dl", "blockquote", "table", "tr", "figure"])
LEAVES = frozenset(("p", "li", "dt", "dd", "td", "th", "pre", "caption", "figcaption", *HEADINGS))
_ALSO = {"summary": "p", "address": "p", "legend": "p", "menu": "ul", "dir": "ul", "listing": "pre", "xmp": "pre"}
_TABLE = frozenset(["table", "tr", "td", "th", "caption"])

INLINE = {
    **{name: name for name in ("a", "code", "sup", "sub", "q", "mark", "ruby", "rt")},
    "b": "strong",
    "strong": "strong",
    "i": "em",
    "em": "em",
    "cite": "em",
    "dfn": "em",
    "kbd": "code",
    "samp": "code",
    "tt": "code",
    "var": "em",
    "s": "del",
    "strike": "del",
    "del": "del",
    "ins": "ins",
}
"""Inline elements that are kept, and the name they are kept by."""

MAX_DEPTH = 24
"""Containers within each other that are kept; deeper ones are left out, not their text."""

MAX_INLINE_DEPTH = 8
MAX_URL_CHARS = 4096
MAX_CELL_WORDS = 60
"""A table whose cells have more words on average is layout."""


@dataclass(slots=True)
class Node:
    """An element of the content tree; `passage` is the passage a leaf was made of, -1 for containers."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["Node | str"] = field(default_factory=list)

    def text(self) -> Iterator[str]:
        """Yield the pieces of text inside, in order."""
        for child in self.children:
            if isinstance(child, str):
                yield child
            elif child.tag == "br":
                yield "\n"
            else:
                yield from child.text()


def safe_url(base: str, url: str) -> str:
    """Return an absolute http, https or mailto URL, empty for any other."""
    url = unescape(url).strip()[: MAX_URL_CHARS + 1]
    if not url or len(url) > MAX_URL_CHARS:
        return ""
    url = "".join(char for char in url if char > " " and char != "\x7f")
    try:
        absolute = urljoin(base, url)
    except ValueError:
        return ""
    return absolute if absolute.lower().startswith(("http://", "https://", "mailto:")) else ""


def arrange(source: str, page: Passages, kept: Sequence[int], base: str) -> Node:
    """Return the tree of the kept passages, given by index in order; the root's tag is `article`."""
    return _Arranger(source, page, kept, base).tree()


class _Arranger:
    def __init__(self, source: str, page: Passages, kept: Sequence[int], base: str) -> None:
        self.source, self.page, self.kept, self.base = source, page, kept, base
        self.container, self.depth = self._containers()
        self.root = Node("article")
        self.open: list[tuple[int, Node]] = []

    def _containers(self) -> tuple[list[int], list[int]]:
        """Return for each element the nearest kept element around it, itself included, and their number."""
        elements = self.page.elements
        layout = self._layout_tables()
        container, depth, table = [0], [0], [0]
        for index in range(1, len(elements.name)):
            up = elements.parent[index]
            name = _ALSO.get(elements.name[index], elements.name[index])
            around = index if name == "table" else table[up]
            table.append(around)
            known = name in CONTAINERS or name in LEAVES
            if not known or depth[up] >= MAX_DEPTH or (name in _TABLE and around in layout):
                container.append(container[up])
                depth.append(depth[up])
            else:
                container.append(index)
                depth.append(depth[up] + 1)
        return container, depth

    def _layout_tables(self) -> set[int]:
        """Return the tables that only place things: nested, of one column, or with long cells; 0 is no table."""
        elements, page = self.page.elements, self.page
        table, layout = [0], {0}
        rows: dict[int, int] = {}
        cells: dict[int, int] = {}
        for index in range(1, len(elements.name)):
            name, up = elements.name[index], elements.parent[index]
            if name == "table":
                layout.add(table[up])
            table.append(index if name == "table" else table[up])
            if name == "tr":
                rows[table[up]] = rows.get(table[up], 0) + 1
            elif name in ("td", "th"):
                cells[table[up]] = cells.get(table[up], 0) + 1
        words: dict[int, int] = {}
        for passage in self.kept:
            at = table[page.element[passage]]
            words[at] = words.get(at, 0) + page.text[passage].count(" ") + 1
        for at, n_cells in cells.items():
            if n_cells < 2 * rows.get(at, 1) - 1 or n_cells < 2 or words.get(at, 0) > MAX_CELL_WORDS * n_cells:
                layout.add(at)
        return layout

    def tree(self) -> Node:
        """Return the root with everything under it."""
        last = None
        for passage in self.kept:
            if last is not None and passage == last + 1:
                self._images(self.page.end[last], self.page.opening[passage])
            self._place(passage)
            last = passage
        return self.root

    def _chain(self, element: int) -> list[int]:
        chain = []
        element = self.container[element]
        while element:
            chain.append(element)
            element = self.container[self.page.elements.parent[element]]
        return chain[::-1]

    def _place(self, passage: int) -> None:
        names = self.page.elements.name
        chain = self._chain(self.page.element[passage])
        same = 0
        while same < min(len(chain), len(self.open)) and chain[same] == self.open[same][0]:
            same += 1
        del self.open[same:]
        for element in chain[same:]:
            node = Node(_ALSO.get(names[element], names[element]))
            (self.open[-1][1] if self.open else self.root).children.append(node)
            self.open.append((element, node))
        inside = self.open[-1][1] if self.open else self.root
        if inside.tag not in LEAVES or inside.children:
            if inside.tag == "pre" or inside.tag in HEADINGS or inside.tag == "p":
                inside.children.append(Node("br"))
            else:
                inside.children.append(Node("p"))
                inside = inside.children[-1]  # type: ignore[assignment]
        self._inline(inside, passage)

    def _inline(self, leaf: Node, passage: int) -> None:
        page = self.page
        start, end = page.opening[passage], page.end[passage]
        _Inline(leaf, self.base, keep_space=leaf.tag == "pre").fill(self.source[start:end], page.around[passage])

    def _images(self, start: int, end: int) -> None:
        """Add the images that stand between two passages kept one after the other."""
        if "<" not in self.source[start:end]:
            return
        for match in TOKEN.finditer(self.source, start, end):
            if match.lastgroup == "attributes" and match["start"].lower() == "img":
                image = image_of(match["attributes"], self.base)
                if image is not None:
                    self.root.children.append(Node("p", {}, [image]))
                    self.open.clear()


def image_of(source: str, base: str) -> Node | None:
    """Return an image by the attributes of its tag, None without a URL to fetch or with the size of a pixel."""
    found = dict(reversed(list(attributes(source))))
    if found.get("width") in ("0", "1") or found.get("height") in ("0", "1"):
        return None
    for name in ("data-src", "data-original", "data-lazy-src", "src"):
        if url := safe_url(base, found.get(name, "")):
            if url.startswith("mailto:"):
                return None
            return Node("img", {"src": url, "alt": " ".join(unescape(found.get("alt", "")).split())[:500]})
    return None


class _Inline:
    """Fills a leaf with the text and the inline elements of one passage's source."""

    def __init__(self, leaf: Node, base: str, keep_space: bool) -> None:
        self.stack = [leaf]
        self.base = base
        self.keep_space = keep_space

    def fill(self, source: str, around: str) -> None:
        """Add a passage; `around` are the attributes of a link that it stands in."""
        leaf, at = self.stack[0], 0
        if around:
            self._start("a", around)
        for match in TOKEN.finditer(source):
            self._text(source[at : match.start()])
            at = match.end()
            if match.lastgroup == "attributes":
                self._start(match["start"].lower(), match["attributes"])
            elif match.lastgroup == "end":
                self._end(match["end"].lower())
        self._text(source[at:])
        _trim(leaf, self.keep_space)

    def _text(self, piece: str) -> None:
        if not piece:
            return
        text = unescape(piece) if "&" in piece else piece
        if not self.keep_space:
            inner = " ".join(text.split())
            text = (" " if text[:1].isspace() else "") + inner + (" " if inner and text[-1:].isspace() else "")
        self.stack[-1].children.append(text)

    def _start(self, name: str, source: str) -> None:
        if name == "br":
            self.stack[-1].children.append(Node("br"))
        elif name == "img":
            image = image_of(source, self.base)
            if image is not None:
                self.stack[-1].children.append(image)
        elif name in INLINE and len(self.stack) < MAX_INLINE_DEPTH:
            node = Node(INLINE[name])
            if name == "a":
                self._end("a")
                target = dict(reversed(list(attributes(source)))).get("href", "")
                url = safe_url(self.base, target)
                if not url:
                    return
                node.attributes["href"] = url
            self.stack[-1].children.append(node)
            self.stack.append(node)

    def _end(self, name: str) -> None:
        tag = INLINE.get(name)
        depth = next((i for i in range(len(self.stack) - 1, 0, -1) if self.stack[i].tag == tag), 0)
        if depth:
            del self.stack[depth:]


def _trim(node: Node, keep_space: bool) -> None:
    """Take white space off the ends of a leaf, and leave out inline elements that hold nothing."""
    for child in node.children:
        if isinstance(child, Node):
            _trim_inner(child)
    node.children = [child for child in node.children if child != "" and not _empty(child)]
    if keep_space:
        return
    if node.children and isinstance(node.children[0], str):
        node.children[0] = node.children[0].lstrip()
    if node.children and isinstance(node.children[-1], str):
        node.children[-1] = node.children[-1].rstrip()
    while node.children and isinstance(node.children[-1], Node) and node.children[-1].tag == "br":
        node.children.pop()


def _trim_inner(node: Node) -> None:
    for child in node.children:
        if isinstance(child, Node):
            _trim_inner(child)
    node.children = [child for child in node.children if not _empty(child)]


def _empty(child: "Node | str") -> bool:
    return isinstance(child, Node) and child.tag not in ("img", "br") and not child.children
