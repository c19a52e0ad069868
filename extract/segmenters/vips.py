"""VIPS and CombPS: visual blocks of the rendered page (Cai, Yu, Wen, Ma 2003; 2004).

A page is cut from the top: a node is divided into its children or is a visual block, by rules about its tag, its
children, lines, backgrounds and sizes; each block has a degree of coherence (DoC), 1 to 10. Separators are the strips
between blocks that cross none of them; wide ones, rules, changes of background or font weigh more. Blocks beside light
separators are merged, and a block is cut further as long as its DoC is below the permitted one (PDoC). CombPS cuts the
blocks that are longer than a window into windows.

The report was known here by general knowledge. Choices: sizes are shares of the page's area; rules are tried in one
order for all tags; weights are those named in `extract.segmenters.separators`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from extract.markup import INLINE
from extract.protocol import MissingExtra, Page, Segment
from extract.segmenters.boxes import Box, Boxes, Renderer
from extract.segmenters.separators import separated
from extract.segmenters.windows import WORDS, segment_of, windows
from extract.tree import TEXT, Tree

PDOC = 6
"""Permitted degree of coherence: blocks below it are cut further."""

SMALL = 0.05
"""Share of the page's area below which a node with text of its own, or with only small children, is a block."""

IMAGE_PIXELS = 16
"""Least width and height of an image that counts: smaller ones space a layout out."""

MAX_DEPTH = 100
"""Cuts below each other: deeper nodes are blocks."""

DOC_OF_TAG = {"table": 7, "tr": 7, "td": 8, "p": 9, "ul": 8, "li": 8, "div": 6}
"""Degree of coherence of a block by its tag, where the rules leave it open."""


@dataclass(frozen=True, slots=True)
class Block:
    """A visual block: nodes beside each other, the box around them, and how coherent it is."""

    nodes: tuple[int, ...]
    box: Box
    doc: int


@dataclass(frozen=True, slots=True)
class _Layout:
    """A page's tree, the drawn children of each node, and the box of each drawn node."""

    tree: Tree
    boxes: dict[int, Box]
    children: list[list[int]]

    def is_text(self, node: int) -> bool:
        """Tell whether a node is text, or an inline element of text only (a virtual text node)."""
        below = self.tree.names[node : node + self.tree.sizes[node]]
        return all(name == TEXT or name in INLINE or name == "br" for name in below)


def _layout(tree: Tree, boxes: Boxes) -> _Layout:
    """Return the layout of what is seen: texts in drawn elements, images of some size, and what holds them.

    A node that is not drawn itself, as a collapsed one is, has the box around what is drawn below it.
    """
    found: dict[int, Box] = {}
    children: list[list[int]] = [[] for _ in tree.names]
    for node in range(len(tree) - 1, -1, -1):
        box, parent = boxes.get(node), tree.parents[node]
        if tree.names[node] == TEXT:
            box = boxes.get(parent)
        elif not children[node]:
            box = box if box and tree.names[node] == "img" and min(box.width, box.height) >= IMAGE_PIXELS else None
        elif box is None or not box.area:
            box = around([found[child] for child in children[node]])
        if box is not None:
            found[node] = box
            if node:
                children[parent].append(node)
    return _Layout(tree, found, [each[::-1] for each in children])


def around(boxes: Sequence[Box]) -> Box:
    """Return the box around boxes, with the background and font of the first."""
    left, top = min(box.left for box in boxes), min(box.top for box in boxes)
    right, bottom = max(box.right for box in boxes), max(box.bottom for box in boxes)
    first = boxes[0]
    return Box(left, top, right - left, bottom - top, first.background, first.font_size, first.font_weight)


def visual_blocks(page: Page, boxes: Boxes, pdoc: int = PDOC) -> list[Block]:
    """Return the visual blocks of a page, in its order; none when nothing is drawn."""
    layout = _layout(page.tree, boxes)
    if 0 not in layout.boxes:
        return []
    area = layout.boxes[0].area
    found: list[Block] = []
    stack: list[tuple[Sequence[int], int]] = [((0,), 0)]
    while stack:
        nodes, depth = stack.pop()
        pool = [block for node in nodes for block in _divided(layout, node, area, depth)]
        for block in separated(pool, _joined, pdoc):
            if block.doc >= pdoc or depth >= MAX_DEPTH or block.nodes == tuple(nodes) or len(pool) == 1:
                found.append(block)
            else:
                stack.append((block.nodes, depth + 1))
    return sorted(found, key=lambda block: block.nodes[0])


