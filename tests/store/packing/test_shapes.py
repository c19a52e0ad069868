"""Base and packs of a compacted site: what one gets the other has not, and the smaller whole is taken."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count

import pytest

from blocks.model import Capture
from store.packing import shapes
from store.packing.building import Builder, NewPack
from store.packing.known import Known
from store.packing.layout import survey
from store.packing.packs import MAX_READ_BYTES, decode, decode_head
from store.packing.shapes import BASE_SHARES, READ_BYTES, Shape, choose_shape, fill, shaped
from store.packing.tokens import Pairs
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


def neighbourly(n: int = 60) -> list[Capture]:
    """Return pages that share much with the thirty before and after them, and with no others."""
    bodies = [b"".join(noise(j, 12_000) for j in range(i // 6 * 6, i // 6 * 6 + 30)) for i in range(n)]
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
    shape = choose_shape(lambda: pages, survey(pages))
    assert shape.make.pack_bytes < READ_BYTES // 2
    assert sum(map(len, shape.layout.base)) > 600_000


def test_pages_that_resemble_their_neighbours_get_large_packs() -> None:
    pages = neighbourly(120)
    assert choose_shape(lambda: pages, survey(pages)).make.pack_bytes == READ_BYTES // 2


def test_a_site_that_fits_into_a_pack_is_not_tried_twice() -> None:
    asked = []

    def pages() -> list[Capture]:
        asked.append(1)
        return site_pages(30)

    assert choose_shape(pages, survey(pages())).make.pack_bytes == READ_BYTES // 2
    assert len(asked) == 4


def test_a_large_site_is_tried_with_some_of_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = templated()
    monkeypatch.setattr(shapes, "TRIED_BYTES", sum(len(page.body) for page in pages) * 2 // 3)
    tried = 0
    add = Builder.add

    def counted(builder: Builder, capture: Capture, pairs: Pairs | None = None) -> None:
        nonlocal tried
        tried += 1
        add(builder, capture, pairs)

    monkeypatch.setattr(Builder, "add", counted)
    shape = choose_shape(lambda: pages, survey(pages))
    assert sum(map(len, shape.layout.base)) > 600_000
    assert 0 < tried < 0.75 * len(BASE_SHARES) * len(pages)


def headed(n: int, header_bytes: int) -> list[Capture]:
    """Return pages whose headers are larger than their bodies, no two alike."""
    pages = []
    for i in range(n):
        headers = ((b"Content-Type", b"text/html"), (b"X", b"%0*d" % (header_bytes, i)))
        pages.append(page(f"http://a.test/{i:03}", noise(("headed", i), 6_000), headers=headers))
    return pages


def scattered() -> list[Capture]:
    """Return pages made of short stretches of a template in another order each: their recipes are large."""
    template = [noise(i, 250) for i in range(2_000)]
    bodies = [b"".join(random.Random(i).sample(template, 1_900)) for i in range(30)]
    return [page(f"http://a.test/{i:03}", body) for i, body in enumerate(bodies)]


def large() -> list[Capture]:
    """Return pages that fit beside no base of half the bound, small ones between them, and two that fit nowhere."""
    sizes = [700_000, 20_000, 600_000, 900_000, 30_000, 1_000_000, 1_030_000, 40_000, 1_200_000, 3_000_000]
    menu = noise("menu", 100_000)
    pages = [page(f"http://a.test/{i}", menu + noise(("large", i), size)) for i, size in enumerate(sizes)]
    return [*pages, page("http://a.test/again", pages[3].body), page("http://a.test/whole", noise("whole", 1_000_000))]


def costs(packs: list[NewPack]) -> Iterator[tuple[Capture, int, int]]:
    """Yield captures, what reading them decompresses (heads, bases, bodies), and what that may be.

    Everything is decoded as a reader does it, by nothing of what the packs were made with.
    """
    heads: dict[int, bytes] = {}
    raws: dict[int, bytes] = {}
    bases = {pack.id: pack.base for pack in packs}
    for pack in packs:
        heads[pack.id] = decode(pack.head, heads[pack.base] if pack.base else b"")
        raws[pack.id] = decode(pack.body, raws[pack.base] if pack.base else b"")
    for pack in packs:
        head = decode_head(heads[pack.id])
        n_heads = len(heads[pack.id]) + (len(heads[pack.base]) if pack.base else 0)
        is_alone = len(pack.captures) == 1
        for slot, capture in enumerate(pack.captures):
            sources = {(pack.id, *head.needs)[run.source] for run in head.recipes.recipe(slot).runs}
            needed = sources | {base for source in sources if (base := bases[source])}
            alone = len(capture.body) + len(heads[pack.id]) if is_alone else 0
            yield capture, n_heads + sum(len(raws[number]) for number in needed), max(MAX_READ_BYTES, alone)


@pytest.mark.parametrize("base_share", [BASE_SHARES[0], BASE_SHARES[-1]])
@pytest.mark.parametrize("make", [scattered, large, partial(headed, 40, 30_000)], ids=["scattered", "large", "headed"])
def test_reading_a_page_decompresses_a_mebibyte_at_most(make: Callable[[], list[Capture]], base_share: float) -> None:
    """Heads and bases counted; a page that is larger itself costs itself and its head."""
    pages = make()
    packs = packs_of(shaped(lambda: pages, survey(pages), base_share), pages)
    found = list(costs(packs))
    assert sorted(capture.url for capture, *_ in found) == sorted(capture.url for capture in pages)
    assert [capture.url for capture, cost, most in found if cost > most] == []


def test_a_large_page_that_is_kept_twice_costs_its_bytes_once() -> None:
    pages = large()
    packs = packs_of(shaped(lambda: pages, survey(pages), 1 / 2), pages)
    again = next(pack for pack in packs for capture in pack.captures if capture.url.endswith("again"))
    assert again.raw < 900_000


def test_every_shape_keeps_every_capture_once_and_reading_within_its_bound() -> None:
    for pages in (templated(), neighbourly(), site_pages(40), site_pages(1)):
        packs = packs_of(choose_shape(lambda p=pages: p, survey(pages)), pages)  # type: ignore[misc]
        assert sorted(c.url for pack in packs for c in pack.captures) == sorted(c.url for c in pages)
        sizes = {pack.id: pack.raw for pack in packs}
        for pack in packs:
            assert set(pack.needs) <= {pack.base}
            assert pack.raw + sum(sizes[need] for need in pack.needs) <= MAX_READ_BYTES
        assert len(decode_head(decode(packs[0].head)).captures) == len(packs[0].captures)
