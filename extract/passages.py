"""A page as passages: the stretches of text between the boundaries of block-level elements.

The passage is the unit our own method judges: finer than an atomic block where list items, headings and table cells
share one, coarser where inline elements cut one paragraph into several. Elements are followed with a stack of our
own, not with a tree builder: libxml2 drops everything below depth 256 and is slow on hostile nesting, and neither it
nor its peers say where in the source a text stands. Time is linear in the page, for any text.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from zlib import crc32

from extract.tokens import TOKEN


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


INLINE = _names(
    "a abbr acronym b bdi bdo big blink cite code data del dfn em font i img ins kbd mark nobr picture q rp rt "
    "ruby s samp small source span strike strong sub sup time tt u var wbr"
)
"""Elements that do not end a passage."""

VOID = _names(
    "area base basefont bgsound br col command embed frame hr img input isindex keygen link meta param source track wbr"
)

SILENT = frozenset(["head", "template"])
"""Elements whose text no reader sees."""

_IN_HEAD = frozenset(["base", "basefont", "bgsound", "link", "meta", "noscript", "template", "html", "head"])

_CELL = ("table", "td", "th", "caption", "button", "object", "template")
_P_ENDERS = _names(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 "
    "h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre section table ul"
)
_CLOSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "li": (("li", "p"), ("ul", "ol", "menu", "dir", *_CELL)),
    "dt": (("dt", "dd", "p"), ("dl", *_CELL)),
    "dd": (("dt", "dd", "p"), ("dl", *_CELL)),
    "tr": (("tr", "caption"), ("table", "template")),
    "td": (("td", "th"), ("tr", "table", "template")),
    "th": (("td", "th"), ("tr", "table", "template")),
    "thead": (("thead", "tbody", "tfoot", "tr", "caption"), ("table", "template")),
    "tbody": (("thead", "tbody", "tfoot", "tr", "caption"), ("table", "template")),
    "tfoot": (("thead", "tbody", "tfoot", "tr", "caption"), ("table", "template")),
    "option": (("option",), ("select", "datalist")),
    "optgroup": (("option", "optgroup"), ("select",)),
    "body": (("head",), ()),
}
"""For a start tag: the open elements it closes unless one of the second list lies between (HTML, 13.1.2.4)."""

_LEAVES_DRAWING = frozenset({*_P_ENDERS, "body", "br", "p", "li", "dd", "dt", "table"})

_TABLE_PARTS = frozenset(["table", "tr", "td", "th", "thead", "tbody", "tfoot", "caption"])

_FLAGS = (
    "nav footer header aside article main section form table td th ul ol li dl blockquote pre figure figcaption p "
    "heading button select label noscript details dialog hidden address textarea center menu iframe"
)
FLAGS = tuple(_FLAGS.split())
"""What a passage can lie in; flag i is bit i."""
_BIT = {name: 1 << i for i, name in enumerate(FLAGS)}
_HIDDEN = _BIT["hidden"]
_TAG_BITS = {
    **{name: bit for name, bit in _BIT.items() if name not in ("heading", "hidden")},
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _BIT["heading"]),
}

_HINT = re.compile(
    r"""(?:^|\s)(class|id|role|itemprop|itemtype|hidden|aria-hidden|style)(?=[\s=/>]|$)"""
    r"""(?:\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s"'>]+)))?""",
    re.IGNORECASE,
)
_NO_DISPLAY = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_DIGITS = re.compile(r"[0-9]+")

MAX_HINT_CHARS = 400
"""Attributes longer than this are read only so far for hints."""

MAX_INNER_HINTS = 5
"""Inline elements of a passage that are read for hints."""

_BOLD = ("b", "strong")
_TABLES = ("table", "template")
_UNSEEN = VOID | {
    "path",
    "g",
    "circle",
    "rect",
    "use",
    "defs",
    "symbol",
    "polygon",
    "lineargradient",
    "stop",
    "clippath",
}


