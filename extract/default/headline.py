"""What stands above the text of a page and says what it is about, by whom it is and of when.

A name is a heading, or at least a line, of which the title speaks; author and date stand between it and the text. Other
pages of the site may have them too: as a link, or because they are by the same author or of the same day.
"""

import re

import numpy as np
from numpy.typing import NDArray

from extract.default.characters import COUNTS
from extract.default.core import speaks_of, title_words
from extract.default.numbers import Facts
from extract.default.site import Others

Mask = NDArray[np.bool_]

PART = 0.1
"""The share of other pages that have a place of the template: sites have several templates, and had others."""

ONE = 1.5
"""Passages a page up to which a place has one."""

SHOWN = 0.5
"""The share of other pages up to which a heading of which the title speaks is a page's own: they may link to it."""

FIRST_WORDS = 12
"""Words from which a passage of running text counts as the beginning of the text."""

ABOVE = 5
"""Passages above the text among which a name that is no heading is looked for."""

BEFORE = 3
"""Passages before the text that count as just before it."""

MAX_LINE_WORDS, MIN_LINE_WORDS = 60, 3
"""Words of a passage that may have a line that is the name, words of that line."""

BYLINE_WORDS = 25

MAX_LINK, MAX_BYLINE_LINK = 0.5, 0.8
"""The share of links up to which a passage is a name, or a byline: authors have pages."""

_BY = re.compile(r"(?:by|von|par|por|di|door)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_TIMES = [COUNTS.index("years"), COUNTS.index("clocks")]


def begins_at(running: Mask, facts: Facts) -> int:
    """Return the first passage of the running text, 0 when there is none."""
    return int(np.argmax(running & (facts.table.words >= FIRST_WORDS)))


def first_headings(facts: Facts) -> Mask:
    """Return the passages in headings of the first level."""
    names, parents = facts.page.elements.name, facts.page.elements.parent
    return np.array(["h1" in (names[element], names[parents[element]]) for element in facts.page.element])


def named(facts: Facts, others: Others) -> Mask:
    """Return which passages are headings of which the title speaks: one at a place of each page, or of this one alone.

    Other pages may have the text too, as a link to this one.
    """
    pages, passages = others.at_path[:, 0], others.at_path[:, 1]
    at_place = (pages >= PART * others.n) & (others.texts <= SHOWN * others.n)
    found: Mask = facts.table.heading & (passages <= ONE * pages) & (at_place | (others.texts <= 1))
    title = _title(facts)
    for index in np.flatnonzero(found).tolist():
        found[index] = speaks_of(title, facts.page.text[index])
    return found


def _title(facts: Facts) -> set[str]:
    return title_words(facts.page) | set(_WORD.findall(facts.meta.first("og:title").lower()))


def unmarked(facts: Facts, names: Mask, begins: int) -> Mask:
    """Return the passage just above the text, if there is one, that names the page and is no heading: one with a line
    of which the title speaks; none where another name stands above the text."""
    found = np.zeros(len(names), dtype=np.bool_)
    if not names[:begins].any():
        title, table = _title(facts), facts.table
        for index in range(begins - 1, max(0, begins - ABOVE) - 1, -1):
            if table.link[index] < MAX_LINK and table.words[index] <= MAX_LINE_WORDS:
                lines = facts.page.text[index].split("\n")
                if any(len(_WORD.findall(line)) >= MIN_LINE_WORDS and speaks_of(title, line) for line in lines):
                    found[index] = True
                    break
    return found


def bylines(facts: Facts, names: Mask, own: Mask, begins: int) -> Mask:
    """Return the short passages above the text that say by whom or of when it is, and those just before it with a text
    that is the page's own; `own` are these of the whole page."""
    found = np.zeros(len(names), dtype=np.bool_)
    found[max(0, begins - BEFORE) : begins] = own[max(0, begins - BEFORE) : begins]
    above = np.flatnonzero(names[:begins])
    after = int(above[-1]) + 1 if len(above) else max(0, begins - BEFORE)
    dated = facts.table.values[:, _TIMES].sum(axis=1) > 0
    for index in range(after, begins):
        found[index] |= dated[index] or _BY.match(facts.page.text[index]) is not None
    found &= (facts.table.words <= BYLINE_WORDS) & (facts.table.link < MAX_BYLINE_LINK)
    return found
