"""Page classes found by themselves: the pages of one template on one site.

The papers assume classes given ("a set of Web pages dynamically generated from the same script is an example of a
class", Debnath et al. 2005, section 4). Here a page joins the class of its site whose founder it resembles most: by
structure, the set of ways of tags from the root to an element with its CSS classes (Jaccard coefficient), and by the
shape of its URL, which lowers what the structure must show. Pages are taken one by one: a stream is classified as it
comes.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import xxhash
from numpy.typing import NDArray

from blocks.site import site_of
from extract.protocol import Evidence, Extractor, Page
from extract.tree import TEXT

ALIKE = 0.4
"""Jaccard coefficient from which pages of one site are of one class."""

ALIKE_WITH_SHAPE = 0.2
"""The same for pages whose URLs have one shape."""

MAX_DEPTH = 8
"""How far down the ways go: what is deeper belongs to the content more often than to the template."""

MAX_WAYS = 2000
"""Ways of a page, those with the smallest hashes: a fair sample of any page's (Broder 1997)."""

MAX_CLASSES = 200
"""Classes of one site that a page is compared with."""

_NUMBER = re.compile(r"\d+")

Ways = NDArray[np.uint64]
E = TypeVar("E", bound=Evidence)


def url_shape(url: str) -> str:
    """Return the shape of a URL: site, path with numbers and names of pages made alike, names of parameters.

    >>> url_shape("http://a.test/2010/03/a-story-of-2.html?id=7") == url_shape("http://www.a.test/2011/12/b.html?id=8")
    True
    """
    try:
        parts = urlsplit(url)
        keys = sorted({key for key, _ in parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100)})
    except ValueError:
        return ""
    *folders, last = parts.path.split("/")
    _, dot, suffix = last.rpartition(".")
    ending = f".{suffix}" if dot and suffix.isalpha() and len(suffix) < 6 else ""
    path = "/".join(_NUMBER.sub("0", folder) for folder in folders)
    return f"{site_of(url)}{path}/{'*' if last else ''}{ending}?{'&'.join(keys)}"


def ways_of(page: Page) -> Ways:
    """Return hashes of the ways from the root to each element with its CSS classes: ascending, shape (n_ways,)."""
    tree = page.tree
    hashes, depths = [0] * len(tree), [0] * len(tree)
    found: set[int] = set()
    for node in range(1, len(tree)):
        name = tree.names[node]
        parent = tree.parents[node]
        depths[node] = depths[parent] + 1
        if name == TEXT or depths[node] > MAX_DEPTH:
            continue
        hashes[node] = xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogatepass"), hashes[parent])
        tag = tree.tags[node]
        css = _class_of(tag.attributes) if tag and tag.attributes else ""
        found.add(xxhash.xxh3_64_intdigest(css.encode("utf-8", "surrogatepass"), hashes[node]) if css else hashes[node])
    return np.sort(np.fromiter(found, np.uint64, len(found)))[:MAX_WAYS]


_CLASS = re.compile(r"""\bclass\s*=\s*(?:"([^"]*)|'([^']*)|([^\s>]+))""", re.IGNORECASE)


def _class_of(attributes: str) -> str:
    """Return a tag's CSS classes with numbers made alike (`post-17` and `post-18` are one)."""
    match = _CLASS.search(attributes)
    return _NUMBER.sub("0", match[1] or match[2] or match[3] or "") if match else ""


def resemblance(a: Ways, b: Ways) -> float:
    """Return the Jaccard coefficient of two sets of ways, 0.0 to 1.0; of two empty ones, 1.0."""
    shared = len(np.intersect1d(a, b, assume_unique=True))
    total = len(a) + len(b) - shared
    return shared / total if total else 1.0


@dataclass(frozen=True, slots=True)
class _Founder:
    number: int
    ways: Ways
    shape: str


@dataclass(slots=True)
class PageClasses:
    """The classes found so far. Numbers start at 0 and go up; those of different sites differ."""

    site_names: Mapping[str, str] = field(default_factory=dict)
    n_classes: int = 0
    _founders: dict[str, list[_Founder]] = field(default_factory=lambda: defaultdict(list))

    def classify(self, page: Page) -> int:
        """Return the class of a page; one that resembles no founder of its site founds a class."""
        founders = self._founders[site_of(page.url, self.site_names)]
        ways, shape = ways_of(page), url_shape(page.url)
        best, highest = -1, 0.0
        for founder in founders:
            value = resemblance(ways, founder.ways)
            if value >= (ALIKE_WITH_SHAPE if founder.shape == shape else ALIKE) and value > highest:
                best, highest = founder.number, value
        if best < 0:
            best = self.n_classes
            self.n_classes += 1
            if len(founders) < MAX_CLASSES:
                founders.append(_Founder(best, ways, shape))
        return best


@dataclass(slots=True)
class ClassEvidence(Generic[E]):
    """Evidence of many classes, gathered page by page: a buffer of pages a class, merged when it is full.

    At most `max_pages` pages of a class count, and the buffers hold at most `max_bytes`.
    """

    method: Extractor[E]
    max_pages: int = 100
    max_bytes: int = 1 << 28
    _evidence: dict[Hashable, E] = field(default_factory=dict)
    _buffers: dict[Hashable, list[Page]] = field(default_factory=lambda: defaultdict(list))
    _held: int = 0

    def add(self, key: Hashable, page: Page) -> None:
        """Let a page count for its class."""
        known = self._evidence[key].n_pages if key in self._evidence else 0
        if known + len(self._buffers[key]) >= self.max_pages:
            return
        self._buffers[key].append(Page(page.url, page.body, page.encoding, page.partition))
        self._held += len(page.body)
        if self._held > self.max_bytes:
            for each in list(self._buffers):
                self._flush(each)

    def of(self, key: Hashable) -> E:
        """Return the evidence of a class."""
        if self._buffers.get(key) or key not in self._evidence:
            self._flush(key)
        return self._evidence[key]

    def _flush(self, key: Hashable) -> None:
        pages = self._buffers.pop(key, [])
        self._held -= sum(len(page.body) for page in pages)
        new = self.method.prepare(pages)
        self._evidence[key] = self._evidence[key].merge(new) if key in self._evidence else new
