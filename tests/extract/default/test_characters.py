"""Counts of characters, of all texts at once."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from extract.default.characters import COUNTS, ENDS, LETTER, NAMING, Characters


def counts(text: str) -> dict[str, float]:
    return dict(zip(COUNTS, Characters([text]).counts()[0].tolist(), strict=True))


def test_an_english_sentence() -> None:
    found = counts("Hello World, in 2024 it costs $5 at 10:30.")
    assert (found["words"], found["sentences"], found["commas"]) == (10, 1, 1)
    assert (found["years"], found["clocks"], found["prices"], found["capitals"]) == (1, 1, 1, 2)


def test_characters_of_chinese_count_half_a_word() -> None:
    assert counts("日本語です。")["words"] == 2.5
    assert counts("日本語です。")["sentences"] == 1


def test_how_texts_begin_and_end() -> None:
    rows = Characters(["Title:", "so he said.”", "7 ways", "» more"]).edges()
    assert [dict(zip(ENDS, row.tolist(), strict=True)) for row in rows] == [
        {"starts_upper": 1, "starts_digit": 0, "ends_stop": 0, "ends_colon": 1, "starts_rule": 0},
        {"starts_upper": 0, "starts_digit": 0, "ends_stop": 1, "ends_colon": 0, "starts_rule": 0},
        {"starts_upper": 0, "starts_digit": 1, "ends_stop": 0, "ends_colon": 0, "starts_rule": 0},
        {"starts_upper": 0, "starts_digit": 0, "ends_stop": 0, "ends_colon": 0, "starts_rule": 1},
    ]


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=6))
@example(["£", "0"])
@example(["a £", "1999", "1 £"])
def test_a_text_counts_alike_alone_and_among_others(texts: list[str]) -> None:
    together = Characters(texts).counts()
    for text, row in zip(texts, together, strict=True):
        assert Characters([text]).counts()[0].tolist() == row.tolist()
        assert row[COUNTS.index("chars")] == len(text)


@given(st.lists(st.text("aB9_ é.世\n", min_size=1, max_size=12), min_size=1, max_size=5))
def test_words_are_those_a_regular_expression_finds(texts: list[str]) -> None:
    characters = Characters(texts)
    for flag, least, pattern in ((LETTER, 2, r"[^\W\d_]{2,}"), (NAMING, 1, r"\w+")):
        found, begins, sizes = characters.words(flag, head=12, least=least)
        words = [found[a : a + n] for a, n in zip(begins.tolist(), sizes.tolist(), strict=True)]
        assert words == [re.findall(pattern, text.lower()) for text in texts]


def test_words_are_looked_for_at_both_ends() -> None:
    assert Characters(["one two three four"]).words(LETTER, head=4, tail=4).found == ["one", "four"]
