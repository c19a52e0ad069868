"""The core of a page: the lowest element that holds nearly all of its running text.

What a page is about is written in one place; what stands outside of it, or floats beside it, leads elsewhere. The
judgement of single passages does not see that place: it follows from all of them together.
"""

import re

import numpy as np
from numpy.typing import NDArray

from extract.default.clues import PAGE_TYPES
from extract.default.columns import PARAGRAPH_WORDS, Table
from extract.default.numbers import Facts
from extract.default.passages import Passages

Doubles = NDArray[np.float64]

ARTICLE = PAGE_TYPES.index("article")

SURELY = 0.8
"""The probability from which a passage counts as running text, or a page as an article."""

MAX_LINK = 0.2
"""The share of links up to which it does."""

MIN_WORDS = 50
"""Words of running text from which a page has a core."""

SHARE = 0.9
"""The share of the running text that the core holds."""

OUTSIDE = 1.0
"""What passages outside of the core lose in log-odds: the best of 0.7 to 6 on WCXB's development pages, by
cross-validation."""

LINKED = 0.5
"""The share of links from which a passage leads elsewhere."""

LEADING = 3.0
"""What such passages outside of the core lose beside: from 0 to 3 all are alike on WCXB's development pages as a whole,
by cross-validation (collections and products gain, listings lose); 3 is the best of these on pages of news."""

FLOATING = 6.0
"""What passages lose that float beside an article's text: of 0, 3 and 6 the best on pages of news. Two of WCXB's
development pages have any."""

FLOAT_SHARE = 0.3
"""The share of the running text up to which a floating table stands beside it: layouts float too."""

FLOATS_SHARE = 0.5
"""The share up to which all of these together do."""

NAMED = 0.8
"""The least log-odds of the name of a page that may be no article: chosen for a bookshop's titles and authors, which
stand outside of the core; WCXB's development pages lose 0.0005 by it, as its articles' truths have no titles."""

IN_TITLE = 0.7
"""The share of a heading's words that the title has."""

MAX_NAME_WORDS = 30

_WORD = re.compile(r"\w+")
_FLOATS = re.compile(r"(?<![\w-])align\s*=\s*[\"']?(?:left|right)\b", re.IGNORECASE)


def running_text(probability: Doubles, table: Table) -> NDArray[np.bool_]:
    """Return which passages are text to read, not links: shape (n_passages,)."""
    found: NDArray[np.bool_] = (probability >= SURELY) & (table.link < MAX_LINK)
    return found


def outside_core(probability: Doubles, table: Table) -> NDArray[np.bool_]:
    """Return which passages lie outside of the page's core: none when the page has none."""
    outside = np.zeros(len(probability), dtype=np.bool_)
    words = table.words * (running_text(probability, table) & (table.words >= PARAGRAPH_WORDS))
    sums = np.concatenate(([0.0], np.cumsum(words)))
    if sums[-1] >= MIN_WORDS:
        # elements that hold most of a text lie in each other, and the lowest one begins last
        core = np.flatnonzero(sums[table.last] - sums[table.first] >= SHARE * sums[-1])[-1]
        outside[: table.first[core]] = outside[table.last[core] :] = True
    return outside


def floating(probability: Doubles, facts: Facts) -> NDArray[np.bool_]:
    """Return which passages stand in tables that float beside the text, as captions, quotations and lists of links do:
    those aligned to the left or the right (HTML, 15.3.8), with little of the running text."""
    elements, table = facts.page.elements, facts.table
    rows = enumerate(zip(elements.name, elements.attributes, strict=True))
    aligned = [element for element, (name, attributes) in rows if name == "table" and _FLOATS.search(attributes)]
    if not aligned:
        return np.zeros(len(probability), dtype=np.bool_)
    words = table.words * running_text(probability, table)
    sums = np.concatenate(([0.0], np.cumsum(words)))
    first, last = table.first[aligned], table.last[aligned]
    beside = sums[last] - sums[first] <= FLOAT_SHARE * sums[-1]
    n = len(probability) + 1
    begun, ended = np.bincount(first[beside], minlength=n), np.bincount(last[beside], minlength=n)
    found: NDArray[np.bool_] = np.cumsum(begun - ended)[:-1] > 0
    found &= words[found].sum() <= FLOATS_SHARE * sums[-1]
    return found


def odds_of(probability: Doubles) -> Doubles:
    """Return log-odds, between -9.2 and 9.2."""
    odds: Doubles = np.log((probability + 1e-4) / (1 - probability + 1e-4))
    return odds


def probability_of(odds: Doubles) -> Doubles:
    """Return the probabilities of log-odds."""
    probability: Doubles = 1 / (1 + np.exp(-odds))
    return probability


def speaks_of(title: set[str], text: str) -> bool:
    """Return whether a title, given by its words, has nearly all words of a text that is no long one."""
    words = _WORD.findall(text.lower())[: MAX_NAME_WORDS + 1]
    said = sum(word in title for word in words)
    return 0 < len(words) <= MAX_NAME_WORDS and said >= IN_TITLE * len(words)


def title_words(page: Passages) -> set[str]:
    """Return the words of a page's title in lower case."""
    return set(_WORD.findall(page.title.lower()))


def name(facts: Facts, outside: NDArray[np.bool_]) -> slice:
    """Return where the page is named before its core: a heading of which the title speaks, and what follows it, which
    often says by whom or what for; an empty slice where it is not."""
    core = np.flatnonzero(~outside)
    title = title_words(facts.page)
    for index in np.flatnonzero(facts.table.heading[: core[0] + 1] if len(core) else ()).tolist():
        if speaks_of(title, facts.page.text[index]):
            return slice(index, index + 2)
    return slice(0, 0)


def centred(probability: Doubles, facts: Facts, types: Doubles) -> Doubles:
    """Return the probabilities with those outside of the core lowered, of links most; the page's name is not. Those of
    what floats beside an article's text are lowered too.

    `types` are the probabilities of PAGE_TYPES. Where the page may be something else than an article, its name is kept.
    """
    outside = outside_core(probability, facts.table)
    named = name(facts, outside) if outside.any() else slice(0, 0)
    outside[named] = False
    odds = odds_of(probability) - outside * (OUTSIDE + LEADING * (facts.table.link >= LINKED))
    odds -= floating(probability, facts) * (FLOATING * types[ARTICLE])
    if types[ARTICLE] < SURELY:
        odds[named] = np.maximum(odds[named], NAMED)
    return probability_of(odds)
