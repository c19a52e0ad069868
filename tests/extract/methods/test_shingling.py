"""Shingling: sketches of subtrees, resemblance, maximal shared fragments."""

import numpy as np
import pytest

from extract.methods.shingling import (
    MAX_NODES,
    SKETCH,
    WINDOW,
    Shingling,
    _digest,
    _windows,
    fragment_tree,
    resemblance,
)
from extract.protocol import Page, page_of
from tests.extract.pages import news_page, news_pages

WORDS = [f"word{n}" for n in range(200)]
TEXT = " ".join(WORDS[:60])


def tree_of(body: str) -> dict[str, frozenset[int]]:
    page = page_of("", body.encode())
    return {page.tree.names[node.node]: node.shingles for node in fragment_tree(page)}


def test_equation_8() -> None:
    assert resemblance(frozenset({1, 2, 3}), frozenset({2, 3, 4})) == 0.5
    assert resemblance(frozenset({1}), frozenset({1})) == 1.0
    assert resemblance(frozenset(), frozenset()) == 0.0


def test_n_tokens_have_n_minus_w_plus_1_shingles_of_which_the_smallest_are_kept() -> None:
    assert len(tree_of(f"<p>{' '.join(WORDS[:28])}")["p"]) == 28 + 1 - WINDOW + 1  # the tag is a token, too
    assert len(tree_of(f"<p>{' '.join(WORDS)}")["p"]) == SKETCH


def test_a_subtree_has_the_same_sketch_wherever_it_stands() -> None:
    alone = tree_of(f"<ul><li>{TEXT}</ul>")["ul"]
    assert tree_of(f"<div>{' '.join(WORDS[90:])}<ul><li>{TEXT}</ul>more text behind it</div>")["ul"] == alone
    short = tree_of("<p>only a few words of thirty bytes")["p"]
    assert tree_of("<p>only a few words of thirty bytes</p>and then another text that goes on")["p"] == short


def test_a_sketch_from_the_children_is_that_of_all_windows() -> None:
    words = TEXT.split()
    page = page_of(
        "", f"<div>{' '.join(words[:25])}<p>{' '.join(words[25:50])}</p>{' '.join(words[50:])}</div>".encode()
    )
    tokens = ["div", *words[:25], "p", *words[25:50], *words[50:]]
    hashes = _windows(np.array([_digest(token) for token in tokens], dtype=np.uint64))
    expected = sorted(hashes[: len(tokens) - WINDOW + 1].tolist())[:SKETCH]
    assert fragment_tree(page)[0].shingles == frozenset(expected)


def test_formatting_tags_are_no_nodes() -> None:
    assert set(tree_of(f"<p><b>{TEXT}</b> <i>and {TEXT}</i>")) == {"p"}


def test_a_page_is_no_fragment_and_a_link_is_one() -> None:
    assert set(tree_of(f"<html><body><a href='/'>{TEXT}</a>")) == {"a"}


def test_a_script_is_one_token_of_what_is_around_it_and_many_of_its_own() -> None:
    found = tree_of(f"<div><p>{TEXT}<script>{' '.join(WORDS[60:])}</script></div>")
    again = tree_of(f"<div><p>{TEXT}<script>{' '.join(WORDS[60:199])} other</script></div>")
    assert resemblance(found["script"], again["script"]) > 0.8
    assert resemblance(found["div"], again["div"]) > 0.6


def pages(*bodies: str) -> list[Page]:
    return [page_of(f"http://a.test/{n}", body.encode()) for n, body in enumerate(bodies)]


def story(number: int) -> str:
    return "<p>" + " ".join(f"story{number}x{at}" for at in range(30))


def test_only_the_largest_shared_fragment_counts() -> None:
    shared = f"<div><p>{TEXT}</p><ul><li>{' '.join(WORDS[100:130])}</ul></div>"
    method = Shingling()
    evidence = method.prepare(pages(shared + story(1), shared + story(2), story(3)))
    assert len(evidence.fragments) == 1


def test_nearly_equal_fragments_are_shared() -> None:
    near = " ".join([*WORDS[:59], "changed"])
    made = pages(f"<div>{TEXT}</div>{story(1)}", f"<div>{near}</div>{story(2)}")
    method = Shingling()
    assert method.extract(made[0], method.prepare(made)).text.startswith("story1")


def test_a_fragment_of_one_page_is_not_shared() -> None:
    made = pages(f"<div>{TEXT}</div><div>{TEXT}</div>", story(2))
    method = Shingling()
    assert method.prepare(made).fragments == ()


def test_what_pages_share_is_not_content() -> None:
    site = news_pages(8)
    method = Shingling()
    text = method.extract(news_page(4), method.prepare(site)).text
    assert "The mayor of" in text
    assert "Copyright" not in text


@pytest.mark.parametrize("unit", ["<div>some words of text ", "<div><p>" + "a b c d e f " * 3, "word "])
def test_deep_pages_cost_no_more_than_others(unit: str) -> None:
    page = page_of("", unit.encode() * 5000)
    assert len(fragment_tree(page)) <= MAX_NODES
