"""What a compacted site looks like."""

import xxhash

from store.packing.layout import choose_base, survey
from tests.store.conftest import page, site_pages

BASE_BYTES = 480 << 10


def test_the_base_has_what_pages_share_and_some_pages_whole() -> None:
    pages = site_pages(200)
    layout = choose_base(pages, survey(pages), BASE_BYTES, pack_bytes=20_000)
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
    layout = choose_base(pages, survey(pages), BASE_BYTES, pack_bytes=100_000)
    assert sum(map(len, layout.base)) <= BASE_BYTES
    assert 5 < len(layout.whole) < len(pages)


def test_a_site_of_nothing_has_no_base() -> None:
    pages = [page(body=b"")]
    layout = choose_base(pages, survey(pages), BASE_BYTES, pack_bytes=1000)
    assert layout.base == []


def test_windows_are_stretches_with_a_pack_of_distinct_blocks() -> None:
    pages = [
        page(f"http://a.test/{i}", b"<p>on all<p>on this one: %d" % i + b"<p>on two: %d" % (i // 2)) for i in range(6)
    ]
    site = survey(pages)
    names = {xxhash.xxh3_128_digest(block): block for block in (b"<p>on all", b"<p>on two: 0", b"<p>on this one: 3")}
    counts = {names[d]: int(site.windows(1)[number]) for d, number in site.numbers.items() if d in names}
    assert counts == {b"<p>on all": 6, b"<p>on two: 0": 2, b"<p>on this one: 3": 1}
    assert set(site.windows(1 << 20).tolist()) == {1}
