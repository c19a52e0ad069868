"""Base and packs of a compacted site: what one gets the other has not, and the smaller whole is taken."""

import random
from dataclasses import replace
from itertools import count

from blocks.model import Capture
from store.building import Builder, NewPack
from store.known import Known
from store.packs import MAX_READ_BYTES, decode, decode_head
from store.shapes import READ_BYTES, Shape, choose_shape, fill
from tests.store.conftest import page, site_pages


def noise(seed: object, n_bytes: int) -> bytes:
    """Return blocks of 1000 bytes that nothing makes smaller."""
    text = random.Random(str(seed)).randbytes(n_bytes // 2).hex().encode()
    return b"".join(b"<p>" + text[i : i + 1000] for i in range(0, len(text), 1000))


def templated() -> list[Capture]:
    """Return pages of a template of 600 kB, each with a third of it and a text of its own."""
    template = [noise(i, 20_000) for i in range(30)]
    bodies = [b"".join(random.Random(i).sample(template, 10)) + noise(("own", i), 10_000) for i in range(60)]
    return [page(f"http://a.test/{i:03}", body) for i, body in enumerate(bodies)]


def neighbourly() -> list[Capture]:
    """Return pages that share much with the thirty before and after them, and with no others."""
    bodies = [b"".join(noise(j, 12_000) for j in range(i // 6 * 6, i // 6 * 6 + 30)) for i in range(120)]
    return [page(f"http://a.test/{i:03}", body + b"<p>%d" % i) for i, body in enumerate(bodies)]


def packs_of(shape: Shape, pages: list[Capture]) -> list[NewPack]:
    raws: dict[int, bytes] = {}
    known = Known(1, "", raws.__getitem__)
    packs = []
    for pack in fill(Builder(known, count(1), replace(shape.make, level=1)), shape.layout, lambda: pages, len(pages)):
        raws[pack.id] = decode(pack.body, raws[pack.base] if pack.base else b"")
        packs.append(pack)
    return packs


def test_pages_of_a_large_template_get_a_large_base() -> None:
    pages = templated()
    shape = choose_shape(lambda: pages, len(pages))
    assert shape.make.pack_bytes < READ_BYTES // 2
    assert sum(map(len, shape.layout.base)) > 600_000


def test_pages_that_resemble_their_neighbours_get_large_packs() -> None:
    pages = neighbourly()
    assert choose_shape(lambda: pages, len(pages)).make.pack_bytes == READ_BYTES // 2


def test_a_site_that_fits_into_a_pack_is_not_tried_twice() -> None:
    asked = []

    def pages() -> list[Capture]:
        asked.append(1)
        return site_pages(30)

    assert choose_shape(pages, 30).make.pack_bytes == READ_BYTES // 2
    assert len(asked) == 4


def test_every_shape_keeps_every_capture_once_and_reading_within_its_bound() -> None:
    for pages in (templated(), neighbourly(), site_pages(40), site_pages(1)):
        packs = packs_of(choose_shape(lambda p=pages: p, len(pages)), pages)  # type: ignore[misc]
        assert sorted(c.url for pack in packs for c in pack.captures) == sorted(c.url for c in pages)
        sizes = {pack.id: pack.raw for pack in packs}
        for pack in packs:
            assert set(pack.needs) <= {pack.base}
            assert pack.raw + sum(sizes[need] for need in pack.needs) <= MAX_READ_BYTES
        assert len(decode_head(decode(packs[0].head)).captures) == len(packs[0].captures)
