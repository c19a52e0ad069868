"""FixedPS and DomPS: page segmentation for retrieval without a rendering (Cai, Yu, Wen, Ma 2004; survey, section 2.6).

FixedPS cuts the visible words of a page into windows of 200, whatever they belong to. DomPS takes the subtrees of
certain tags; what stands outside them makes segments between them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from extract.markup import visible_text
from extract.protocol import Page, Segment
from extract.tree import TEXT, Tree

WORDS = 200
"""Words of a window; Callan (1994) and the paper take windows of about this size."""

TAGS = frozenset({"title", "p", "table", "ul", "h1", "h2", "h3", "h4", "h5", "h6"})
"""Tags whose subtrees are segments: "TITLE, P, TABLE, UL and H1 to H6"."""

MAX_TABLE_WORDS = 500
"""A table with more words lays out the page rather than holds data: it is cut at what is inside."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class FixedPS:
    """Windows of `words` visible words; the last one may be shorter."""

    name = "FixedPS"
    words: int = WORDS

    def __post_init__(self) -> None:
        if self.words < 1:
            raise ValueError(f"windows of {self.words} words: at least one expected")

    def segment(self, page: Page) -> list[Segment]:
        """Return the windows."""
        return windows(page, [(text.start, text.end) for text in page.scan.texts], self.words)


def windows(page: Page, spans: Sequence[tuple[int, int]], size: int) -> list[Segment]:
    """Return the words of spans of visible text, in order, in windows of `size` words."""
    places = [match.span() for start, end in spans for match in _WORD.finditer(page.source, start, end)]
    ends = [end for _, end in spans]
    found = []
    for at in range(0, len(places), size):
        first, last = places[at][0], places[min(at + size, len(places)) - 1][1]
        inside = spans[bisect_right(ends, first) : bisect_left(ends, last) + 1]
        found.append(segment_of(page, _merged(page, [(max(start, first), min(end, last)) for start, end in inside])))
    return [segment for segment in found if segment.text]


def _merged(page: Page, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans, those between which no visible text lies as one: a word may go on across a tag."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and next(page.scan.between(merged[-1][1], start), None) is None:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def segment_of(page: Page, spans: Sequence[tuple[int, int]]) -> Segment:
    """Return the segment of spans of the source."""
    parts = (visible_text(page.source, page.scan, start, end) for start, end in spans)
    return Segment(tuple(spans), " ".join(part for part in parts if part))


@dataclass(frozen=True, slots=True)
class DomPS:
    """Subtrees of certain tags, and what stands between them."""

    name = "DomPS"
    tags: frozenset[str] = TAGS

    def segment(self, page: Page) -> list[Segment]:
        """Return the segments in the order of the page."""
        tree = page.tree
        cut = _cuts(page, tree, self.tags)
        found, between = [], list[tuple[int, int]]()
        for node, (start, end) in _pieces(tree, cut):
            if node:
                found.append(segment_of(page, between))
                between = []
                found.append(segment_of(page, [(start, end)]))
            else:
                between.append((start, end))
        found.append(segment_of(page, between))
        return [segment for segment in found if segment.text]


def _cuts(page: Page, tree: Tree, tags: frozenset[str]) -> list[bool]:
    """Return which nodes are segments: of these tags, and no layout table."""
    words = [0] * len(tree)
    for node in range(len(tree) - 1, 0, -1):
        if tree.names[node] == TEXT:
            words[node] = len(_WORD.findall(page.source, tree.starts[node], tree.ends[node]))
        words[tree.parents[node]] += words[node]
    return [
        name in tags and (name != "table" or words[node] <= MAX_TABLE_WORDS) for node, name in enumerate(tree.names)
    ]


def _pieces(tree: Tree, cut: Sequence[bool]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield segments' nodes and the texts outside of them (as node 0), with their spans, in order."""
    node = 1
    while node < len(tree):
        if cut[node]:
            yield node, (tree.starts[node], tree.ends[node])
            node += tree.sizes[node]
        else:
            if tree.names[node] == TEXT:
                yield 0, (tree.starts[node], tree.ends[node])
            node += 1
