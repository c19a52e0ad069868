"""Store-wide fingerprints: near-equal prose meets, other prose does not, short blocks have none."""

import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.fingerprints import AGREEING, FINGERPRINT_BYTES, MIN_TERMS, fingerprints, fingerprints_of, meeting
from blocks.terms import WINDOW_CHARS
from blocks.text import text_of
from tests.blocks.hostile import HOSTILE
from tests.blocks.test_text import markup


def prose(seed: int, n_words: int = 60) -> list[str]:
    chooser = random.Random(seed)
    return [f"w{int(3000 * chooser.random() ** 2)}" for _ in range(n_words)]


def alone(text: str) -> bytes:
    """Return the fingerprint of one text, empty when it has none."""
    return fingerprints([text])[1].tobytes()


def meets(a: list[str], b: list[str]) -> bool:
    return bool(meeting(fingerprints([" ".join(a)])[1], fingerprints([" ".join(b)])[1]).any())


def test_each_text_has_a_row_of_bytes() -> None:
    rows, found = fingerprints([" ".join(prose(1)), "short", " ".join(prose(2))])
    assert rows.tolist() == [0, 2]
    assert found.dtype == np.uint8
    assert found.shape == (2, FINGERPRINT_BYTES)


@pytest.mark.parametrize(("n_words", "n_changed", "least"), [(40, 1, 0.95), (60, 3, 0.9), (120, 5, 0.9)])
def test_texts_with_a_few_words_changed_meet(n_words: int, n_changed: int, least: float) -> None:
    hits = 0
    for seed in range(100):
        words = prose(seed, n_words)
        changed = list(words)
        for at in random.Random(seed).sample(range(n_words), n_changed):
            changed[at] = f"changed{at}"
        hits += meets(words, changed)
    assert hits / 100 >= least


def test_texts_of_the_same_words_in_another_order_do_not_meet() -> None:
    assert not any(meets(prose(seed, 200), sorted(prose(seed, 200))) for seed in range(50))


def test_unrelated_texts_agree_by_chance_only() -> None:
    """The bytes are as good as random: three of six agree in one of 850,000 pairs."""
    many = fingerprints([" ".join(prose(seed)) for seed in range(2000)])[1]
    agreeing = np.concatenate([(many[i + 1 :] == many[i]).sum(1) for i in range(0, 1999, 4)])
    assert (agreeing >= AGREEING).sum() <= 5
    assert 0.8 < agreeing.mean() * 256 / FINGERPRINT_BYTES < 1.6


def test_short_texts_have_none() -> None:
    assert alone(" ".join(prose(1, MIN_TERMS - 1))) == b""
    assert len(alone(" ".join(prose(1, MIN_TERMS)))) == FINGERPRINT_BYTES


def test_markup_around_a_text_does_not_matter() -> None:
    words = prose(1)
    here = f"<p class=x>{' '.join(words)}</p>".encode()
    there = f"<div><b>{words[0]}</b> {' '.join(words[1:])}<script>ads()</script></div>".encode()
    rows, found = fingerprints_of([here, b"<p>short", there])
    assert rows.tolist() == [0, 2]
    assert found[0].tobytes() == found[1].tobytes() == alone(" ".join(words))


def test_the_encoding_does_not_matter() -> None:
    text = "网页缓存把网页分成块，每一块只保存一次，并且能够逐字节地还原每个网页，节省大量空间，这是测试用的句子。"
    assert len(alone(text)) == FINGERPRINT_BYTES
    for codec in ("utf-8", "gb18030", "utf-16-le"):
        assert fingerprints_of([text.encode(codec)], codec)[1].tobytes() == alone(text)


def test_blocks_together_have_the_fingerprints_of_each_alone() -> None:
    blocks = [" ".join(prose(seed, 30 * seed)).encode() for seed in range(8)]
    blocks.insert(3, b"long words " * (WINDOW_CHARS // 4))
    rows, found = fingerprints_of(blocks)
    assert rows.tolist() == [row for row, block in enumerate(blocks) if alone(text_of(block))]
    assert [row.tobytes() for row in found] == [alone(text_of(blocks[row])) for row in rows]


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=400) | markup, max_size=5), st.sampled_from(["utf-8", "gb18030", "x"]))
def test_any_bytes_have_some_or_none(blocks: list[bytes], encoding: str) -> None:
    rows, found = fingerprints_of(blocks, encoding)
    assert set(rows.tolist()) <= set(range(len(blocks)))
    assert found.shape == (len(rows), FINGERPRINT_BYTES)


@given(st.text())
def test_any_text_has_some_or_none(text: str) -> None:
    assert len(alone(text * 10)) in (0, FINGERPRINT_BYTES)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_block_takes_bounded_time(name: str) -> None:
    start = time.process_time()
    fingerprints_of([HOSTILE[name], b"<p>next"])
    assert time.process_time() - start < 3
