"""The same text on several sites is found, counted by blocks and measured; nothing else is."""

from dataclasses import replace

import pytest

from blocks.model import Capture
from store.base import Record, Store
from store.duplicates import near_duplicates, near_duplicates_of
from tests.store.conftest import page, site_pages

WORDS = [f"{name}{i}" for i in range(40) for name in ("harbour", "minister", "said", "evening")]
AGENCY = [" ".join(WORDS[i : i + 50]) for i in range(0, 150, 50)]


def article(host: str, paragraphs: list[str], n: int = 1, **more: int) -> Capture:
    """Return an article in the template of a site."""
    own = " ".join(f"{host}{i}" for i in range(45))
    body = f"<div>{own}</div><h1>Story {n}</h1>" + "".join(f"<p class={host}>{text}" for text in paragraphs)
    return page(f"http://{host}/story/{n}", body.encode(), **more)


def asked(store: Store, capture: Capture) -> Record:
    return store.find(capture.url)[0]


def main_text(capture: Capture) -> list[bytes]:
    """Return the paragraphs: what a method would say is content."""
    return [b"<p" + part for part in capture.body.split(b"<p")[1:]]


@pytest.fixture
def filled(store: Store) -> Store:
    changed = [AGENCY[0], AGENCY[1].replace("harbour17", "port"), "their own words " * 20]
    store.keep([article("a.test", AGENCY), *site_pages(20, "a.test")])
    store.keep([article("b.test", changed), *site_pages(20, "b.test")])
    store.keep([article("c.test", ["nothing in common " * 20]), article("c.test", ["short text"], 2)])
    return store


@pytest.mark.parametrize("compacted", [False, True])
def test_the_same_text_on_another_site_is_found(filled: Store, compacted: bool) -> None:
    if compacted:
        filled.compact()
    found = near_duplicates(filled, asked(filled, article("a.test", AGENCY)), main_text)
    assert (found.n_blocks, found.n_unread) == (3, 0)
    (near,) = found.found
    assert (near.record.capture.url, near.n_shared) == ("http://b.test/story/1", 2)
    a = {tuple(text.split()[i : i + 3]) for text in AGENCY for i in range(48)}
    b_texts = [AGENCY[0], AGENCY[1].replace("harbour17", "port"), "their own words " * 20]
    b = {tuple(text.split()[i : i + 3]) for text in b_texts for i in range(len(text.split()) - 2)}
    assert near.resemblance == pytest.approx(len(a & b) / len(a | b))
    back = near_duplicates(filled, near.record, main_text)
    assert [n.record.capture.url for n in back.found] == ["http://a.test/story/1"]
    assert back.found[0].resemblance == pytest.approx(near.resemblance)


def test_the_most_resembling_comes_first_and_one_of_each_page(filled: Store) -> None:
    again = [article("d.test", AGENCY, time=t) for t in (10_000, 20_000)]
    filled.keep([*again, article("a.test", AGENCY, time=5)])
    found = near_duplicates(filled, asked(filled, article("a.test", AGENCY)), main_text)
    assert [n.record.capture.url for n in found.found] == ["http://d.test/story/1", "http://b.test/story/1"]
    assert (found.found[0].resemblance, found.found[0].n_shared) == (1.0, 3)
    assert found.found[0].record.capture.time == 20_000


def test_without_a_choice_every_long_block_counts(filled: Store) -> None:
    found = near_duplicates(filled, asked(filled, article("a.test", AGENCY)))
    assert found.n_blocks == 4
    assert found.found[0].n_shared == 2


def test_short_and_private_pages_are_like_nothing(filled: Store) -> None:
    assert near_duplicates(filled, asked(filled, article("c.test", [], 2)), main_text).n_blocks == 0
    private = replace(article("e.test", AGENCY), private=True)
    filled.keep([private])
    assert near_duplicates(filled, asked(filled, private), main_text).found == ()
    found = near_duplicates(filled, asked(filled, article("a.test", AGENCY)), main_text)
    assert "http://e.test/story/1" not in {n.record.capture.url for n in found.found}


def test_a_page_that_is_not_in_the_store_may_ask(filled: Store) -> None:
    found = near_duplicates_of(filled, article("z.test", AGENCY), main_text)
    assert [n.record.capture.url for n in found.found] == ["http://a.test/story/1", "http://b.test/story/1"]


def test_what_is_not_read_is_counted(filled: Store) -> None:
    found = near_duplicates_of(filled, article("z.test", AGENCY), main_text, most_read=1)
    assert (len(found.found), found.n_unread) == (1, 1)
