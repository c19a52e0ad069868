"""What other pages of a site say of one of them, and how that corrects the judgement of it."""

import pickle

import numpy as np
import pytest

from extract.default.clues import PAGE_TYPES
from extract.default.correction import corrected, habitual
from extract.default.headline import named
from extract.default.numbers import Facts, read_facts
from extract.default.reader import read_passages
from extract.default.site import MAX_PAGES, NOBODY, SiteEvidence, notes_of

HALF = np.full(len(PAGE_TYPES), 1 / len(PAGE_TYPES))


def facts(number: int) -> Facts:
    """A page of a shop: a menu, a name, a number and a price of its own, a maker that several books share."""
    source = (
        f"<title>Book {'abcdefghijklmnopqrstuvwxyz'[number]} : shop</title><ul><li>Menu<li>Page {number} of 20</ul>"
        f"<h2>Book {'abcdefghijklmnopqrstuvwxyz'[number]}</h2><table><tr><td>ISBN {97800 + number}</table>"
        f"<div>Maker {number // 4}</div><h4>Related books</h4>"
    )
    return read_facts(read_passages(source), f"http://shop.test/{number}")


MENU, PAGE, NAME, ISBN, MAKER, RELATED = range(6)


def evidence(n: int) -> SiteEvidence:
    notes = {}
    for number in range(n):
        read = facts(number)
        notes[f"http://shop.test/{number}"] = notes_of(read.page, np.full(6, 0.5), read.table.words, HALF)
    return SiteEvidence(notes)


def test_on_how_many_other_pages_a_text_stands() -> None:
    others = evidence(20).others(facts(3).page, "http://shop.test/3")
    assert others.n == 19
    assert others.shapes.tolist() == [19, 9, 0, 19, 19, 19]
    assert others.texts.tolist() == [19, 0, 0, 0, 3, 19]


def test_what_other_pages_have_at_its_place() -> None:
    others = evidence(20).others(facts(3).page, "http://shop.test/3")
    pages, passages, words, kept = others.at_path[NAME]
    assert (pages, passages) == (19, 19)
    assert kept == pytest.approx(words / 2)


def test_pages_of_one_template_lend_their_types() -> None:
    known = evidence(5)
    types = known.others(facts(3).page, "http://shop.test/3").types
    assert types is not None
    assert types == pytest.approx(HALF)
    assert known.others(read_passages("<p>Else"), "http://shop.test/else").types is None


def test_a_page_is_no_other_page_of_itself() -> None:
    assert evidence(1).others(facts(0).page, "http://shop.test/0") is NOBODY
    assert evidence(1).others(facts(0).page, "http://shop.test/other").n == 1


def test_parts_merge_into_the_whole_and_go_to_other_processes() -> None:
    whole = evidence(6)
    parts = SiteEvidence(dict(list(whole.notes.items())[:2])).merge(SiteEvidence(dict(list(whole.notes.items())[2:])))
    for known in (parts, pickle.loads(pickle.dumps(whole))):
        others = known.others(facts(1).page, "http://shop.test/1")
        assert others.texts.tolist() == whole.others(facts(1).page, "http://shop.test/1").texts.tolist()


def test_of_many_pages_a_fair_sample_counts() -> None:
    notes = next(iter(evidence(1).notes.values()))
    many = SiteEvidence({f"http://shop.test/{n}": notes for n in range(MAX_PAGES + 50)})
    assert SiteEvidence().merge(many).n_pages == MAX_PAGES
    assert SiteEvidence().merge(many).notes.keys() == many.merge(SiteEvidence()).notes.keys()


def test_template_goes_and_what_is_the_pages_own_stays() -> None:
    read = facts(3)
    others = evidence(20).others(read.page, "http://shop.test/3")
    before = np.array([0.3, 0.3, 0.1, 0.9, 0.9, 0.6])
    after = corrected(before, read, others, article=0.0)
    assert (after[[MENU, PAGE, RELATED]] < 0.1).all()
    assert after[NAME] > 0.9
    assert after[ISBN] > 0.5


