"""Pages that have most of their text from one other page are put beside it, all others stay where they are."""

import random

from hypothesis import given
from hypothesis import strategies as st

from store.packing.layout import survey
from store.packing.neighbours import arranged
from tests.store.conftest import page


def text(seed: int, n: int = 20) -> bytes:
    """Return blocks that only texts of this seed have."""
    random_ = random.Random(seed)
    return b"".join(b"<p>%d" % random_.getrandbits(200) for _ in range(n))


MENU = b"<ul>" + b"<li>an entry of the menu" * 30 + b"</ul>"


def order(*bodies: bytes) -> list[int]:
    return arranged(survey(page(f"http://a.test/{at:03}", MENU + body) for at, body in enumerate(bodies)))


def test_a_copy_is_put_beside_its_page() -> None:
    others = [text(seed) for seed in range(10)]
    assert order(*others, text(3) + b"<p>copied", text(0)) == [0, 11, 1, 2, 3, 10, 4, 5, 6, 7, 8, 9]


def test_a_copy_of_a_copy_is_put_beside_both() -> None:
    others = [text(seed) for seed in range(10)]
    assert order(*others, text(3) + text(50, 10), text(50, 10) + text(51, 5)) == [0, 1, 2, 3, 10, 11, 4, 5, 6, 7, 8, 9]


def test_what_all_pages_share_moves_none() -> None:
    shared = text(100)
    assert order(*(shared + text(seed, 5) for seed in range(100))) == [*range(100)]


def test_less_than_half_moves_none() -> None:
    others = [text(seed) for seed in range(10)]
    assert order(*others, text(3) + text(50, 30)) == [*range(11)]


@given(st.lists(st.lists(st.integers(0, 8), max_size=4), max_size=20))
def test_each_page_is_there_once(pages: list[list[int]]) -> None:
    assert sorted(order(*(b"".join(text(seed, 2) for seed in seeds) for seeds in pages))) == [*range(len(pages))]
