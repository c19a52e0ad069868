"""FeatureExtractor and K-FeatureExtractor: the paper's example of feature values, the basket, one winner or several."""

import numpy as np
import pytest

from extract.methods.feature import FeatureExtractor, KFeatureExtractor, Maxima, feature_values, winners
from extract.protocol import page_of

PAPER = {"text": 1000.0, "image": 2.0, "link": 3.0, "object": 1.0}
PAPER_MAXIMA = {"text": 2000.0, "image": 4.0, "link": 50.0, "object": 3.0}

MENU = "<div><a href=/>Home</a> <a href=/n>News</a> <a href=/s>Sports</a> <a href=/w>Weather</a></div>"
REVIEW = "<div><p>" + "A review of some length, with an opinion and a reason for it. " * 4 + "</div>"
GALLERY = "<div>" + "<img src=x>" * 5 + "two words</div>"


def test_the_papers_example_1000_of_2000_words_2_of_4_images_3_of_50_links_1_of_3_applets() -> None:
    values = feature_values({name: np.array([count]) for name, count in PAPER.items()}, PAPER_MAXIMA)
    assert [float(values[name][0]) for name in PAPER] == pytest.approx([1000 / 2000, 2 / 4, 3 / 50, 1 / 3])


def test_the_papers_block_is_no_text_winner_its_other_features_sum_to_more() -> None:
    counts = {name: np.zeros(2) for name in ("text", "text-tag", "list", "table", "link", "object", "frame", "form")}
    counts |= {name: np.zeros(2) for name in ("script", "style-sheet", "image")}
    counts["text"], counts["link"], counts["object"] = np.array([1000.0, 2000]), np.array([3.0, 0]), np.array([3.0, 0])
    found = winners(counts, {"text": 1.0}, {"link": 50.0, "object": 3.0})
    assert found.basket.tolist() == [False, True]


def texts(method: FeatureExtractor | KFeatureExtractor, *parts: str) -> list[str]:
    page = page_of("", "".join(parts).encode())
    return method.extract(page, method.prepare([page])).text.splitlines()


def test_the_text_block_wins_and_the_menu_does_not() -> None:
    assert [line[:8] for line in texts(FeatureExtractor(), MENU, REVIEW)] == ["A review"]


def test_a_single_winner_fails_where_many_blocks_are_wanted_and_k_means_does_not() -> None:
    reviews = [REVIEW.replace("reason", f"reason{n}") for n in range(4)]
    assert len(texts(FeatureExtractor(), MENU, *reviews)) == 1
    assert len(texts(KFeatureExtractor(), MENU, *reviews)) == 4


@pytest.mark.parametrize(
    ("features", "expected"), [({"image": 1.0}, "two words"), ({"link": 1.0}, "Home News Sports Weather")]
)
def test_any_feature_can_be_desired(features: dict[str, float], expected: str) -> None:
    assert texts(FeatureExtractor(features), MENU, REVIEW, GALLERY) == [expected]


def test_several_features_are_weighted() -> None:
    found = texts(KFeatureExtractor({"image": 2.0, "text": 1.0}), MENU, REVIEW, GALLERY)
    assert "two words" in found
    assert "Home News Sports Weather" not in found


def test_the_block_of_the_paper_is_the_innermost_table() -> None:
    body = "<table><tr><td>menu<td><table><tr><td>first words<tr><td>and some more words</table></table>"
    assert texts(FeatureExtractor(), body) == ["first words", "and some more words"]
    assert texts(FeatureExtractor(level="block"), body) == ["and some more words"]


def test_maxima_are_those_of_the_data_set() -> None:
    method = FeatureExtractor()
    pages = [page_of(f"http://a.test/{n}", f"<div>{'word ' * n}</div>".encode()) for n in (3, 9)]
    evidence = method.prepare(pages)
    assert (evidence.n_pages, evidence.highest["text"]) == (2, 9.0)
    assert method.extract(pages[0], evidence).verdicts[0].score == pytest.approx(3 / 9)
    assert evidence.merge(Maxima()) == evidence


@pytest.mark.parametrize("method", [FeatureExtractor, KFeatureExtractor])
def test_unknown_features_and_levels_are_refused(method: type[FeatureExtractor | KFeatureExtractor]) -> None:
    with pytest.raises(ValueError, match="'colour': one of text, text-tag"):
        method({"colour": 1.0})
    with pytest.raises(ValueError, match="at least one of"):
        method({})
    with pytest.raises(ValueError, match="one of table, block"):
        method(level="row")
