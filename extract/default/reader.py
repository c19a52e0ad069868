"""From a page's source to its passages, in one walk over its tags.

Elements are followed with a stack of our own, not with a tree builder: libxml2 drops everything below depth 256 and is
slow on hostile nesting, and neither it nor its peers say where in the source a text stands. Time is linear in the
page, for any text.
"""

from collections import defaultdict
from html import unescape
from zlib import crc32

from extract.default.hints import Hints
from extract.default.nesting import (
    BLOCK_KIND,
    BREAK_KIND,
    CELLS,
    CLOSES,
    IN_HEAD,
    INLINE_KIND,
    KNOWN,
    LEAVES_DRAWING,
    P_ENDERS,
    SILENT,
    TABLE_PARTS,
    TABLES,
    UNSEEN,
    kind_of,
)
from extract.default.passages import Elements, Passages
from extract.tokens import TOKEN

MAX_INNER_HINTS = 5
"""Inline elements of a passage that are read for hints."""

_BOLD = frozenset({"b", "strong"})


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
        """Add text that is not only white space."""
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
        if kind == INLINE_KIND:
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
        elif kind == BREAK_KIND:
            if self.after_break:
                self.flush()
            elif self.begin >= 0:
                self.buffer.append("\v")
                self.after_break = True
        elif not self.silent or not self._stays_silent(name):
            if self.opening >= 0:
                self.flush()
            if name in P_ENDERS:
                places = self.open["p"]
                if places and places[-1] > self.cells[-1]:
                    self.pop_to(places[-1])
            elif name in CLOSES:
                self._imply_end(*CLOSES[name])
            if kind == BLOCK_KIND:
                self._push(name, attributes)

    def _push(self, name: str, attributes: str) -> None:
        elements, place = self.elements, len(self.stack)
        parent = self.stack[-1]
        self.open[name].append(place)
        self.stack.append(len(elements.name))
        if name in CELLS:
            self.cells.append(place)
            if name in TABLES:
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
        if self.open.get("head") and name not in IN_HEAD:
            self.pop_to(self.open["head"][0])
        for drawing in ("svg", "math"):
            if self.open.get(drawing) and name in LEAVES_DRAWING and not self.open.get("foreignobject"):
                self.pop_to(self.open[drawing][0])
        return self.silent > 0 and name in UNSEEN

    def _imply_end(self, closed: tuple[str, ...], barriers: tuple[str, ...]) -> None:
        places = [found[-1] for found in map(self.open.get, closed) if found]
        if places:
            barrier = max([found[-1] for found in map(self.open.get, barriers) if found], default=0)
            inside = [place for place in places if place > barrier]
            if inside:
                self.pop_to(min(inside))

    def end(self, name: str, kind: int) -> None:
        """Follow an end tag; one that has nothing to end is ignored."""
        if kind == INLINE_KIND:
            if name == "a":
                self.link = 0
            elif name in _BOLD and self.bold:
                self.bold -= 1
            return
        places = self.open.get(name)
        if places:
            barrier = self.tables[-1] if name in TABLE_PARTS else self.cells[-1]
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


def read_passages(source: str) -> Passages:
    """Return the passages of a decoded page."""
    reader = _Reader()
    known, buffer, text, start, end_tag = KNOWN.get, reader.buffer, reader.text, reader.start, reader.end
    at = 0
    for match in TOKEN.finditer(source):
        begin, end = match.span()
        if begin > at and not reader.silent:
            piece = source[at:begin]
            if not piece.isspace():
                text(piece, at)
            elif buffer:
                buffer.append(piece if reader.pre else " ")
        at = end
        group = match.lastgroup
        if group == "attributes":
            written, attributes = match.group("start", "attributes")
            name, kind = known(written) or (written.lower(), kind_of(written.lower()))
            if name == "meta":
                reader.passages.meta.append(attributes)
            start(name, kind, attributes, begin)
        elif group == "end":
            written = match["end"]
            end_tag(*(known(written) or (written.lower(), kind_of(written.lower()))))
        elif group == "raw_text":
            reader.raw(match["raw"].lower(), match["raw_attributes"], match["raw_text"])
    if at < len(source) and not reader.silent and not source[at:].isspace():
        reader.text(source[at:], at)
    reader.flush()
    reader.pop_to(1)
    reader.elements.last[0] = len(reader.passages)
    _read_hints(reader)
    return reader.passages


def _read_hints(reader: _Reader) -> None:
    """Fill in what follows from the attributes, for the elements that have passages."""
    passages, elements = reader.passages, reader.elements
    hints = Hints(passages.hint_sets)
    n = len(elements.name)
    elements.flags, elements.path, elements.hints = [0] * n, [0] * n, [0] * n
    flags, path, index = elements.flags, elements.path, elements.hints
    first, last, parents = elements.first, elements.last, elements.parent
    names, attributes, known = elements.name, elements.attributes, hints.written
    for element in range(1, n):
        if last[element] > first[element]:
            parent = parents[element]
            written = names[element], attributes[element]
            index[element], own, step = known.get(written) or hints.read(*written)
            flags[element] = flags[parent] | own
            path[element] = crc32(step, path[parent])
    for inner in reader.inners:
        passages.inner.append(tuple(hints.read("", attributes)[0] for attributes in inner))
