"""Shingling: fragments shared by pages of a site (Ramaswamy, Iyengar, Liu, Douglis 2004) are not content.

A page is an augmented fragment tree: the element tree with formatting tags merged into their parents. Each node has
SubtreeSize (characters of its source) and SubtreeShingles (the N smallest hashes of all windows of W neighbouring
tokens). Shared fragments are found over the pooled nodes of all pages, larger ones first: a node is compared with the
nodes of other pages of about its size, those whose shingles overlap by MinMatchFactor form a group, and a group on at
least ShareFactor pages is a fragment. Only maximal fragments count: what lies below a fragment's nodes is left out.

The paper was known here by its citation in Debnath et al. (section 6.7, equation 8) and general knowledge; its
thresholds are ranges, ours lie inside. Tokens are the terms of the text and the names of tags. The content of a script
or style is one token of the subtrees around, so that code does not drown the text, and its own terms for itself. A page
is no fragment of another one: document, HTML and BODY are not compared. Rolling Rabin fingerprints are replaced by a
polynomial hash of 64 bits.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import xxhash
from numpy.typing import NDArray

from blocks.text import terms
from extract.markup import RAW_TEXT
from extract.methods.cover import Unit, judge
from extract.protocol import Extraction, Page
from extract.tree import TEXT, Tree

WINDOW = 10
"""W, tokens of a shingle."""

SKETCH = 40
"""N, shingles kept of a subtree."""

MIN_FRAGMENT = 30
"""Characters of a subtree below which it is no fragment."""

MIN_MATCH = 0.7
SHARE_FACTOR = 2
"""Pages on which a fragment must stand."""

SIZE_RATIO = 0.8
"""Nodes are compared when the smaller has at least this share of the larger one's characters."""

FORMATTING = frozenset({"b", "i", "u", "em", "strong", "font", "small", "big", "sub", "sup", "tt", "code"})
"""Text-formatting tags: no nodes of their own."""

WHOLE = frozenset({"#document", "html", "body"})
"""The page itself: no node is a fragment that holds all of it."""

MAX_NODES = 4000
"""Nodes of one page that are pooled, larger ones first: bounds what a hostile page can cost."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Node:
    """A node of an augmented fragment tree: place in the element tree, parent among the nodes, size and shingles."""

    node: int
    parent: int
    size: int
    shingles: frozenset[int]


def fragment_tree(page: Page) -> list[Node]:
    """Return the nodes of a page's augmented fragment tree with at least MIN_FRAGMENT characters, parents first."""
    tree, n_nodes = page.tree, len(page.tree)
    firsts, lasts = [0] * n_nodes, [0] * n_nodes
    tokens: list[int] = []
    for node, name in enumerate(tree.names):
        firsts[node] = len(tokens)
        if name == TEXT:
            tokens.extend(map(_token, terms(page.source[tree.starts[node] : tree.ends[node]])))
        elif name in RAW_TEXT:
            tokens.append(_digest(page.source[tree.starts[node] : tree.ends[node]]))
        else:
            tokens.append(_token(name))
        lasts[node] = len(tokens)
    for node in range(n_nodes - 1, 0, -1):
        parent = tree.parents[node]
        lasts[parent] = max(lasts[parent], lasts[node])
    sketches = _sketches(tree, firsts, lasts, np.array(tokens, dtype=np.uint64))
    for node, name in enumerate(tree.names):
        if name in RAW_TEXT:
            sketches[node] = _sketch(page.source[tree.starts[node] : tree.ends[node]])
    sizes = [end - start for start, end in zip(tree.starts, tree.ends, strict=True)]
    return _nodes(tree, sizes, sketches)


def _sketch(code: str) -> Hashes:
    """Return the smallest window hashes of a script's or style's own terms; of fewer than a window, of these."""
    tokens = np.array([_digest(term) for term in terms(code)], dtype=np.uint64)
    if len(tokens) < WINDOW:
        return np.array([xxhash.xxh3_64_intdigest(tokens.tobytes())], dtype=np.uint64)
    return np.unique(_windows(tokens)[: len(tokens) - WINDOW + 1])[:SKETCH]


