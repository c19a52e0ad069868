"""Passages as numbers: what the trained model looks at, a row a passage.

The columns are the passage itself, the elements around it at several heights, its neighbours, its place in the page,
the other passages with the same path of names and classes, and the page as a whole. All are counted over the page at
once with prefix sums: an element's passages are neighbours, so that whatever is known of its text is a difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from extract.default.characters import COUNTS, ENDS, Characters
from extract.default.hints import FLAGS
from extract.default.passages import Passages

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

HEIGHTS = (0, 1, 2, 3, 4, 6, 8)
"""How far above a passage's element its ancestors are looked at; the document is its own parent."""

NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
WINDOWS = (3, 8, 20)
FAR = 200.0
"""A distance in passages that counts as none."""

PARAGRAPH_WORDS = 12
LONG_PARAGRAPH_WORDS = 20

TAGS = ("p", "li", "div", "td", "h1", "h2", "h3", "h4", "dd", "dt", "body", "button", "label", "pre", "span")

_OWN = (
    *COUNTS,
    *ENDS,
    *("log_words", "mean_word", "link", "n_links", "bold", "sentence_rate", "comma_rate", "digit_rate", "upper_rate"),
    *("capital_rate", "repeat", "n_same", "is_title", "depth", "n_inner"),
)
_ANCESTOR = ("words", "share", "link", "n", "mean", "sentences", "paragraphs", "children", "place", "left")
_NEIGHBOUR = ("words", "link", "same", "path", "heading", "stop", "date")
_WINDOW = ("words", "link", "paragraphs")
_PLACE = ("at", "words_before", "words_after", "index", "index_back", "paragraph_words_before", "from_first", "to_last")
_MARKS = ("title", "h1", "heading", "date", "paragraph")
_PATH = ("n", "share", "mean", "link", "paragraphs", "spread")


def names() -> list[str]:
    """Return the names of the columns of `columns`, in order."""
    return [
        *_OWN,
        *(f"in_{flag}" for flag in FLAGS),
        *(f"tag_{tag}" for tag in TAGS),
        *(f"up{height}_{name}" for name in _ANCESTOR for height in HEIGHTS),
        *(f"near{step:+d}_{name}" for name in _NEIGHBOUR for step in NEIGHBOURS),
        *(f"within{size}_{name}" for name in _WINDOW for size in WINDOWS),
        *_PLACE,
        *(f"{side}_{mark}" for mark in _MARKS for side in ("since", "until")),
        *(f"{key}_{name}" for key in ("path", "parent_path") for name in _PATH),
    ]


@dataclass(slots=True)
class Table:
    """The columns of a page beside what further steps need: words and link share of each passage, shape (n_passages,),
    each passage's element and ancestors at HEIGHTS, shape (n_passages, n_heights); and of each element of the page its
    parent and the passages from `first` to `last`, shape (n_elements,). The document is its own parent."""

    values: Floats
    words: NDArray[np.float64]
    link: NDArray[np.float64]
    paragraph: NDArray[np.bool_]
    heading: NDArray[np.bool_]
    ancestors: Ints
    element: Ints
    parent: Ints
    first: Ints
    last: Ints
    groups: Ints


