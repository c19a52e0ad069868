"""Packs as they arrive: what reading one page may cost, and that equal digests are not taken for equal blocks."""

import itertools

import pytest

from blocks.model import Capture, Run, compose
from store.packing.building import Builder, NewPack
from store.packing.known import Known
from store.packing.making import ON_ARRIVAL
from store.packing.matching import Match, Segment, Tail
from store.packing.packs import MAX_READ_BYTES, Head, decode, decode_head
from store.packing.tokens import restore
from tests.store.conftest import page


def builder() -> Builder:
    return Builder(Known(1, "a.test", lambda number: b""), itertools.count(1))


def build(captures: list[Capture]) -> list[NewPack]:
    made = builder()
    for capture in captures:
        made.add(capture)
    made.flush()
    return made.take()


def noise(seed: int, n_blocks: int, size: int = 400) -> bytes:
    """Return blocks that occur nowhere else."""
    return b"".join(b"<p>%0*d" % (size, seed * 1_000_003 + i) for i in range(n_blocks))


def head_of(pack: NewPack, packs: list[NewPack]) -> Head:
    """Return a pack's head, whose dictionary is the raw head of its base."""
    base = next((p for p in packs if p.id == pack.base), None)
    return decode_head(decode(pack.head, decode(base.head) if base else b""))


def needed(packs: list[NewPack]) -> list[int]:
    """Return for each capture the raw bytes that reading it decompresses."""
    raw = {pack.id: pack.raw for pack in packs}
    costs = []
    for pack in packs:
        head = head_of(pack, packs)
        for slot in range(len(head.captures)):
            sources = {(pack.id, *head.needs)[run.source] for run in head.recipes.recipe(slot).runs}
            bases = {p.base for p in packs if p.id in sources and p.base}
            costs.append(sum(raw[number] for number in sources | bases))
    return costs


def test_a_page_needs_a_bounded_number_of_bytes() -> None:
    """A page with one block of each of fifty packs refers to those it can afford and keeps the other blocks again."""
    pages = [page(f"http://a.test/{i}", noise(i, 300)) for i in range(50)]
    mixture = b"".join(noise(i, 1) for i in range(50))
    packs = build([*pages, page("http://a.test/mix", mixture)])
    assert len(packs) > 40
    assert max(needed(packs)) <= MAX_READ_BYTES
    *_, last = packs
    head = head_of(last, packs)
    assert 1 <= len(head.needs) < 16


def test_packs_close_at_their_size() -> None:
    packs = build([page(f"http://a.test/{i}", noise(i, 50)) for i in range(40)])
    assert all(pack.raw <= ON_ARRIVAL.pack_bytes for pack in packs)
    assert len(packs) > 1


def test_a_page_larger_than_a_pack_has_one_of_its_own() -> None:
    packs = build([page(body=noise(1, 1)), page("http://a.test/2", noise(2, 5000))])
    assert [len(pack.captures) for pack in packs] == [1, 1]


def test_a_private_capture_shares_nothing() -> None:
    public, private = page(body=noise(1, 40)), page(body=noise(1, 40), private=True)
    packs = build([public, private, public])
    alone = next(pack for pack in packs if pack.captures == (private,))
    assert (alone.base, alone.needs, alone.raw) == (None, (), len(private.body))
    assert all(alone.id not in pack.needs for pack in packs)


