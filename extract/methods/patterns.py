"""KeyPatterns: blocks of a page by repeated tag patterns, and their importance ("key pattern" paper, section 3).

The tags of a node's children are a sequence; a *repetition* is a subsequence of two or more that occurs at least twice
without overlap, and the *key patterns* are the repetitions that are not part of a longer one. Where a key pattern
matches, a virtual node begins; a run of equal tags is one virtual node. A block is important when it holds at least
a threshold of meaningful tags.

The paper takes the children of one node and leaves the rest of the page open. Here every container is cut by the
sequence of its children, from the root down, unless it holds neither a key pattern nor another container; what is
cut belongs to no virtual node above. The threshold is not printed; ours is the length of the example's key patterns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from extract.markup import HIDDEN
from extract.methods.cover import Unit, judge
from extract.protocol import Extraction, NoEvidence, Page
from extract.tree import TEXT, Tree

MEANINGLESS = frozenset({"a", "b", "span", "i", "em", "strong", "font", "u", "small", "big", "sup", "sub", "br", "wbr"})
"""Formatting tags, removed in preprocessing; their children take their place (section 3.1)."""

INVISIBLE = HIDDEN | {"head", "meta", "link", "base", "param", "noscript"}

CONTAINERS = frozenset(
    {"html", "body", "table", "tbody", "thead", "tfoot", "tr", "td", "th", "div", "center", "form", "section"}
    | {"article", "main", "aside", "header", "footer", "nav", "fieldset"}
)
"""Elements that lay out a page; a pattern of these only is not a block."""

MAX_PATTERN = 32
"""Tags of the longest repetition looked for: bounds the time for a node with very many children."""

MAX_PATTERNS = 64
"""Key patterns of a node that are matched, longer ones first: more would take quadratic time."""

THRESHOLD = 3
"""Meaningful tags that make a block important."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def key_patterns(sequence: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the repetitions that are in no longer one; longer patterns first, then by where they first occur.

    >>> key_patterns("h2 p p ul p p h2 p p p p p p div".split())
    [('h2', 'p', 'p'), ('p', 'p', 'p')]
    """
    if len(sequence) < 4:
        return []
    names = {name: number for number, name in enumerate(dict.fromkeys(sequence), 1)}
    codes = np.array([names[name] for name in sequence], dtype=np.uint64) * _MULTIPLIER
    hashes = codes
    found: list[tuple[int, int]] = []
    shorter: dict[int, int] = {}
    for length in range(2, min(len(sequence) // 2, MAX_PATTERN) + 2):
        longer: dict[int, int] = {}
        if length <= min(len(sequence) // 2, MAX_PATTERN):
            next_hashes = (hashes[:-1] ^ (hashes[:-1] >> np.uint64(29))) * _MULTIPLIER + codes[length - 1 :]
            longer = _repeated(next_hashes, length)
            for at in longer.values():
                shorter.pop(int(hashes[at]), None)
                shorter.pop(int(hashes[at + 1]), None)
            hashes = next_hashes
        found.extend((length - 1, at) for at in shorter.values())
        if not longer:
            break
        shorter = longer
    return [tuple(sequence[at : at + length]) for length, at in sorted(found, key=lambda item: (-item[0], item[1]))]


def _repeated(hashes: np.ndarray[tuple[int], np.dtype[np.uint64]], length: int) -> dict[int, int]:
    """Return the hashes of windows of this length that occur twice without overlap, and where each occurs first."""
    values, first = np.unique(hashes, return_index=True)
    last = len(hashes) - 1 - np.unique(hashes[::-1], return_index=True)[1]
    twice = last - first >= length
    return dict(zip(values[twice].tolist(), first[twice].tolist(), strict=True))


def virtual_nodes(sequence: Sequence[str]) -> list[tuple[int, int]]:
    """Return the outermost virtual nodes as ranges of the sequence, in order.

    A pattern cuts what lies between its first match and the end, or the next virtual node; runs of equal tags stay
    together.

    >>> virtual_nodes("h2 p p ul p p h2 p p p p p p div".split())
    [(0, 6), (6, 14)]
    """
    free = [True] * len(sequence)
    ranges: list[tuple[int, int]] = []
    for pattern in key_patterns(sequence)[:MAX_PATTERNS]:
        uniform = len(set(pattern)) == 1
        places = _matches(sequence, pattern, free)
        for place, following in pairwise([*places, len(sequence)]):
            end = place
            stop = len(sequence) if uniform else following
            while end < stop and free[end] and (not uniform or sequence[end] == pattern[0]):
                free[end] = False
                end += 1
            if end > place:
                ranges.append((place, end))
    return sorted(ranges)


def _matches(sequence: Sequence[str], pattern: tuple[str, ...], free: Sequence[bool]) -> list[int]:
    """Return where the pattern occurs without overlap in what is still free."""
    size, at, places = len(pattern), 0, []
    while at <= len(sequence) - size:
        if sequence[at] == pattern[0] and tuple(sequence[at : at + size]) == pattern and all(free[at : at + size]):
            places.append(at)
            at += size
        else:
            at += 1
    return places


@dataclass(frozen=True, slots=True)
class KeyPatterns:
    """Blocks by key patterns; content are those with at least `threshold` meaningful tags."""

    name = "KeyPatterns"
    threshold: int = THRESHOLD

    def prepare(self, pages: Iterable[Page]) -> NoEvidence:
        """Nothing is learned: a page is judged alone."""
        return NoEvidence(sum(1 for _ in pages))

    def extract(self, page: Page, evidence: NoEvidence) -> Extraction:
        """Return the verdicts; the score is the importance of the block's virtual node, 1.0 at twice the threshold."""
        tree = page.tree
        units = (
            Unit(start, end, importance >= self.threshold, min(1.0, importance / (2 * max(self.threshold, 1))))
            for start, end, importance in segments(tree)
        )
        return judge(page, units, lambda share: f"{share:.0%} in blocks of {self.threshold} meaningful tags or more")


