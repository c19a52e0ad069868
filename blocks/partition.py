"""GetBlockSet and GetBlocks (Debnath et al. 2005, sections 4.1 and 4.2): a page's bytes cut at partitioning tags.

The paper takes the tags of an ordered set one by one and cuts every block it has so far at the elements of
that tag. Done literally, that reads the page once a tag. Here one pass over the tags of the page gives the
same cuts: a start tag always cuts; an end tag cuts when its start tag lies in the same block, that is, when no
cut of an earlier tag of the set lies between them. Elements of one tag inside each other are cut breadth first,
as GetBlocks searches the tree. Every cut remembers its level (rank of the tag, depth among its own kind), and
the levels are the block tree.

Nothing is decoded, repaired or rewritten: *the data of the blocks, joined, is the body*. What is no markup is
skipped as the HTML standard's tokenizer does (section 13.2.5): comments, raw text of script, style, textarea and
title, attribute values in quotes. Departures: `<!--` within a script hides no `</script>`, CDATA is a bogus comment
in XHTML, SVG and MathML too, and what an unterminated comment, raw text or quote opens, reaches to the end of the page.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blocks.model import Block
from blocks.tags import find_tags

PARTITIONING_TAGS: tuple[str, ...] = (
    *("table", "tr", "p", "hr", "ul"),
    *("ol", "dl"),  # HTML's other lists, beside the paper's UL
    *("section", "article", "aside", "header", "footer", "nav", "main"),  # HTML5's names for a DIV
    *("div", "span"),
)
"""The paper's tag-set in its order (section 3), with what HTML5 added beside its kin."""

IMPLIED_END = frozenset({"p", "tr"})
"""A start tag of these closes an open one of its own kind (HTML, 13.1.2.4)."""

VOID = frozenset({"hr"})

_WIDE = (
    (b"\xff\xfe\0\0", 4, "<"),
    (b"\0\0\xfe\xff", 4, ">"),
    (b"\xff\xfe", 2, "<"),
    (b"\xfe\xff", 2, ">"),
    (b"<\0\0\0", 4, "<"),
    (b"\0\0\0<", 4, ">"),
    (b"<\0", 2, "<"),
    (b"\0<", 2, ">"),
)


@dataclass(frozen=True, slots=True)
class Partition:
    """Where a page's atomic blocks begin, and which cut of which tag made them.

    `starts` has the byte offset of each block, the first 0, and the body's size at its end: shape (n_blocks + 1,).
    `begins` has the rank in the tag-set of the start tag a block begins with, or -1; `ranks` and `depths` are the
    level of the cut before it: rank of the tag that made it (-1 for the first block) and depth among its own kind.
    All three have shape (n_blocks,).
    """

    body: bytes
    tag_set: tuple[str, ...]
    starts: list[int]
    begins: list[int]
    ranks: list[int]
    depths: list[int]

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def tags(self) -> list[str]:
        """The partitioning tag each block begins with, or an empty string."""
        names = (*self.tag_set, "")
        return [names[rank] for rank in self.begins]

    def pieces(self) -> list[bytes]:
        """Return the blocks' bytes, in order."""
        body, starts = self.body, self.starts
        return [body[a:b] for a, b in itertools.pairwise(starts)]

    def blocks(self) -> tuple[Block, ...]:
        """Return the atomic blocks, in order."""
        return tuple(map(Block, self.pieces(), self.tags))


def partition(body: bytes, tag_set: Sequence[str] = PARTITIONING_TAGS) -> Partition:
    """Cut a page at the partitioning tags, earlier tags first; linear in the size of the body, for any bytes.

    >>> [b.data for b in partition(b"menu<p>one<table><tr><td>two</table>three").blocks()]
    [b'menu', b'<p>one', b'<table>', b'<tr><td>two</table>', b'three']
    """
    tag_set = tuple(tag_set)
    unit, order = _wide_units(body)
    text = body if unit == 1 else _ascii_view(body, unit, order)
    starts, begins, ranks, depths = _cuts(text, tag_set)
    if unit > 1:
        starts = [start * unit for start in starts]
    starts.append(len(body))
    return Partition(body, tag_set, starts, begins, ranks, depths)


def _cuts(text: bytes, tag_set: tuple[str, ...]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return where the blocks start, and the other three lists of a Partition.

    A cut of one rank ends all open elements of higher ranks, as they lie in several blocks now; so the ranks of the
    open elements, in the order in which they were opened, never fall, and one stack holds them all.
    """
    found = find_tags(text, tag_set)
    nests = [0 if tag in VOID else 1 if tag in IMPLIED_END else 2 for tag in tag_set]
    stack: list[int] = [-1]
    n_open = [0] * len(tag_set) + [1]
    size, last = len(text), 0
    starts, begins, ranks, depths = [0], [-1], [-1], [0]
    for at, kind in zip(found.places, found.kinds, strict=True):
        rank = kind >> 1
        if kind & 1 and not n_open[rank]:
            continue
        while stack[-1] > rank:
            n_open[stack.pop()] -= 1
        if kind & 1:
            stack.pop()
            n_open[rank] = depth = n_open[rank] - 1
            begin = -1
        else:
            begin, depth = rank, n_open[rank]
            if nests[rank] == 2 or (nests[rank] and not depth):
                stack.append(rank)
                n_open[rank] += 1
            if nests[rank] < 2:
                depth = 0
        if last < at < size:
            starts.append(at)
            begins.append(begin)
            ranks.append(rank)
            depths.append(depth)
            last = at
        elif at == last:
            if begin >= 0:
                begins[-1] = begin
            if (rank, depth) < (ranks[-1], depths[-1]):
                ranks[-1], depths[-1] = rank, depth
    return starts, begins, ranks, depths


def _wide_units(body: bytes) -> tuple[int, str]:
    """Return the bytes of a code unit and their order: UTF-16 and UTF-32, by byte order mark or a first `<`."""
    for mark, unit, order in _WIDE:
        if body.startswith(mark):
            return unit, order
    return 1, ""


def _ascii_view(body: bytes, unit: int, order: str) -> bytes:
    """Return a byte for each whole code unit: itself when ASCII, else 0x80."""
    units = np.frombuffer(body, dtype=f"{order}u{unit}", count=len(body) // unit)
    view: bytes = np.where(units < 0x80, units, 0x80).astype(np.uint8).tobytes()
    return view
