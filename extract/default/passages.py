"""A page as passages: the stretches of text between the boundaries of block-level elements.

The passage is the unit our own method judges: finer than an atomic block where list items, headings and table cells
share one, coarser where inline elements cut one paragraph into several. `extract.default.reader` makes them.
"""

from dataclasses import dataclass, field


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
