"""Pages are cut as `partition` cuts them, remembered or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.partition import Partition, partition
from store.packing.cutting import Cutter, cut, cut_alike
from store.packing.tokens import canonical

pages = st.lists(
    st.sampled_from([b"<p>", b"<table>", b"<tr>", b"</table>", b"text", b"<", b"\x00", "é".encode("utf-16")])
)


@given(st.lists(pages.map(b"".join), max_size=5), st.integers(-1, 100))
def test_pages_are_cut_alike_each_time(found: list[bytes], max_bytes: int) -> None:
    remembered = Cutter(max_bytes)
    for page in (*found, *found):
        assert remembered(page) == cut(page) == partition(page).pieces()
        assert b"".join(remembered(page)) == page


def test_a_page_is_cut_once_as_long_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(page: bytes) -> Partition:
        asked.append(page)
        return partition(page)

    monkeypatch.setattr("store.packing.cutting.partition", counted)
    first, second = b"<p>one<p>two", b"<p>three<p>four"
    remembered = Cutter(1)
    for _ in range(3):
        remembered(first)
        remembered(second)
    assert asked == [first, second, second, second]


TOKENS = [b"p3f9a0c1d2b4e6f8", b"scriptscript0000", b"0123456789abcdef0", b"div4567890abcdef0"]

marked = st.lists(
    st.sampled_from(
        [*TOKENS, b"<p>", b"<", b"</", b"<p", b"<!--", b"-->", b"<script>", b"</script>", b'"', b"=", b">", b" "]
    )
).map(b"".join)


@given(marked, st.lists(st.sampled_from([(TOKENS[0], TOKENS[1]), (TOKENS[1], TOKENS[0]), (TOKENS[2], TOKENS[3])])))
def test_tokens_of_one_length_move_no_cut(page: bytes, pairs: list[tuple[bytes, bytes]]) -> None:
    ours = canonical(page, tuple(pairs))
    assert cut_alike(ours, cut(page)) == cut(ours)