def columns(page: Passages, characters: Characters) -> Table:
    """Return the columns of a page of at least one passage, given the characters of its passages; `values` has the
    shape (n_passages, n_columns)."""
    n = len(page)
    counts, edges = characters.counts(), characters.edges()
    words = counts[:, 0].astype(np.float64)
    chars = np.maximum(counts[:, 1], 1)
    link = np.minimum(1.0, np.array(page.link_chars) / chars)
    paragraph = (words >= PARAGRAPH_WORDS) & (link < 0.5)
    elements, element = page.elements, ints(page.element)
    flags = ints([elements.flags[index] for index in page.element])
    inside = ((flags[:, None] >> np.arange(len(FLAGS))) & 1).astype(np.float32)
    heading = inside[:, FLAGS.index("heading")] > 0
    depth = ints([elements.depth[index] for index in page.element])
    tag = ints([_TAG_INDEX.get(elements.name[index], -1) for index in page.element])
    title = _like_title(page)
    own = _own(page, counts, edges, words, chars, link, title, depth)
    first, last, path = ints(elements.first), ints(elements.last), ints(elements.path)
    parent = np.maximum(ints(elements.parent), 0)
    ancestors = _ancestors(element, parent)
    groups = np.unique(path[element], return_inverse=True)[1]
    date = counts[:, COUNTS.index("years")] + counts[:, COUNTS.index("clocks")] > 0
    parts = (
        own,
        inside,
        tag[:, None] == np.arange(len(TAGS)),
        _around(ancestors, first, last, parent, words, link, counts[:, 2], paragraph),
        _beside(n, words, link, element, path[element], heading, edges[:, 2], date),
        _windows(n, words, link, paragraph),
        _place(n, words, paragraph),
        _distances(n, (title, tag == _TAG_INDEX["h1"], heading, date, words >= LONG_PARAGRAPH_WORDS)),
        _grouped(groups, words, link, paragraph),
        _grouped(np.unique(path[parent[element]], return_inverse=True)[1], words, link, paragraph),
    )
    values = np.concatenate(parts, axis=1, dtype=np.float32)
    return Table(values, words, link, paragraph, heading, ancestors, element, parent, first, last, groups)


def ints(values: Sequence[int]) -> Ints:
    """Return a list as an array."""
    return np.fromiter(values, dtype=np.int64, count=len(values))


_TAG_INDEX = {tag: index for index, tag in enumerate(TAGS)}


def _own(
    page: Passages,
    counts: Floats,
    edges: Floats,
    words: NDArray[np.float64],
    chars: Floats,
    link: NDArray[np.float64],
    title: NDArray[np.bool_],
    depth: Ints,
) -> Floats:
    some = np.maximum(words, 1)
    seen: dict[str, int] = {}
    repeat = []
    for text in page.text:
        times = seen.get(text, 0)
        repeat.append(times)
        seen[text] = times + 1
    rest = (
        np.log1p(words),
        chars / some,
        link,
        page.n_links,
        np.minimum(1.0, np.array(page.bold_chars) / chars),
        counts[:, 2] / some,
        counts[:, 3] / some,
        counts[:, 4] / chars,
        counts[:, 5] / chars,
        counts[:, 6] / some,
        repeat,
        [seen[text] for text in page.text],
        title,
        depth,
        list(map(len, page.inner)),
    )
    return np.concatenate((counts, edges, np.stack(rest, axis=1)), axis=1, dtype=np.float32)


def _like_title(page: Passages) -> NDArray[np.bool_]:
    """Return which passages are the page's title, or a good part of it."""
    title = page.title.lower()
    found = np.zeros(len(page), dtype=np.bool_)
    for index, text in enumerate(page.text) if title else ():
        if 8 < len(text) < 300:
            lower = text.lower()
            found[index] = lower in title if len(lower) <= len(title) else title in lower
    return found


def _prefix(values: NDArray[np.float64] | NDArray[np.bool_] | Floats) -> NDArray[np.float64]:
    """Return the sums of the values before each index, and of all: shape (n + 1,)."""
    return np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))


def _ancestors(element: Ints, parent: Ints) -> Ints:
    levels, current, height = [], element, 0
    for wanted in HEIGHTS:
        while height < wanted:
            current = parent[current]
            height += 1
        levels.append(current)
    return np.stack(levels, axis=1)


def _around(
    ancestors: Ints,
    first: Ints,
    last: Ints,
    parent: Ints,
    words: NDArray[np.float64],
    link: NDArray[np.float64],
    sentences: Floats,
    paragraph: NDArray[np.bool_],
) -> Floats:
    def inside(values: NDArray[np.float64] | NDArray[np.bool_] | Floats) -> NDArray[np.float64]:
        sums = _prefix(values)
        return sums[last] - sums[first]

    n_words, size = inside(words), (last - first).astype(np.float64)
    some, several = np.maximum(n_words, 1), np.maximum(size, 1)
    children = np.bincount(parent, minlength=len(parent))
    by_element = (
        np.log1p(n_words),
        n_words / max(1.0, words.sum()),
        inside(words * link) / some,
        np.log1p(size),
        n_words / several,
        inside(sentences) / some,
        inside(paragraph) / several,
        children,
    )
    at = np.arange(len(words))[:, None]
    place, left = at - first[ancestors], last[ancestors] - at
    parts = [np.asarray(values, dtype=np.float32)[ancestors] for values in by_element]
    return np.concatenate((*parts, place, left), axis=1, dtype=np.float32)


