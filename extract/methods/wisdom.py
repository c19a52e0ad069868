"""k-MIB, k-maximum informative block mining (WISDOM; Kao, Ho, Chen 2005): the k richest even subtrees of a page.

Each node has the length of its anchor text (ALEN), of its other text (CLEN), and how well its anchors' texts agree with
the pages they lead to (API); summed bottom-up they make the information coverage tree. The structure information
index SII of a node is the normalised entropy of its children's shares of a feature: high when the children are alike,
as paragraphs or the entries of a list are. A greedy walk from the root takes the node with the highest value; an even
one (SII at least the threshold) is an informative block, an uneven one makes way for its children, until k are found.

Article blocks are mined by CLEN, lists of links by ALEN or API. Choices: children without any of the feature do not
count as children; a node with one child makes way for it; a leaf is even; k and the threshold.
"""

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urldefrag, urljoin

from blocks.text import terms
from extract.methods.cover import Unit, judge
from extract.protocol import Extraction, Page
from extract.tree import TEXT, Tree

FEATURES = ("CLEN", "ALEN", "API")

K = 3
"""Informative blocks of a page at most."""

THRESHOLD = 0.85
"""SII from which the children of a node count as alike."""


@dataclass(frozen=True, slots=True)
class LinkedPages:
    """The terms of pages that anchors may lead to, by URL; empty unless API is mined."""

    n_pages: int = 0
    terms_of: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def merge(self, other: "LinkedPages") -> "LinkedPages":
        """Return the pages of both."""
        return LinkedPages(self.n_pages + other.n_pages, {**self.terms_of, **other.terms_of})


@dataclass(frozen=True, slots=True)
class KMib:
    """The `k` informative blocks richest in `feature`: CLEN, ALEN or API."""

    name = "k-MIB"
    k: int = K
    feature: str = "CLEN"
    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        if self.feature not in FEATURES:
            raise ValueError(f"feature {self.feature!r}: one of {', '.join(FEATURES)} expected")

    def prepare(self, pages: Iterable[Page]) -> LinkedPages:
        """Return what anchors lead to, for API; the other features are the page's own."""
        counted, found = 0, {}
        for page in pages:
            counted += 1
            if self.feature == "API":
                found[urldefrag(page.url).url] = frozenset(terms(" ".join(page.texts)))
        return LinkedPages(counted, found)

    def extract(self, page: Page, evidence: LinkedPages) -> Extraction:
        """Return the verdicts; the score is the content information index (share of CLEN) of a block's node."""
        tree = page.tree
        lengths = {feature: coverage(page, feature, evidence) for feature in {"CLEN", "ALEN", self.feature}}
        units = []
        for node in informative_blocks(tree, lengths[self.feature], self.k, self.threshold):
            content = lengths["CLEN"][node]
            index = content / max(content + lengths["ALEN"][node], 1)
            units.append(Unit(tree.starts[node], tree.ends[node], True, index))
        return judge(page, units, lambda share: f"{share:.0%} in the {self.k} blocks richest in {self.feature}")


def coverage(page: Page, feature: str, evidence: LinkedPages) -> list[float]:
    """Return the information coverage tree: for each node the sum of a feature over its subtree."""
    tree = page.tree
    values = [0.0] * len(tree)
    inside = [-1] * len(tree)  # the A element around a node
    for node in range(1, len(tree)):
        inside[node] = node if tree.names[node] == "a" else inside[tree.parents[node]]
        if tree.names[node] == TEXT and (inside[node] >= 0) == (feature != "CLEN"):
            text = page.source[tree.starts[node] : tree.ends[node]].strip()
            values[node] = float(len(text))
            if feature == "API":
                values[node] *= _agreement(page, text, tree.attributes(inside[node]).get("href", ""), evidence)
    for node in range(len(tree) - 1, 0, -1):
        values[tree.parents[node]] += values[node]
    return values


def _agreement(page: Page, text: str, href: str, evidence: LinkedPages) -> float:
    """Return the anchor precision index: the share of an anchor's terms that the linked page has; 0.0 if unknown."""
    try:
        linked = evidence.terms_of.get(urldefrag(urljoin(page.url, href)).url)
    except ValueError:
        return 0.0
    wanted = set(terms(text))
    return len(wanted & linked) / len(wanted) if linked and wanted else 0.0


def structure_index(shares: Iterable[float]) -> float:
    """Return the SII of a node from its children's values: normalised entropy of their shares, 0.0 to 1.0.

    >>> round(structure_index([3.0, 3.0, 3.0]), 9)
    1.0
    """
    values = [value for value in shares if value > 0]
    if len(values) < 2:
        return 0.0
    total = sum(values)
    return -sum(value / total * math.log(value / total) for value in values) / math.log(len(values))


def informative_blocks(tree: Tree, values: list[float], k: int, threshold: float) -> list[int]:
    """Return at most k nodes, richest first, by the greedy walk from the root."""
    children = tree.children()
    heap = [(-values[0], 0)]
    found: list[int] = []
    while heap and len(found) < k:
        value, node = heapq.heappop(heap)
        if value >= 0:
            break
        if not children[node] or structure_index(values[child] for child in children[node]) >= threshold:
            found.append(node)
        else:
            for child in children[node]:
                heapq.heappush(heap, (-values[child], child))
    return found