@dataclass(slots=True)
class Elements:
    """Block-level elements in the order of their start tags, as columns; index 0 is the document itself.

    An element spans the passages `first[i]` to `last[i]`, the end exclusive. `flags` are the FLAGS of itself and all
    around it, `path` a crc32 over names and classes from the document down, `hints` the index of its hint set. An
    element without passages has neither.
    """

    name: list[str]
    attributes: list[str]
    parent: list[int]
    depth: list[int]
    first: list[int]
    last: list[int]
    flags: list[int] = field(default_factory=list)
    path: list[int] = field(default_factory=list)
    hints: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Passages:
    """A page's passages, in order, as columns of one length, with the elements they stand in.

    `start` and `end` are character offsets in the source: from the passage's first text to after its last; `opening` is
    where its first inline element or text begins, `around` the attributes of a link that was open before. `text` has
    its lines (at `br`, or as written in `pre`) separated by newlines, other white space collapsed. `link_chars` and
    `bold_chars` count source characters within links and bold type, `inner` are the hint sets of its inline elements.
    `structured` holds the texts of JSON-LD scripts, `meta` the attributes of meta tags.
    """

    elements: Elements
    title: str = ""
    text: list[str] = field(default_factory=list)
    opening: list[int] = field(default_factory=list)
    around: list[str] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    element: list[int] = field(default_factory=list)
    n_links: list[int] = field(default_factory=list)
    link_chars: list[int] = field(default_factory=list)
    bold_chars: list[int] = field(default_factory=list)
    inner: list[tuple[int, ...]] = field(default_factory=list)
    structured: list[str] = field(default_factory=list)
    meta: list[str] = field(default_factory=list)
    hint_sets: list[tuple[str, ...]] = field(default_factory=lambda: [()])

    def __len__(self) -> int:
        return len(self.text)


_INLINE_KIND, _VOID_KIND, _BREAK_KIND, _BLOCK_KIND = range(4)


def _kind(name: str) -> int:
    if name == "br":
        return _BREAK_KIND
    if name in INLINE:
        return _INLINE_KIND
    return _VOID_KIND if name in VOID else _BLOCK_KIND


_KNOWN = {name: (name, _kind(name)) for name in {*INLINE, *VOID, *SILENT, *_CLOSES, *_TAG_BITS, "html", "div"}}
_KNOWN |= {name.upper(): value for name, value in _KNOWN.items()}
"""Names as usually written -> the name in lower case, and its kind."""


