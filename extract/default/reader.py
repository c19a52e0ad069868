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
    Names,
)
from extract.default.passages import Elements, Passages
from extract.tokens import TOKEN

MAX_INNER_HINTS = 5
"""Inline elements of a passage that are read for hints."""

_END, _START, _ATTRIBUTES, _RAW_TEXT = (TOKEN.groupindex[name] for name in ("end", "start", "attributes", "raw_text"))
_BOLD = frozenset({"b", "strong"})

_SPECIAL = CELLS | TABLES | SILENT | {"pre"}
"""Elements whose start and end change more than the stack."""


class _Reader:
    """Follows the tags of one page and collects its passages."""

    __slots__ = (
        *("passages", "rows", "last", "kept", "inners", "stack", "open", "cells", "tables", "silent", "pre", "link"),
        *("bold", "buffer", "begin", "stop", "opening", "href", "around", "links", "linked", "bolded", "inner"),
        "after_break",
    )

    def __init__(self) -> None:
        self.passages = Passages(Elements([], [], [], [], [], []))
        self.rows: list[tuple[str, str, int, int, int]] = [("#document", "", -1, 0, 0)]
        self.last = [0]
        self.kept: list[tuple[str, int, str, int, int, int, int, int, int]] = []
        self.inners: list[tuple[str, ...]] = []
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
        if self.inner:
            self.inner.clear()
        self.opening = -1
        self.links = self.linked = self.bolded = 0
        self.after_break = False

    def _keep(self) -> None:
        buffer = self.buffer
        text = buffer[0] if len(buffer) == 1 else "".join(buffer)
        if "&" in text:
            text = unescape(text)
        if self.pre:
            lines = [line.rstrip() for line in text.replace("\v", "\n").split("\n")]
            text = "\n".join(lines).strip("\n")
        elif "\v" in text:
            text = "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\v"))))
        else:
            text = text.strip()
            if "  " in text or not text.isprintable():
                text = " ".join(text.split())
        if not text or text.isspace():
            return
        begin, stop, element = self.begin, self.stop, self.stack[-1]
        counts = self.links, self.linked, self.bolded
        self.kept.append((text, self.opening, self.around, begin, stop, element, *counts))
        self.inners.append(tuple(self.inner))

    def inline(self, name: str, attributes: str, at: int) -> None:
        """Follow the start tag, at an offset, of an element that ends no passage."""
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

    def line_break(self) -> None:
        """Follow a line break; two of them end a passage."""
        if self.after_break:
            self.flush()
        elif self.begin >= 0:
            self.buffer.append("\v")
            self.after_break = True

    def start(self, name: str, kind: int, attributes: str) -> None:
        """Follow the start tag of an element that ends a passage."""
        if self.silent and self._stays_silent(name):
            return
        if self.opening >= 0:
            self.flush()
        if name in P_ENDERS:
            places = self.open["p"]
            if places and places[-1] > self.cells[-1]:
                self.pop_to(places[-1])
        elif name in CLOSES:
            closed, barriers = CLOSES[name]
            if self.rows[self.stack[-1]][0] not in barriers:
                self._imply_end(closed, barriers)
        if kind == BLOCK_KIND:
            stack = self.stack
            place = len(stack)
            self.open[name].append(place)
            self.rows.append((name, attributes, stack[-1], place, len(self.kept)))
            stack.append(len(self.last))
            self.last.append(-1)
            if name in _SPECIAL:
                self._enter(name, place)

    def _enter(self, name: str, place: int) -> None:
        if name in CELLS:
            self.cells.append(place)
            if name in TABLES:
                self.tables.append(place)
        if name in SILENT:
            self.silent += 1
        elif name == "pre":
            self.pre += 1

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

    def end(self, name: str) -> None:
        """Follow the end tag of an element that ends a passage; one that has nothing to end is ignored."""
        places = self.open.get(name)
        if places:
            place, stack = places[-1], self.stack
            if place == len(stack) - 1:
                if self.opening >= 0:
                    self.flush()
                places.pop()
                self.last[stack.pop()] = len(self.kept)
                if name in _SPECIAL:
                    self._leave(name, place)
                if self.link > place:
                    self.link = 0
            elif place >= (self.tables if name in TABLE_PARTS else self.cells)[-1]:
                if self.opening >= 0:
                    self.flush()
                self.pop_to(place)
        elif name == "p":
            self.flush()

    def pop_to(self, place: int) -> None:
        """Close the open elements from the top of the stack down to `place`, inclusive."""
        n_passages = len(self.kept)
        stack, rows, last, opened = self.stack, self.rows, self.last, self.open
        while len(stack) > place:
            element = stack.pop()
            name = rows[element][0]
            opened[name].pop()
            last[element] = n_passages
            if name in _SPECIAL:
                self._leave(name, len(stack))
        if self.link > place:
            self.link = 0

    def _leave(self, name: str, place: int) -> None:
        if name in SILENT:
            self.silent -= 1
        elif name == "pre":
            self.pre -= 1
        if self.cells[-1] == place:
            self.cells.pop()
        if self.tables[-1] == place:
            self.tables.pop()

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
    known, buffer, text, inline = Names(KNOWN), reader.buffer, reader.text, reader.inline
    start, end_tag = reader.start, reader.end
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
        group = match.lastindex
        if group == _END:
            name, kind = known[match[_END]]
            if kind == BLOCK_KIND:
                end_tag(name)
            elif name == "a":
                reader.link = 0
            elif name in _BOLD and reader.bold:
                reader.bold -= 1
        elif group == _ATTRIBUTES:
            name, kind = known[match[_START]]
            attributes = match[_ATTRIBUTES]
            if kind == INLINE_KIND:
                inline(name, attributes, begin)
            elif kind == BREAK_KIND:
                reader.line_break()
            else:
                if name == "meta":
                    reader.passages.meta.append(attributes)
                start(name, kind, attributes)
        elif group == _RAW_TEXT:
            reader.raw(match["raw"].lower(), match["raw_attributes"], match["raw_text"])
    if at < len(source) and not reader.silent and not source[at:].isspace():
        reader.text(source[at:], at)
    return _passages(reader)


def _passages(reader: _Reader) -> Passages:
    """Return what was collected, as columns."""
    reader.flush()
    reader.pop_to(1)
    reader.last[0] = len(reader.kept)
    to, elements = reader.passages, reader.passages.elements
    elements.name, elements.attributes, elements.parent, elements.depth, elements.first = map(
        list, zip(*reader.rows, strict=True)
    )
    elements.last = reader.last
    if reader.kept:
        columns = map(list, zip(*reader.kept, strict=True))
        to.text, to.opening, to.around, to.start, to.end, to.element, to.n_links, to.link_chars, to.bold_chars = columns
    _read_hints(reader)
    return to


def _read_hints(reader: _Reader) -> None:
    """Fill in what follows from the attributes, for the elements that have passages."""
    passages, elements = reader.passages, reader.passages.elements
    hints = Hints(passages.hint_sets)
    n = len(elements.name)
    flags, path, index = elements.flags, elements.path, elements.hints = [0] * n, [0] * n, [0] * n
    rows = zip(elements.name, elements.attributes, elements.parent, elements.first, elements.last, strict=True)
    for element, (name, attributes, parent, first, last) in enumerate(rows):
        if last > first and element:
            index[element], own, step = hints[name, attributes]
            flags[element] = flags[parent] | own
            path[element] = crc32(step, path[parent])
    passages.inner = [tuple([hints["", tag][0] for tag in tags]) if tags else () for tags in reader.inners]
