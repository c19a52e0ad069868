"""How what the pages of a site have in common corrects the judgement of one of them.

A text that other pages have too is template. A place in the template where these pages have content is one here, and
what stands outside of the page's core is not. Links, on a page with running text, lead to other pages. And what each
page has for itself at one place, as a heading or just before its text, says what it is about, by whom and of when.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from extract.default.columns import Table
from extract.default.core import (
    FLOATING,
    LINKED,
    MIN_WORDS,
    floating,
    odds_of,
    outside_core,
    probability_of,
    running_text,
)
from extract.default.headline import ONE, PART, begins_at, bylines, first_headings, named, unmarked
from extract.default.numbers import Facts
from extract.default.site import Others

Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]

NAMED = 3.0
"""The least log-odds of what names the page."""

BYLINE = 1.5
"""The least log-odds of what each page has for itself just before its text."""

OWN = 0.1
"""The share of other pages up to which a text is a page's own: books share an author."""

HABIT = 0.9
"""How much the log-odds of content at a place of other pages weigh."""

LIKELY = 0.5
"""The probability from which a text that differs only in digits is one of its own."""

OUTSIDE = 3.0
"""What passages outside of an article's core lose in log-odds."""

LEADING = 5.0
"""What a passage that leads elsewhere loses in log-odds on a page with running text."""


class _Places(NamedTuple):
    """What other pages have: how often each text, and at its place the pages and whether it is one passage a page;
    `own` are the passages with a text of their own at such a place."""

    times: Doubles
    pages: Doubles
    single: Mask
    own: Mask


def corrected(probability: Doubles, facts: Facts, others: Others, article: float) -> Doubles:
    """Return the probabilities corrected by what other pages of the site say.

    `article` is the probability that the page is one: its core is all of it, whereas what is said of a product stands
    in several places.
    """
    places = _places(probability, others)
    odds = odds_of(probability) - _template(places, others.n) + _habit(others)
    likely = probability_of(odds)
    running = running_text(likely, facts.table)
    names = named(facts, others) | (first_headings(facts) & places.own)
    if facts.table.words[running].sum() >= MIN_WORDS:
        odds -= np.where((facts.table.link >= LINKED) & ~places.own, LEADING, 0.0)
        odds -= np.where(_elsewhere(likely, facts, places), article * OUTSIDE, 0.0)
        beside = floating(likely, facts)
        odds -= np.where(beside, article * FLOATING, 0.0)
        begins = begins_at(running, facts)
        names |= unmarked(facts, names, begins)
        above = bylines(facts, names, places.own, begins) & ~beside
        odds = np.where(above, np.maximum(odds, BYLINE), odds)
    return probability_of(np.where(names, np.maximum(odds, NAMED), odds))


def _places(probability: Doubles, others: Others) -> _Places:
    # `ISBN 978...` is a text of its own, `Page 2 of 7` is not: digits count as one where content is unlikely anyway
    times = np.where(probability >= LIKELY, others.texts, others.shapes)
    pages, passages = others.at_path[:, 0], others.at_path[:, 1]
    single = passages <= ONE * pages
    own = single & (others.texts <= OWN * others.n) & (pages >= max(2.0, PART * others.n))
    return _Places(times, pages, single, own)


def _template(places: _Places, n: int) -> Doubles:
    """Return what texts that other pages have lose: the more, the larger a part they are of those with the place."""
    times = places.times
    of_pages = np.where(places.pages >= np.maximum(times, 2), places.pages, n)
    return np.where(times >= 2, 2.0 + 4.0 * np.minimum(1.0, 2 * times / of_pages), np.where(times == 1, 0.5, 0.0))


def _habit(others: Others) -> Doubles:
    """Return what a passage gains or loses by what other pages have at its place."""
    pages, _, words, kept = others.at_path.T
    share = (kept + 1.0) / (words + 3.0)
    return np.where(pages >= 2, np.clip(np.log(share / (1 - share)), -3, 3) * HABIT, 0.0)


def _elsewhere(likely: Doubles, facts: Facts, places: _Places) -> Mask:
    """Return the passages outside of the core; before it, only those that are no page's own."""
    outside = outside_core(likely, facts.table)
    inside = np.flatnonzero(~outside)
    before = np.arange(len(likely)) < (inside[0] if len(inside) else 0)
    return outside & ~(before & places.single & (places.times < 1) & (places.pages >= 2))


def habitual(probability: Doubles, table: Table) -> Doubles:
    """Return how probable it is that each passage is content, as others will hear of it: on a page with running text no
    links are, or each page would keep those that all of them have in doubt."""
    if table.words[running_text(probability, table)].sum() < MIN_WORDS:
        return probability
    return np.where(table.link < LINKED, probability, 0.0)