class _Reader:
    """Follows the tags of one page and collects its passages."""

    def __init__(self) -> None:
        self.elements = Elements(["#document"], [""], [-1], [0], [0], [0])
        self.passages = Passages(self.elements)
        self.stack = [0]
        self.open: defaultdict[str, list[int]] = defaultdict(list)
        self.cells = [0]
        self.tables = [0]
        self.silent = self.pre = self.link = self.bold = 0
        self.buffer: list[str] = []
        self.begin = self.stop = -1
        self.opening = -1
        self.href = self.around = ""
        self.links = self.linked = self.bolded = 0
        self.inner: list[str] = []
        self.inners: list[tuple[str, ...]] = []
        self.after_break = False

    def text(self, piece: str, at: int) -> None:
        """Add text; white space alone only separates words."""
        if piece.isspace():
            if self.buffer:
                self.buffer.append(piece if self.pre else " ")
            return
        if self.begin < 0:
            self.begin = at
            if self.opening < 0:
                self.opening, self.around = at, self.href if self.link else ""
        self.stop = at + len(piece)
        self.buffer.append(piece)
        self.after_break = False
        if self.link:
            self.linked += len(piece)
        if self.bold:
            self.bolded += len(piece)

    def flush(self) -> None:
        """End the passage, if there is one."""
        if self.begin >= 0:
            self._keep()
            self.begin = -1
        self.buffer.clear()
        self.inner.clear()
        self.opening = -1
        self.links = self.linked = self.bolded = 0
        self.after_break = False

    def _keep(self) -> None:
        text = "".join(self.buffer)
        if "&" in text:
            text = unescape(text)
        if self.pre:
            lines = [line.rstrip() for line in text.replace("\v", "\n").split("\n")]
            text = "\n".join(lines).strip("\n")
        elif "\v" in text:
            text = "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\v"))))
        else:
            text = " ".join(text.split())
        if not text or text.isspace():
            return
        to = self.passages
        to.text.append(text)
        to.opening.append(self.opening)
        to.around.append(self.around)
        to.start.append(self.begin)
        to.end.append(self.stop)
        to.element.append(self.stack[-1])
        to.n_links.append(self.links)
        to.link_chars.append(self.linked)
        to.bold_chars.append(self.bolded)
        self.inners.append(tuple(self.inner))

    def start(self, name: str, kind: int, attributes: str, at: int) -> None:
        """Follow a start tag that stands at an offset."""
        if kind == _INLINE_KIND:
            if self.opening < 0:
                self.opening, self.around = at, self.href if self.link else ""
            if name == "a":
                self.link = len(self.stack)
                self.href = attributes
                self.links += 1
            elif name in _BOLD:
                self.bold += 1
            if "class=" in attributes and len(self.inner) < MAX_INNER_HINTS and not self.silent:
                self.inner.append(attributes)
        elif kind == _BREAK_KIND:
            if self.after_break:
                self.flush()
            elif self.begin >= 0:
                self.buffer.append("\v")
                self.after_break = True
        elif not self.silent or not self._stays_silent(name):
            if self.opening >= 0:
                self.flush()
            if name in _P_ENDERS:
                places = self.open["p"]
                if places and places[-1] > self.cells[-1]:
                    self.pop_to(places[-1])
            elif name in _CLOSES:
                self._imply_end(*_CLOSES[name])
            if kind == _BLOCK_KIND:
                self._push(name, attributes)

    def _push(self, name: str, attributes: str) -> None:
        elements, place = self.elements, len(self.stack)
        parent = self.stack[-1]
        self.open[name].append(place)
        self.stack.append(len(elements.name))
        if name in _CELL:
            self.cells.append(place)
            if name in _TABLES:
                self.tables.append(place)
        if name in SILENT:
            self.silent += 1
        elif name == "pre":
            self.pre += 1
        elements.name.append(name)
        elements.attributes.append(attributes)
        elements.parent.append(parent)
        elements.depth.append(place)
        elements.first.append(len(self.passages.text))
        elements.last.append(-1)

    def _stays_silent(self, name: str) -> bool:
        """Tell whether a start tag within silence changes nothing; close a head at the first tag of the body, and
        drawings at tags that cannot be in one (HTML, 13.2.6.5)."""
        if self.open.get("head") and name not in _IN_HEAD:
            self.pop_to(self.open["head"][0])
        for drawing in ("svg", "math"):
            if self.open.get(drawing) and name in _LEAVES_DRAWING and not self.open.get("foreignobject"):
                self.pop_to(self.open[drawing][0])
        return self.silent > 0 and name in _UNSEEN

    def _imply_end(self, closed: tuple[str, ...], barriers: tuple[str, ...]) -> None:
        places = [self.open[name][-1] for name in closed if self.open.get(name)]
        if places:
            barrier = max((self.open[name][-1] for name in barriers if self.open.get(name)), default=0)
            inside = [place for place in places if place > barrier]
            if inside:
                self.pop_to(min(inside))

    def end(self, name: str, kind: int) -> None:
        """Follow an end tag; one that has nothing to end is ignored."""
        if kind == _INLINE_KIND:
            if name == "a":
                self.link = 0
            elif name in _BOLD and self.bold:
                self.bold -= 1
            return
        places = self.open.get(name)
        if places:
            barrier = self.tables[-1] if name in _TABLE_PARTS else self.cells[-1]
            if places[-1] >= barrier:
                if self.opening >= 0:
                    self.flush()
                self.pop_to(places[-1])
        elif name == "p":
            self.flush()

    def pop_to(self, place: int) -> None:
        """Close the open elements from the top of the stack down to `place`, inclusive."""
        n_passages = len(self.passages.text)
        names, last = self.elements.name, self.elements.last
        while len(self.stack) > place:
            element = self.stack.pop()
            name = names[element]
            self.open[name].pop()
            last[element] = n_passages
            if name in SILENT:
                self.silent -= 1
            elif name == "pre":
                self.pre -= 1
        while self.cells[-1] >= place > 0:
            self.cells.pop()
        while self.tables[-1] >= place > 0:
            self.tables.pop()
        if self.link > place:
            self.link = 0

    def raw(self, name: str, attributes: str, text: str) -> None:
        """Take what is wanted from a raw text element: the title, and structured data."""
        if name == "title":
            if not self.passages.title and not (self.silent and not self.open.get("head")):
                self.passages.title = " ".join(unescape(text[:2000]).split())
        elif name == "script" and "ld+json" in attributes:
            self.passages.structured.append(text)


