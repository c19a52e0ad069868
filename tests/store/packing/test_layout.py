"""What a compacted site looks like."""

from store.packing.layout import choose_base
from tests.store.conftest import page, site_pages

BASE_BYTES = 480 << 10


def test_the_base_has_what_pages_share_and_some_pages_whole() -> None:
    pages = site_pages(200)
    layout = choose_base(lambda: pages, len(pages), BASE_BYTES, pack_bytes=20_000)
    joined = b"".join(layout.base)
    assert b"footer of all pages" in joined
    assert len(layout.whole) > 10
    assert len(joined) <= BASE_BYTES
    for number in layout.whole:
        assert b"<h1>Page %d</h1>" % number in joined


def test_blocks_of_one_page_are_not_taken_for_shared() -> None:
    pages = [
        page(f"http://a.test/{i}", b"".join(b"<p>only here %d %d" % (i, j) for j in range(600))) for i in range(60)
    ]
    layout = choose_base(lambda: pages, len(pages), BASE_BYTES, pack_bytes=100_000)
    assert sum(map(len, layout.base)) <= BASE_BYTES
    assert 5 < len(layout.whole) < len(pages)


def test_a_site_of_nothing_has_no_base() -> None:
    layout = choose_base(lambda: [page(body=b"")], 1, BASE_BYTES, pack_bytes=1000)
    assert layout.base == []
