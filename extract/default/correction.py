"""How what the pages of a site have in common corrects the judgement of one of them.

A text that other pages have too is template. A place in the template where these pages have content is one here.
Links in lists, on a page with prose, are teasers. And a heading of which the page's title speaks, at a place where each
page has its own, names what the page is about.
"""

import re

import numpy as np
from numpy.typing import NDArray

from extract.default.hints import FLAGS
from extract.default.numbers import Facts
from extract.default.site import Others

Doubles = NDArray[np.float64]

NAMED = 3.0
"""The least log-odds of what the title names."""

IN_TITLE = 0.7
"""The share of a heading's words that the title has."""

OWN = 0.1
"""The share of other pages up to which a heading is a page's own: books share an author."""

PART = 0.1
"""The share of other pages that have a place of the template: sites have several templates, and had others."""

MAX_HEADING_WORDS = 30

HABIT = 0.9
"""How much the log-odds of content at a place of other pages weigh."""

LIKELY = 0.5
"""The probability from which a text that differs only in digits is one of its own."""

TEASER = 3.0
"""What a link among others loses in log-odds."""

SEVERAL = 3
"""Passages a page at one place from which they are a list."""

PROSE_WORDS = 50
"""Words outside links from which a page has prose."""

_HEADING = 1 << FLAGS.index("heading")
_WORD = re.compile(r"\w+")


def corrected(probability: Doubles, facts: Facts, others: Others) -> Doubles:
    """Return the probabilities corrected by what other pages of the site say."""
    odds = np.log((probability + 1e-4) / (1 - probability + 1e-4))
    # `ISBN 978...` is a text of its own, `Page 2 of 7` is not: digits count as one where content is unlikely anyway
    times = np.where(probability >= LIKELY, others.texts, others.shapes)
    odds -= np.where(times >= 2, 2.0 + 4.0 * np.minimum(1.0, 2 * times / others.n), np.where(times == 1, 0.5, 0.0))
    pages, _, words, kept = others.at_path.T
    habit = (kept + 1.0) / (words + 3.0)
    odds += np.where(pages >= 2, np.clip(np.log(habit / (1 - habit)), -3, 3) * HABIT, 0.0)
    odds -= np.where(teasers(probability, facts, others), TEASER, 0.0)
    odds = np.where(named(facts, others), np.maximum(odds, NAMED), odds)
    result: Doubles = 1 / (1 + np.exp(-odds))
    return result


def teasers(probability: Doubles, facts: Facts, others: Others) -> NDArray[np.bool_]:
    """Return which passages of a page with prose are links, several at such a place of other pages too.

    They lead to other pages and change with the day, so that neither their text nor their frequency tells them from
    content; the content of a page that is a list of links has no prose.
    """
    pages, passages = others.at_path[:, 0], others.at_path[:, 1]
    link = np.array(facts.page.link_chars) / np.maximum(1, [len(text) for text in facts.page.text])
    prose = (probability >= 0.8) & (link < 0.2)
    if facts.table.words[prose].sum() < PROSE_WORDS:
        return np.zeros(len(probability), dtype=np.bool_)
    found: NDArray[np.bool_] = (link >= 0.5) & (passages >= SEVERAL * pages) & (pages >= 2)
    return found


def named(facts: Facts, others: Others) -> NDArray[np.bool_]:
    """Return which passages are headings of which the title speaks, one at such a place of each page."""
    page = facts.page
    pages, passages = others.at_path[:, 0], others.at_path[:, 1]
    heading = np.array([page.elements.flags[element] & _HEADING > 0 for element in page.element])
    found = heading & (others.texts <= OWN * others.n) & (pages >= PART * others.n) & (passages <= 1.5 * pages)
    title = set(_WORD.findall(page.title.lower()))
    for index in np.flatnonzero(found).tolist():
        words = _WORD.findall(page.text[index].lower())[: MAX_HEADING_WORDS + 1]
        said = sum(word in title for word in words)
        found[index] = 0 < len(words) <= MAX_HEADING_WORDS and said >= IN_TITLE * len(words)
    return found