class _Hints:
    """Reads names, classes, ids and roles of elements; equal ones share a hint set."""

    def __init__(self, sets: list[tuple[str, ...]]) -> None:
        self.sets = sets
        self.known: dict[tuple[object, ...], tuple[int, int, bytes]] = {}

    def read(self, name: str, attributes: str) -> tuple[int, int, bytes]:
        """Return the index of an element's hint set, its own flags, and what it adds to a path."""
        found = _HINT.findall(attributes[:MAX_HINT_CHARS]) if attributes else ()
        key = (name, *found)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = self._read(name, found)
        return known

    def _read(self, name: str, found: Sequence[tuple[str, ...]]) -> tuple[int, int, bytes]:
        flags, classes = _TAG_BITS.get(name, 0), ""
        hints = ["<" + name]
        for kind, *values in found:
            kind, value = kind.lower(), "".join(values)
            if kind == "class" or kind == "id":
                if kind == "class":
                    classes = _DIGITS.sub("", value)
                hints += [part.lower() for part in _NAME_PART.findall(value) if len(part) > 2]
            elif kind in ("role", "itemprop", "itemtype"):
                hints.append(f"{kind}={value.rsplit('/', 1)[-1].lower()[:20]}")
            elif kind == "hidden" or (kind == "aria-hidden" and value == "true"):
                hints.append(kind)
                flags |= _HIDDEN if kind == "hidden" else 0
            elif _NO_DISPLAY.search(value):
                hints.append("display:none")
                flags |= _HIDDEN
        self.sets.append(tuple(dict.fromkeys(hints)))
        return len(self.sets) - 1, flags, f"{name}.{classes}/".encode("utf-8", "replace")


def read_passages(source: str) -> Passages:
    """Return the passages of a decoded page."""
    reader = _Reader()
    at = 0
    for match in TOKEN.finditer(source):
        begin, end = match.span()
        if begin > at and not reader.silent:
            reader.text(source[at:begin], at)
        at = end
        group = match.lastgroup
        if group == "attributes":
            written, attributes = match.group("start", "attributes")
            name, kind = _KNOWN.get(written) or (written.lower(), _kind(written.lower()))
            if name == "meta":
                reader.passages.meta.append(attributes)
            reader.start(name, kind, attributes, begin)
        elif group == "end":
            written = match["end"]
            name, kind = _KNOWN.get(written) or (written.lower(), _kind(written.lower()))
            reader.end(name, kind)
        elif group == "raw_text":
            reader.raw(match["raw"].lower(), match["raw_attributes"], match["raw_text"])
    if at < len(source) and not reader.silent:
        reader.text(source[at:], at)
    reader.flush()
    reader.pop_to(1)
    reader.elements.last[0] = len(reader.passages)
    _read_hints(reader)
    return reader.passages


def _read_hints(reader: _Reader) -> None:
    """Fill in what follows from the attributes, for the elements that have passages."""
    passages, elements = reader.passages, reader.elements
    hints = _Hints(passages.hint_sets)
    n = len(elements.name)
    elements.flags, elements.path, elements.hints = [0] * n, [0] * n, [0] * n
    flags, path, index = elements.flags, elements.path, elements.hints
    first, last, parents = elements.first, elements.last, elements.parent
    for element in range(1, n):
        if last[element] > first[element]:
            parent = parents[element]
            index[element], own, step = hints.read(elements.name[element], elements.attributes[element])
            flags[element] = flags[parent] | own
            path[element] = crc32(step, path[parent])
    for inner in reader.inners:
        passages.inner.append(tuple(hints.read("", attributes)[0] for attributes in inner))
