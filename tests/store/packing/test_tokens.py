"""Session ids and their like: found, replaced, put back."""

import re

from hypothesis import given
from hypothesis import strategies as st

from store.packing.tokens import Kinds, canonical, find_tokens, restore

ONE, TWO, THREE = (
    b"80d5decd6020aa58255aed990559f763",
    b"fe9156386b4b9b3444a8b7d626be9b32",
    b"4a4725fa71de1e9be2166b877955fa67",
)


def body(token: bytes) -> bytes:
    return b'<a href="/index?sid=%s">home</a> <a href="/faq?sid=%s">faq</a>' % (token, token)


def test_the_pages_of_two_sessions_become_equal() -> None:
    kinds = Kinds()
    kinds.learn(find_tokens(body(ONE)))
    pairs = kinds.pairs(body(TWO), find_tokens(body(TWO)))
    assert pairs == ((ONE, TWO),)
    assert canonical(body(TWO), pairs) == body(ONE)
    assert restore(body(ONE), pairs) == body(TWO)


def test_a_page_that_holds_the_sites_token_is_left_alone() -> None:
    """Putting the page's token back would replace the other one as well."""
    kinds = Kinds()
    kinds.learn(find_tokens(body(ONE)))
    both = body(TWO) + b"<p>" + ONE
    assert kinds.pairs(both, find_tokens(both)) == ()


def test_two_tokens_of_one_kind_cannot_both_become_the_first() -> None:
    kinds = Kinds()
    kinds.learn(find_tokens(body(ONE)))
    both = body(TWO) + body(THREE)
    pairs = kinds.pairs(both, find_tokens(both))
    assert len(pairs) == 1
    assert restore(canonical(both, pairs), pairs) == both


def test_what_a_token_is() -> None:
    text = b"id=0123456789abcdef, word=abcdefghijklmnopqrst, short=0123456789abcde, long=%s" % (b"1" * 65)
    assert find_tokens(text) == [((b"id=", 16), b"0123456789abcdef")]


tokens = st.sampled_from([ONE, TWO, THREE, ONE[:20], TWO[:20], ONE + TWO[:32], b"x1" * 8])
texts = st.lists(tokens | st.sampled_from([b"sid=", b"&", b"<p>", b"csrf=", b" "]), max_size=14).map(b"".join)


words = st.lists(st.sampled_from([b"a1b2", b"Zz", b"9", b"-", b"\xff", b"=abcdefghijkl"]), max_size=60).map(b"".join)


@given(words | texts)
def test_the_tokens_are_those_of_a_regular_expression(text: bytes) -> None:
    runs = [match for match in re.finditer(rb"[0-9A-Za-z]+", text) if 16 <= len(match[0]) <= 64]
    expected = [(run.start(), run[0]) for run in runs if not run[0].isalpha()]
    assert find_tokens(text) == [((text[max(0, at - 6) : at], len(token)), token) for at, token in expected]


@given(texts, texts)
def test_tokens_always_come_back(first: bytes, second: bytes) -> None:
    kinds = Kinds()
    kinds.learn(find_tokens(first))
    pairs = kinds.pairs(second, find_tokens(second))
    assert restore(canonical(second, pairs), pairs) == second


@given(st.binary(max_size=300))
def test_any_bytes_have_tokens_or_none(text: bytes) -> None:
    assert all(token in text and len(token) == kind[1] for kind, token in find_tokens(text))


def test_a_large_page_has_those_replaced_that_stand_in_most_places() -> None:
    """Each is searched for at every read."""

    def large(token: bytes, other: bytes, n_bytes: int) -> bytes:
        return b"<p>sid=%s<p>sid=%s<p>csrf=%s" % (token, token, other) + b" text" * (n_bytes // 5)

    both = {(ONE, TWO), (ONE[::-1], TWO[::-1])}
    for n_bytes, expected in ((100_000, both), (400_000, {(ONE, TWO)}), (700_000, set())):
        kinds = Kinds()
        kinds.learn(find_tokens(large(ONE, ONE[::-1], 10)))
        page = large(TWO, TWO[::-1], n_bytes)
        assert set(kinds.pairs(page, find_tokens(page))) == expected
