"""Mountain Model: cells and their scores, smoothing, ridges and their features, by the paper's formulas."""

import numpy as np
import pytest

from extract.methods.mountain import Cell, Ridge, Shape, cells_of, gamma_of, ridges_of, scores, smoothed
from extract.protocol import page_of

PLAIN = Cell(0, 75, 75, 0, False, False, 1.0)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (PLAIN, 1.0),
        (Cell(0, 75, 75, 2, True, False, 1.0), 4.5),  # (75/75 + 2) * 1.5
        (Cell(0, 75, 75, 0, False, True, 1.0), 0.5),
        (Cell(0, 75, 150, 1, True, False, 0.5), 2.25),
    ],
)
def test_formula_1(cell: Cell, expected: float) -> None:
    assert scores([cell], 75).tolist() == pytest.approx([expected])


def test_formulas_2_and_3_lift_the_neighbours_of_a_high_cell() -> None:
    high = smoothed(np.array([0.0, 0.0, 10.0, 0.0, 0.0]), 5)
    # cell 1: the average of its window is 2; neighbours at 1, 1 and 2 (two with weight 0.8, the others 0.6)
    assert high[1] == pytest.approx(0 + (10 * 0.8 - 2 * (0.8 + 0.8 + 0.6 + 0.6)) / 4)
    assert high[2] == pytest.approx(10 - 2 * 2.8 / 4)


def test_even_scores_stay_as_they_are_inside() -> None:
    assert smoothed(np.full(9, 3.0), 5)[4] == pytest.approx(3.0)


def test_cells_are_the_visible_texts_between_tags() -> None:
    page = page_of("", b"<p>One. <a href=x>two</a>, three!</p>&nbsp;<script>no</script>")
    cells = cells_of(page)
    assert [page.source[cell.start : cell.end] for cell in cells] == ["One. ", "two", ", three!"]
    assert [cell.anchor for cell in cells] == [False, True, False]
    assert [cell.full_stop for cell in cells] == [True, False, True]
    assert [cell.punctuation for cell in cells] == [1, 0, 2]


def test_the_visible_ratio_takes_half_of_the_source_between_two_cells() -> None:
    cells = cells_of(page_of("", b"<b>12345678</b><i>12</i>"))
    assert cells[0].visible_ratio == pytest.approx(8 / (8 + 1.5 + 3.5))


@pytest.mark.parametrize(("text", "gamma"), [("plain words here", 75), ("网页主要内容的抽取方法", 12)])
def test_the_mean_sentence_depends_on_the_language(text: str, gamma: int) -> None:
    assert gamma_of(page_of("", f"<p>{text}".encode())) == gamma


def page_with_two_ridges() -> list[Cell]:
    heights = [1] * 10 + [40] * 4 + [1] * 10 + [30] * 2 + [1] * 10
    return [Cell(i * 10, i * 10 + 10, 10, height, False, False, 1.0) for i, height in enumerate(heights)]


def test_ridges_and_their_features() -> None:
    ridges, high = ridges_of(page_with_two_ridges(), 75, Shape(window=1))
    assert [(ridge.first, ridge.last) for ridge in ridges] == [(10, 14), (24, 26)]
    first, second = (ridge.features for ridge in ridges)
    assert first == pytest.approx((1.0, 1.0, 0.5, 10 / 36))
    assert second == pytest.approx((high[24] / high[10], 0.5, 1.0, 24 / 36))


def test_blank_cells_part_what_long_source_parts() -> None:
    near = page_with_two_ridges()[8:12] + page_with_two_ridges()[10:14]
    cells = [Cell(i * 10 + 9000 * (i >= 4), i * 10 + 10 + 9000 * (i >= 4), *_tail(c)) for i, c in enumerate(near)]
    together = ridges_of(near, 75, Shape(window=1, peak_factor=1.0))[0]
    apart = ridges_of(cells, 75, Shape(window=1, peak_factor=1.0))[0]
    assert (len(together), len(apart)) == (1, 2)


def _tail(cell: Cell) -> tuple[int, int, bool, bool, float]:
    return cell.length, cell.punctuation, cell.full_stop, cell.anchor, cell.visible_ratio


def test_a_page_without_cells_has_no_ridge() -> None:
    assert ridges_of([], 75)[0] == []


def test_low_ground_is_no_ridge() -> None:
    cells = [PLAIN] * 20
    assert ridges_of(cells, 75)[0] == [] or all(isinstance(ridge, Ridge) for ridge in ridges_of(cells, 75)[0])
