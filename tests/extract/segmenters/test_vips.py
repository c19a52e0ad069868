"""VIPS and CombPS over boxes as a renderer gives them: division, separators, coherence, windows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.protocol import MissingExtra, Page, page_of
from extract.registry import segmenter
from extract.segmenters.boxes import Box, annotated
from extract.segmenters.separators import separated, weight
from extract.segmenters.vips import Block, CombPS, Vips, visual_blocks

PAGE = page_of(
    "",
    b"<body><div><h1>Title</h1></div><div><ul><li>menu one<li>menu two</ul></div>"
    b"<div><p>first paragraph<p>second paragraph</div><div>footer words</div></body>",
)

RECTANGLES = {
    "#document": (0, 0, 1000, 900),
    "body": (0, 0, 1000, 900),
    "div0": (0, 0, 1000, 80),
    "div1": (0, 120, 200, 600),
    "div2": (240, 120, 760, 600),
    "div3": (0, 760, 1000, 60),
}


def boxes_of(page: Page) -> dict[int, Box]:
    """Lay the page out: title on top, menu on the left, paragraphs on the right, footer below."""
    found: dict[int, Box] = {}
    divs = 0
    for node, name in enumerate(page.tree.names):
        if name == "#text":
            continue
        key = name
        if name == "div":
            key, divs = f"div{divs}", divs + 1
        if key in RECTANGLES:
            left, top, width, height = RECTANGLES[key]
            found[node] = Box(left, top, width, height)
        else:
            parent = found[page.tree.parents[node]]
            place = sum(page.tree.parents[other] == page.tree.parents[node] for other in found)
            found[node] = Box(parent.left, parent.top + 20.0 * place, parent.width, 20.0)
    return found


def texts(pdoc: int = 6) -> list[str]:
    return [segment.text for segment in Vips(boxes_of, pdoc).segment(PAGE)]


def test_columns_and_bands_are_visual_blocks() -> None:
    assert texts() == ["Title", "menu one menu two", "first paragraph second paragraph", "footer words"]


def test_blocks_hold_what_is_in_their_box() -> None:
    blocks = visual_blocks(PAGE, boxes_of(PAGE))
    assert [block.box.left for block in blocks] == [0, 0, 240, 0]
    assert all(block.doc >= 6 for block in blocks)


def test_nothing_drawn_is_one_segment() -> None:
    assert visual_blocks(PAGE, {}) == []
    assert len(Vips(lambda page: {}).segment(PAGE)) == 1


def test_what_is_not_drawn_is_in_no_segment() -> None:
    hidden = {node: box for node, box in boxes_of(PAGE).items() if PAGE.tree.names[node] not in ("ul", "li")}
    assert not any("menu" in segment.text for segment in Vips(lambda page: hidden).segment(PAGE))


def block(left: float, top: float, width: float, height: float, background: str = "") -> Block:
    return Block((int(top * 1000 + left),), Box(left, top, width, height, background), 10)


def join(blocks: object, doc: int) -> Block:
    assert isinstance(blocks, list)
    return Block(tuple(node for each in blocks for node in each.nodes), blocks[0].box, doc)


def count(*blocks: Block) -> int:
    return len(separated(blocks, join, 6))


def test_a_wide_gap_or_another_background_parts_blocks_and_a_line_break_does_not() -> None:
    assert count(block(0, 0, 100, 20), block(0, 22, 100, 20)) == 1
    assert count(block(0, 0, 100, 20), block(0, 36, 100, 20)) == 1
    assert count(block(0, 0, 100, 20), block(0, 48, 100, 20)) == 2
    assert count(block(0, 0, 100, 20, "red"), block(0, 30, 100, 20, "blue")) == 2
    assert count(block(0, 0, 100, 20), block(114, 0, 100, 20)) == 2


def test_a_footer_right_below_columns_does_not_hold_them_together() -> None:
    assert count(block(0, 0, 100, 200), block(140, 0, 100, 200), block(0, 200, 240, 20)) == 3


def test_separators_weigh_more_the_wider_they_are() -> None:
    weights = [weight(Box(0, 0, 9, 9), Box(0, 9 + gap, 9, 9), gap) for gap in (0, 12, 24, 40)]
    assert weights == sorted(weights)
    assert len(set(weights)) == 4


def test_long_visual_blocks_are_cut_into_windows() -> None:
    found = [segment.text for segment in CombPS(boxes_of, words=2).segment(PAGE)]
    assert found == [
        "Title",
        "menu one",
        "menu two",
        "first paragraph",
        "second paragraph",
        "footer words",
    ]


@pytest.mark.parametrize("name", ["VIPS", "CombPS"])
def test_without_a_renderer_it_says_what_is_missing(name: str) -> None:
    with pytest.raises(MissingExtra, match=f"{name} needs the boxes of a rendered page: .*vision"):
        segmenter(name).segment(PAGE)


def test_the_annotated_source_names_each_start_tag() -> None:
    page = page_of("", b"<p class='a>b'>x<img/></p><script>'<p>'</script>")
    assert annotated(page, "n") == '<p n="1" class=\'a>b\'>x<img n="3"/></p><script n="4">\'<p>\'</script>'


numbers = st.floats(-1e6, 1e6)


@given(st.dictionaries(st.integers(-1, 30), st.builds(Box, numbers, numbers, numbers, numbers), max_size=20))
@settings(max_examples=50, deadline=None)
def test_any_boxes_give_segments(boxes: dict[int, Box]) -> None:
    for segment in CombPS(lambda page: boxes).segment(PAGE):
        assert segment.text


def test_very_deep_pages_are_cut_in_bounded_time() -> None:
    page = page_of("", b"<div>" * 3000 + b"word")
    boxes = {node: Box(0, 0, 100, 100) for node in range(3001)}
    assert [segment.text for segment in Vips(lambda page: boxes).segment(page)] == ["word"]