def test_blocks_with_equal_digests_and_other_bytes_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if someone had found a collision of xxh3-128: every block of a size has the same digest."""
    monkeypatch.setattr("xxhash.xxh3_128_digest", lambda data: b"%016d" % len(data))
    captures = [page(f"http://a.test/{i}", b"<p>%04d<p>%04d<p>menu" % (i, 2 * i)) for i in range(30)]
    made = builder()
    for capture in captures:
        made.add(capture)
        made.flush()
    packs = made.take()
    raws: dict[int, bytes] = {}
    for pack in packs:
        raws[pack.id] = decode(pack.body, raws.get(pack.base or 0, b""))
    for pack, capture in zip(packs, captures, strict=True):
        head = head_of(pack, packs)
        sources = (pack.id, *head.needs)
        body = b"".join(raws[sources[r.source]][r.offset : r.offset + r.length] for r in head.recipes.recipe(0).runs)
        assert body == capture.body


def test_a_block_twice_in_a_page_that_moves_to_the_next_pack() -> None:
    """The page's own block is referred to in the pack it ends up in, not in the one it was tried with."""
    first = page("http://a.test/1", noise(1, 315))
    second = page("http://a.test/2", noise(2, 20) + noise(3, 1) * 2)
    raws: dict[int, bytes] = {}
    for pack in (packs := build([first, second])):
        raws[pack.id] = decode(pack.body, raws.get(pack.base or 0, b""))
    assert len(packs) == 2
    head = head_of(packs[1], packs)
    sources = (packs[1].id, *head.needs)
    runs = head.recipes.recipe(0).runs
    assert b"".join(raws[sources[r.source]][r.offset : r.offset + r.length] for r in runs) == second.body


def session(token: bytes) -> bytes:
    """Return a page whose links have a session id."""
    links = b"".join(b"<p><a href='/%d?sid=%s'>somewhere</a>" % (i, token) for i in range(40))
    return noise(1, 40) + links


ONE, TWO, THREE = (bytes(b"0123456789abcdef"[(i * step) % 16] for i in range(32)) for step in (3, 5, 7))


def bodies(packs: list[NewPack]) -> list[bytes]:
    """Return the bodies that packs give back."""
    raws: dict[int, bytes] = {}
    found = []
    for pack in packs:
        raws[pack.id] = decode(pack.body, raws.get(pack.base or 0, b""))
        head = head_of(pack, packs)
        sources = {i: raws[number] for i, number in enumerate((pack.id, *head.needs))}
        for slot, pairs in enumerate(head.tokens):
            found.append(restore(compose(head.recipes.recipe(slot), sources), pairs))
    return found


@pytest.mark.parametrize("closed", [False, True])
def test_a_page_of_another_session_is_kept_as_the_first(closed: bool) -> None:
    """Nothing of it is new, whether the first one's pack is still open or not."""
    made = builder()
    for token in (ONE, TWO, THREE):
        made.add(page(body=session(token)))
        if closed:
            made.flush()
    made.flush()
    packs = made.take()
    assert bodies(packs) == [session(ONE), session(TWO), session(THREE)]
    assert sum(pack.raw for pack in packs) == len(session(ONE))
    recipes = [head_of(pack, packs).recipes for pack in packs]
    assert {len(found.recipe(slot).runs) for found in recipes for slot in range(len(found))} == {1}


def test_runs_of_another_page_are_not_taken_for_a_page_of_another_session() -> None:
    """A digest finds candidates only."""
    made = builder()
    made.add(page(body=noise(7, 40)))
    made.add(page(body=session(ONE)))
    made.flush()
    (other, *_) = made.known.canonicals.values()
    made.known.canonicals = dict.fromkeys(made.known.canonicals, other)
    made.add(page(body=session(TWO)))
    made.flush()
    assert bodies(made.take()) == [noise(7, 40), session(ONE), session(TWO)]


def test_a_recipe_that_is_wrong_is_not_kept(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever goes wrong in matching, the page is kept."""

    def wrong(body: bytes, pieces: list[bytes], known: Known, tail: Tail, join_bytes: int) -> Match:
        return [Segment(tail.id, 0, 0, len(body))], {}

    monkeypatch.setattr("store.packing.lookup.match", wrong)
    body = noise(1, 3)
    (pack,) = build([page(body=body)])
    assert decode(pack.body) == body
    assert head_of(pack, [pack]).recipes.recipe(0).runs == (Run(0, 0, len(body)),)
    assert "kept whole" in caplog.text
