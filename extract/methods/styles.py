"""What pages of a site have in common by presentation style: the evidence of StructureTree and StyleTree.

Both papers merge the trees of a site's pages from the top: tag nodes that stand at the same place under equal styles
become one element node. The *presentation style* of a node is the sequence of its children, each with tag and display
attributes (survey, section 2.3). Here an element node is named by a hash of the way to it (parent's name, style,
place), so that the merged tree is a table, and two tables merge by addition. Text is a child like an element; what
is not displayed is none.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape

import xxhash

from blocks.text import terms
from extract.markup import HIDDEN, Tag, attributes_of
from extract.protocol import Page
from extract.tree import TEXT, Tree

_ATTRIBUTES = "align background bgcolor border class color face height size style valign width"
DISPLAY = tuple(_ATTRIBUTES.split())
"""Attributes of presentation. Spacing and identity (`cellpadding`, `id`) differ without being seen."""

NOT_SHOWN = HIDDEN | {"head", "meta", "link", "base", "param", "input"}

ROOT = 0


@dataclass(slots=True)
class Element:
    """An element node: on how many pages, in which styles (style: pages), and what its texts say.

    `styles` is empty for a leaf. `terms` has for each term of a leaf's text the sums of tf and of tf * ln(tf) over the
    pages, from which its entropy over any number of pages follows.
    """

    n_pages: int = 0
    styles: dict[int, int] = field(default_factory=dict)
    terms: dict[str, tuple[int, float]] = field(default_factory=dict)

    def add(self, other: "Element") -> None:
        """Add what another page, or other pages, say of the same element node."""
        self.n_pages += other.n_pages
        for style, count in other.styles.items():
            self.styles[style] = self.styles.get(style, 0) + count
        for term, (tf, weighted) in other.terms.items():
            before = self.terms.get(term, (0, 0.0))
            self.terms[term] = (before[0] + tf, before[1] + weighted)

    def style_entropy(self) -> float:
        """Return the node importance: - sum p_i log_m p_i over the styles, m the pages; 1.0 for a single page."""
        if self.n_pages < 2:
            return 1.0
        return entropy(sum(self.styles.values()), sum(n * math.log(n) for n in self.styles.values()), self.n_pages)

    def term_entropy(self) -> float:
        """Return the mean entropy of the leaf's terms over its pages, 0.0 to 1.0; 0.0 for a single page."""
        if self.n_pages < 2 or not self.terms:
            return 0.0
        values = (entropy(tf, weighted, self.n_pages) for tf, weighted in self.terms.values())
        return sum(values) / len(self.terms)


def entropy(total: float, weighted: float, base: int) -> float:
    """Return - sum p_i log_base p_i of counts n_i, given their sum and the sum of n_i ln(n_i), 0.0 to 1.0.

    >>> entropy(4, 2 * 2 * math.log(2), 2)
    1.0
    """
    if total <= 0:
        return 0.0
    return min(1.0, max(0.0, (math.log(total) - weighted / total) / math.log(base)))


@dataclass(frozen=True, slots=True)
class SiteStyles:
    """The merged tree of pages: element nodes by name. A page counts once, by its URL."""

    urls: frozenset[str] = frozenset()
    elements: dict[int, Element] = field(default_factory=dict)

    @property
    def n_pages(self) -> int:
        """On how many pages it rests."""
        return len(self.urls)

    def merge(self, other: "SiteStyles") -> "SiteStyles":
        """Return the tree of both. Pages in both count twice: give each page to one of them."""
        elements: dict[int, Element] = defaultdict(Element)
        for source in (self.elements, other.elements):
            for name, element in source.items():
                elements[name].add(element)
        return SiteStyles(self.urls | other.urls, dict(elements))


def site_styles(pages: Iterable[Page]) -> SiteStyles:
    """Return the merged tree of pages; the first of equal URLs counts."""
    urls: set[str] = set()
    elements: dict[int, Element] = defaultdict(Element)
    for page in pages:
        if page.url in urls:
            continue
        urls.add(page.url)
        tree = page.tree
        for name, _, element in placed(page, tree):
            elements[name].add(element)
    return SiteStyles(frozenset(urls), dict(elements))


def placed(page: Page, tree: Tree) -> Iterator[tuple[int, int, Element]]:
    """Yield for each displayed node its element node's name, the node, and what this page says of it."""
    children: list[list[int]] = [[] for _ in tree.names]
    hidden = [False] * len(tree)
    for node in range(1, len(tree)):
        parent = tree.parents[node]
        hidden[node] = hidden[parent] or tree.names[node] in NOT_SHOWN
        if not hidden[node]:
            children[parent].append(node)
    names = [ROOT] * len(tree)
    for node, below in enumerate(children):
        if hidden[node]:
            continue
        element = Element(1)
        if below:
            style = _hash(*(_kind(tree, child) for child in below))
            element.styles[style] = 1
            for place, child in enumerate(below):
                names[child] = _hash(names[node], style, place)
        elif tree.names[node] == TEXT:
            element.terms = _terms(page.source[tree.starts[node] : tree.ends[node]])
        yield names[node], node, element


def _hash(*numbers: int) -> int:
    return xxhash.xxh3_64_intdigest(b"".join(number.to_bytes(8, "little") for number in numbers))


def _kind(tree: Tree, node: int) -> int:
    tag = tree.tags[node]
    return _tag_kind(tag.name, tag.attributes) if tag else 1


@lru_cache(maxsize=1 << 16)
def _tag_kind(name: str, attributes: str) -> int:
    """Return the hash of a tag with its display attributes."""
    shown = attributes_of(Tag(0, 0, name, False, attributes)) if attributes else {}
    text = "\0".join([name, *(f"{key}={shown[key]}" for key in DISPLAY if key in shown)])
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def _terms(source: str) -> dict[str, tuple[int, float]]:
    counts: dict[str, int] = {}
    for term in terms(unescape(source)):
        counts[term] = counts.get(term, 0) + 1
    return {term: (tf, tf * math.log(tf)) for term, tf in counts.items()}