def test_headings_that_the_title_names_at_a_place_where_each_page_has_its_own() -> None:
    read = facts(3)
    found = named(read, evidence(20).others(read.page, "http://shop.test/3"))
    assert np.flatnonzero(found).tolist() == [NAME]


WORDS = "amber brook cedar delta ember frost grove haven inlet jetty knoll ledge marsh north oasis petal quarry ridge"


def story(number: int) -> Facts:
    """A page of a newspaper: headline, author, a text with a link to another one in it, and teasers beside it."""
    own = [f"{word}{letter}" for word in WORDS.split() for letter in "abcdefghijklmnopqrst"[number]]
    source = (
        f"<body class=page{number}><h1>The {own[0]} {own[1]}</h1><div><p>By {own[2]}<p>{' '.join(own * 2)}."
        f"<p><a href=/x>More on {own[3]}</a><p>{' '.join(own[::-1] * 2)}.</div><div><h3>{own[4]} {own[5]}</h3></div>"
    )
    return read_facts(read_passages(source), f"http://news.test/{number}")


HEADLINE, AUTHOR, FIRST, LINK, LAST, TEASER = range(6)


def test_of_an_article_the_core_stays_with_what_names_it() -> None:
    before = np.array([0.3, 0.3, 0.95, 0.9, 0.95, 0.9])
    stories = [story(number) for number in range(10)]
    urls = [f"http://news.test/{number}" for number in range(10)]
    known = SiteEvidence(
        {url: notes_of(each.page, before, each.table.words, HALF) for url, each in zip(urls, stories, strict=True)}
    )
    others = known.others(stories[0].page, urls[0])
    article = corrected(before, stories[0], others, article=1.0)
    assert (article[[HEADLINE, AUTHOR, FIRST, LAST]] > 0.5).all()
    assert article[LINK] < 0.5
    assert article[TEASER] < corrected(before, stories[0], others, article=0.0)[TEASER]


def test_links_beside_running_text_are_no_habit_of_a_site() -> None:
    read, before = story(0), np.array([0.3, 0.3, 0.95, 0.9, 0.95, 0.9])
    after = habitual(before, read.table)
    assert after[LINK] == 0.0
    assert np.delete(after, LINK).tolist() == np.delete(before, LINK).tolist()
    assert habitual(np.full(6, 0.5), read.table).tolist() == [0.5] * 6


def test_a_heading_that_the_title_names_may_stand_where_no_other_page_has_one() -> None:
    read = facts(3)
    elsewhere = read_passages(
        read.page.title.join(("<title>", "</title><p>Text</p><div><h3>Book d</h3></div><div><h3>Other</h3></div>"))
    )
    page = read_facts(elsewhere, "http://shop.test/else")
    assert np.flatnonzero(named(page, evidence(3).others(page.page, "http://shop.test/else"))).tolist() == [1]


def report(number: int) -> Facts:
    """A page of a newspaper whose articles of one day are by one author, with a picture beside the text."""
    own = [f"{word}{letter}" for word in WORDS.split() for letter in "abcdefghijklmnopqrst"[number]]
    source = (
        f"<title>Paper - The {own[0]} {own[1]}</title><p>Weather<p>The {own[0]} {own[1]}<p>By Jane Roe<p>3 May 2004"
        f"<table align=left><tr><td>A picture of {own[2]}</table><p>{' '.join(own * 2)}.<p>{' '.join(own[::-1] * 2)}."
    )
    return read_facts(read_passages(source), f"http://news.test/{number}")


def test_author_and_date_stay_though_others_have_them_and_what_floats_goes() -> None:
    before = np.array([0.3, 0.3, 0.6, 0.3, 0.6, 0.95, 0.95])
    reports = [report(number) for number in range(10)]
    known = SiteEvidence(
        {f"http://news.test/{n}": notes_of(each.page, before, each.table.words, HALF) for n, each in enumerate(reports)}
    )
    others = known.others(reports[0].page, "http://news.test/0")
    after = corrected(before, reports[0], others, article=1.0)
    assert (after > 0.5).tolist() == [False, True, True, True, False, True, True]