def _digest(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace"))


@lru_cache(maxsize=1 << 16)
def _token(term: str) -> int:
    return _digest(term)


def _nodes(tree: Tree, sizes: list[int], sketches: list[Hashes]) -> list[Node]:
    """Return the nodes that are large enough and no formatting, at most MAX_NODES."""
    chosen = [
        node
        for node, name in enumerate(tree.names)
        if sizes[node] >= MIN_FRAGMENT and name != TEXT and name not in FORMATTING | WHOLE and len(sketches[node])
    ]
    if len(chosen) > MAX_NODES:
        chosen = sorted(sorted(chosen, key=lambda node: -sizes[node])[:MAX_NODES])
    numbers: dict[int, int] = {}
    above: list[int] = []
    nodes: list[Node] = []
    for node in chosen:
        while above and above[-1] + tree.sizes[above[-1]] <= node:
            above.pop()
        parent = numbers[above[-1]] if above else -1
        numbers[node] = len(nodes)
        nodes.append(Node(node, parent, sizes[node], frozenset(sketches[node].tolist())))
        above.append(node)
    return nodes


def _windows(tokens: Hashes) -> Hashes:
    """Return the hash of the window that starts at each token, as far as there are tokens."""
    hashes = np.zeros(len(tokens), dtype=np.uint64)
    for at in range(WINDOW):
        shifted = np.zeros(len(tokens), dtype=np.uint64)
        shifted[: max(len(tokens) - at, 0)] = tokens[at:]
        hashes = (hashes ^ (hashes >> np.uint64(31))) * _MULTIPLIER + shifted
    return hashes


def _sketches(tree: Tree, firsts: list[int], lasts: list[int], tokens: Hashes) -> list[Hashes]:
    """Return the smallest window hashes of each subtree; one of fewer tokens than a window has the hash of these.

    Bottom-up: the windows of a subtree are those of its children, of which only the smallest matter, and those that
    lie in no child alone. Each window is looked at once, so deep pages cost no more than flat ones.
    """
    hashes = _windows(tokens)
    below: dict[int, list[tuple[int, int, Hashes]]] = defaultdict(list)
    found: list[Hashes] = [np.empty(0, dtype=np.uint64)] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        first, last = firsts[node], lasts[node]
        children = below.pop(node, [])
        if last - first < WINDOW:
            if last > first:
                found[node] = np.array([xxhash.xxh3_64_intdigest(tokens[first:last].tobytes())], dtype=np.uint64)
            continue
        stop = last - WINDOW + 1
        if len(children) == 1 and children[0][:2] == (first, stop):
            found[node] = children[0][2]
        else:
            pieces: list[Hashes] = []
            upto = stop
            for child_first, child_stop, sketch in children:  # from right to left
                pieces += [hashes[child_stop:upto], sketch]
                upto = child_first
            found[node] = np.unique(np.concatenate([*pieces, hashes[first:upto]]))[:SKETCH]
        if node:
            below[tree.parents[node]].append((first, stop, found[node]))
    return found


def resemblance(a: frozenset[int], b: frozenset[int]) -> float:
    """Return |a and b| / |a or b| of two sets of shingles (Debnath et al. 2005, equation 8), 0.0 to 1.0."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


class _Pool:
    """Nodes by descending size, and for each shingle the nodes that have it in that order."""

    def __init__(self, nodes: Sequence[tuple[int, frozenset[int]]]) -> None:
        self.sizes = [-size for size, _ in nodes]
        self.sets = [shingles for _, shingles in nodes]
        self.having: dict[int, list[int]] = defaultdict(list)
        for number, shingles in enumerate(self.sets):
            for shingle in shingles:
                self.having[shingle].append(number)

    def matching(self, size: int, shingles: frozenset[int], upwards: bool) -> list[int]:
        """Return the nodes that match: smaller ones, and with `upwards` larger ones too, within SIZE_RATIO."""
        first = bisect_left(self.sizes, -size / SIZE_RATIO if upwards else -size)
        last = bisect_right(self.sizes, -size * SIZE_RATIO)
        counts: Counter[int] = Counter()
        for shingle in shingles:
            numbers = self.having.get(shingle, [])
            counts.update(numbers[bisect_left(numbers, first) : bisect_left(numbers, last)])
        least = MIN_MATCH * len(shingles)
        return [
            number
            for number, count in counts.items()
            if count >= least and count >= MIN_MATCH * (len(shingles) + len(self.sets[number]) - count)
        ]


@dataclass(frozen=True)
class FragmentPool:
    """The fragment trees of pages by URL, and the shared fragments found in them."""

    pages: dict[str, tuple[Node, ...]] = field(default_factory=dict)

    @property
    def n_pages(self) -> int:
        """On how many pages it rests."""
        return len(self.pages)

    def merge(self, other: "FragmentPool") -> "FragmentPool":
        """Return the pages of both."""
        return FragmentPool({**self.pages, **other.pages})

    @cached_property
    def fragments(self) -> tuple[tuple[int, frozenset[int]], ...]:
        """Size and shingles of each maximal fragment, larger ones first."""
        rows = [(node, url, number) for url, nodes in sorted(self.pages.items()) for number, node in enumerate(nodes)]
        rows.sort(key=lambda row: (-row[0].size, row[1], row[2]))
        pool = _Pool([(node.size, node.shingles) for node, _, _ in rows])
        settled: dict[str, set[int]] = defaultdict(set)
        found = []
        for node, url, number in rows:
            if number in settled[url]:
                continue
            group = [rows[place] for place in pool.matching(node.size, node.shingles, upwards=False)]
            group = [row for row in group if row[2] not in settled[row[1]]]
            if len({row[1] for row in group} | {url}) >= SHARE_FACTOR:
                found.append((node.size, node.shingles))
                for _, member_url, member in group:
                    settled[member_url].update(_subtree(self.pages[member_url], member))
        return tuple(found)

    @cached_property
    def pool(self) -> _Pool:
        """The fragments, to be looked up."""
        return _Pool(self.fragments)


def _subtree(nodes: Sequence[Node], top: int) -> Iterator[int]:
    """Yield a node's number and those below it; parents come first, so they are neighbours."""
    yield top
    members = {top}
    for number in range(top + 1, len(nodes)):
        if nodes[number].parent not in members:
            break
        members.add(number)
        yield number


@dataclass(frozen=True, slots=True)
class Shingling:
    """What lies in no shared fragment is content."""

    name = "Shingling"

    def prepare(self, pages: Iterable[Page]) -> FragmentPool:
        """Return the pages' fragment trees."""
        return FragmentPool({page.url: tuple(fragment_tree(page)) for page in pages})

    def extract(self, page: Page, evidence: FragmentPool) -> Extraction:
        """Return the verdicts; the score is the share of a block's characters outside all fragments."""
        tree = page.tree
        shared = [False] * len(tree)
        for node in fragment_tree(page):
            if not shared[node.node] and evidence.pool.matching(node.size, node.shingles, upwards=True):
                shared[node.node : node.node + tree.sizes[node.node]] = [True] * tree.sizes[node.node]
        units = (
            Unit(tree.starts[node], tree.ends[node], not shared[node], float(not shared[node]))
            for node, name in enumerate(tree.names)
            if name == TEXT
        )
        return judge(page, units, lambda share: f"{share:.0%} outside the {len(evidence.fragments)} shared fragments")