def _joined(blocks: Sequence[Block], doc: int) -> Block:
    """Return blocks that no heavy separator parts as one."""
    nodes = tuple(sorted(node for block in blocks for node in block.nodes))
    return Block(nodes, around([block.box for block in blocks]), min([doc, *(block.doc for block in blocks)]))


def _divided(layout: _Layout, top: int, area: float, depth: int) -> list[Block]:
    """Return the blocks of a node: of its children, as deep as the rules divide."""
    found: list[Block] = []
    stack = [(top, True)]
    while stack:
        node, force = stack.pop()
        children, box = layout.children[node], layout.boxes[node]
        if not children:
            found.append(Block((node,), box, 10))
        elif all(layout.is_text(child) for child in children):
            found.append(Block((node,), box, _text_coherence(layout, children)))
        elif not force and (doc := _coherence(layout, node, children, area)):
            found.append(Block((node,), box, doc))
        else:
            stack.extend((child, False) for child in reversed(children))
    return found


def _coherence(layout: _Layout, node: int, children: Sequence[int], area: float) -> int:
    """Return the degree of coherence of a node that is a block, 0 for one that is to be divided (rules 2 to 12)."""
    names = layout.tree.names
    texts = [layout.is_text(child) for child in children]
    small = layout.boxes[node].area < SMALL * area
    if (
        len(children) == 1
        or any(names[child] == "hr" for child in children)
        or _backgrounds_differ(layout, node, children)
    ):
        return 0
    tag = DOC_OF_TAG.get(names[node], 6)
    if any(texts) and small:
        return tag
    biggest = max(layout.boxes[child].area for child in children)
    return tag if small and biggest < SMALL / 5 * area else 0


def _text_coherence(layout: _Layout, children: Sequence[int]) -> int:
    """Return 10 for texts of one font, else 9 (rule 4)."""
    fonts = {(layout.boxes[child].font_size, layout.boxes[child].font_weight) for child in children}
    return 10 if len(fonts) == 1 else 9


def _backgrounds_differ(layout: _Layout, node: int, children: Sequence[int]) -> bool:
    own = layout.boxes[node].background
    return any(layout.boxes[child].background not in ("", own) for child in children)


@dataclass(frozen=True, slots=True)
class Vips:
    """Visual blocks with a degree of coherence of at least `pdoc`, as a renderer measured them."""

    name = "VIPS"
    render: Renderer | None = None
    pdoc: int = PDOC

    def segment(self, page: Page) -> list[Segment]:
        """Return the visual blocks with text. MissingExtra without a renderer."""
        if self.render is None:
            raise MissingExtra(
                f"{self.name} needs the boxes of a rendered page: pip install 'pagemason[vision]', a Chromium, "
                "and apps.rendering.Chromium to measure"
            )
        tree = page.tree
        found = []
        blocks = visual_blocks(page, self.render(page), self.pdoc)
        for block in blocks or [Block((0,), Box(0, 0, 0, 0), 1)]:  # nothing drawn: the page is one segment
            spans = [(tree.starts[node], tree.ends[node]) for node in block.nodes]
            found.append(segment_of(page, spans))
        return [segment for segment in found if segment.text]


@dataclass(frozen=True, slots=True)
class CombPS(Vips):
    """Visual blocks, those of more than `words` words cut into windows."""

    name = "CombPS"
    words: int = WORDS

    def segment(self, page: Page) -> list[Segment]:
        """Return the segments. MissingExtra without a renderer."""
        found: list[Segment] = []
        for segment in Vips.segment(self, page):
            if len(segment.text.split()) <= self.words:
                found.append(segment)
            else:
                found.extend(windows(page, _texts_within(page, segment.spans), self.words))
        return found


def _texts_within(page: Page, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the visible texts that lie in spans."""
    found = []
    for start, end in spans:
        for text in page.scan.between(start, end):
            found.append((max(start, text.start), min(end, text.end)))
    return found