def segments(tree: Tree) -> list[tuple[int, int, int]]:
    """Return the blocks of a page as (start, end, importance), the last the number of meaningful tags in them."""
    children, counts = _meaningful(tree)
    nodes_of = [
        virtual_nodes([tree.names[child] for child in below]) if node == 0 or tree.names[node] in CONTAINERS else []
        for node, below in enumerate(children)
    ]
    divisible = _divisible(tree, children, nodes_of)
    found: list[tuple[int, int, int]] = []
    stack = [0]
    while stack:
        node = stack.pop()
        below = children[node]
        for start, end in _whole(nodes_of[node], [divisible[child] for child in below]):
            tags = sum(counts[child] for child in below[start:end])
            found.append((tree.starts[below[start]], tree.ends[below[end - 1]], tags))
        stack.extend(child for child in below if divisible[child])
    return found


def _divisible(tree: Tree, children: list[list[int]], nodes_of: list[list[tuple[int, int]]]) -> list[bool]:
    """Return which nodes are containers that hold a virtual node or another container."""
    names = tree.names
    return [
        names[node] == "body"
        or (names[node] in CONTAINERS and (bool(nodes) or any(names[child] in CONTAINERS for child in children[node])))
        for node, nodes in enumerate(nodes_of)
    ]


def _whole(nodes: list[tuple[int, int]], divisible: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the ranges of children that make a block: virtual nodes cut at divisible children, and single ones."""
    ends = dict(nodes)
    ranges, at = [], 0
    while at < len(divisible):
        end = ends.get(at, at + 1)
        start = at
        for place in range(at, end):
            if divisible[place]:
                ranges.append((start, place))
                start = place + 1
        ranges.append((start, end))
        at = end
    return [(start, end) for start, end in ranges if start < end]


def _meaningful(tree: Tree) -> tuple[list[list[int]], list[int]]:
    """Return for each node its meaningful children, those of removed tags in their place, and the tags below it.

    Text counts as a child, so that no text is lost, but not as a tag.
    """
    children: list[list[int]] = [[] for _ in tree.names]
    counts = [0] * len(tree)
    place = list(range(len(tree)))  # the meaningful node that takes a node's children
    for node in range(1, len(tree)):
        parent, name = place[tree.parents[node]], tree.names[node]
        if parent < 0 or name in INVISIBLE:
            place[node] = -1
        elif name in MEANINGLESS:
            place[node] = parent
        else:
            children[parent].append(node)
            counts[node] = int(name != TEXT)
    for node in range(len(tree) - 1, 0, -1):
        if place[node] == node:
            counts[place[tree.parents[node]]] += counts[node]
    return children, counts