def _beside(
    n: int,
    words: NDArray[np.float64],
    link: NDArray[np.float64],
    element: Ints,
    path: Ints,
    heading: NDArray[np.bool_],
    stop: Floats,
    date: NDArray[np.bool_],
) -> Floats:
    at = np.arange(n)[:, None] + np.array(NEIGHBOURS)
    outside = (at < 0) | (at >= n)
    at = np.clip(at, 0, n - 1)
    parts = (
        np.where(outside, -1.0, np.log1p(words)[at]),
        np.where(outside, -1.0, link[at]),
        element[at] == element[:, None],
        path[at] == path[:, None],
        heading[at],
        stop[at],
        date[at],
    )
    return np.concatenate(parts, axis=1, dtype=np.float32)


def _windows(n: int, words: NDArray[np.float64], link: NDArray[np.float64], paragraph: NDArray[np.bool_]) -> Floats:
    at, sizes = np.arange(n)[:, None], np.array(WINDOWS)
    low, high = np.maximum(at - sizes, 0), np.minimum(at + sizes + 1, n)
    sums = [_prefix(values) for values in (words, words * link, paragraph)]
    n_words, linked, paragraphs = (total[high] - total[low] for total in sums)
    parts = (n_words / (high - low), linked / np.maximum(1, n_words), paragraphs / (high - low))
    return np.concatenate(parts, axis=1, dtype=np.float32)


def _place(n: int, words: NDArray[np.float64], paragraph: NDArray[np.bool_]) -> Floats:
    sums, inside = _prefix(words), _prefix(words * paragraph)
    total, at = max(1.0, sums[-1]), np.arange(n)
    long = np.flatnonzero(paragraph & (words >= LONG_PARAGRAPH_WORDS))
    from_first = at - long[0] if len(long) else np.full(n, -FAR)
    to_last = long[-1] - at if len(long) else np.full(n, -FAR)
    parts = (at / n, sums[:-1] / total, 1 - sums[1:] / total, at, at[::-1], inside[:-1] / max(1.0, inside[-1]))
    return np.stack((*parts, from_first, to_last), axis=1).astype(np.float32)


def _distances(n: int, marks: Sequence[NDArray[np.bool_]]) -> Floats:
    """Return how many passages ago each mark was, and after how many it comes again; FAR at most."""
    at = np.arange(n, dtype=np.float64)
    parts = []
    for mark in marks:
        parts.append(at - np.maximum.accumulate(np.where(mark, at, -FAR)))
        back = np.where(mark, at, n + FAR)[::-1]
        parts.append(np.minimum.accumulate(back)[::-1] - at)
    return np.minimum(np.stack(parts, axis=1), FAR).astype(np.float32)


def _grouped(
    groups: Ints, words: NDArray[np.float64], link: NDArray[np.float64], paragraph: NDArray[np.bool_]
) -> Floats:
    n = len(words)
    size = np.bincount(groups)
    n_words = np.bincount(groups, words)
    first = np.full(len(size), n)
    first[groups[::-1]] = np.arange(n)[::-1]
    last = np.zeros(len(size), dtype=np.int64)
    last[groups] = np.arange(n)
    by_group = (
        np.log1p(size),
        n_words / max(1.0, words.sum()),
        n_words / size,
        np.bincount(groups, words * link) / np.maximum(1, n_words),
        np.bincount(groups, paragraph) / size,
        (last - first) / n,
    )
    return np.stack(by_group, axis=1)[groups].astype(np.float32)
