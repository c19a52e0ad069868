"""Stems and stop words."""

from extract.methods.words import features, stem


def test_stop_words_are_left_out_and_the_others_stemmed() -> None:
    assert list(features("It's the hopping rabbits' relations")) == ["hop", "rabbit", "relat"]


def test_what_is_not_english_stays_as_it_is() -> None:
    assert list(features("žluté 网页缓存 x2")) == ["žluté", "网页", "页缓", "缓存", "x2"]


def test_a_very_long_term_is_not_stemmed() -> None:
    assert stem("a" * 10_000 + "ing").endswith("ing")
