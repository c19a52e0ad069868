"""The index of known blocks: finds what resembles, forgets what is removed, and agrees with comparing all."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.features import N_FEATURES, BlockVectors, block_vectors, cosine, cosines
from blocks.similarity import SimilarityIndex
from blocks.terms import TermSets
from tests.blocks.hostile import HOSTILE
from tests.blocks.test_text import markup


def texts(n: int, seed: int = 1) -> list[bytes]:
    """Return blocks of 5 to 40 made-up words, every third one a word away from one before it."""
    rng = np.random.default_rng(seed)
    blocks: list[list[str]] = []
    for number in range(n):
        words = [f"w{word:.0f}" for word in 2000 * rng.random(rng.integers(5, 40)) ** 3]
        if number % 3 == 2:
            words = list(blocks[rng.integers(len(blocks))])
            words[rng.integers(len(words))] = f"new{number}"
        blocks.append(words)
    return [f"<p>{' '.join(words)}</p>".encode() for words in blocks]


def index_of(*blocks: bytes) -> SimilarityIndex:
    index = SimilarityIndex()
    index.add(range(len(blocks)), block_vectors(blocks))
    return index


STORY = b"<p>" + b" ".join(b"word%d" % number for number in range(40))
UPDATE = STORY.replace(b"word20", b"other")


def test_a_block_with_one_word_changed_is_found() -> None:
    found = index_of(b"<p>something else", STORY, b"<img src=x>").find(block_vectors([UPDATE]))
    assert found.ids.tolist() == [1]
    assert found.cosines[0] == pytest.approx(cosine(STORY, UPDATE))


def test_the_threshold_decides_whether_it_is_one_block_or_two() -> None:
    index, update = index_of(STORY), block_vectors([UPDATE])
    assert index.find(update, above=0.9).ids.tolist() == [0]
    assert index.find(update, above=0.99).ids.tolist() == [-1]


def test_nothing_resembles_a_block_in_an_empty_index() -> None:
    found = SimilarityIndex().find(block_vectors([STORY, b""]))
    assert found.ids.tolist() == [-1, -1]
    assert found.cosines.tolist() == [0.0, 0.0]


def test_a_block_without_text_is_found_by_its_counts() -> None:
    found = index_of(STORY, b"<img src=a><br>").find(block_vectors([b"<img src=other><br>", b"<hr>"]))
    assert found.ids.tolist() == [1, -1]


def test_blocks_added_together_are_found_in_those_before_them() -> None:
    index = SimilarityIndex()
    found = index.find_and_add([7, 8, 9], block_vectors([STORY, b"<p>else", UPDATE]))
    assert found.ids.tolist() == [-1, -1, 7]
    assert index.find(block_vectors([UPDATE])).ids.tolist() == [9]


def test_among_equals_the_newest_is_found() -> None:
    index = index_of(*[STORY] * 40)
    assert index.find(block_vectors([STORY])).ids.tolist() == [39]


def test_what_is_removed_is_not_found_and_its_memory_is_freed() -> None:
    blocks = texts(600)
    index = index_of(*blocks)
    assert index.remove(range(500)) == 500
    assert index.remove([3, 10_000]) == 0
    assert len(index) == 100
    assert index.nbytes < index_of(*blocks).nbytes / 2
    found = index.find(block_vectors(blocks), above=0.999)
    assert found.ids[500:].tolist() == list(range(500, 600))
    assert (found.ids >= 500).sum() + (found.ids == -1).sum() == 600


def test_two_indexes_together_find_what_both_know() -> None:
    index, other = SimilarityIndex(), SimilarityIndex()
    index.add([1], block_vectors([STORY]))
    other.add([2], block_vectors([b"<img src=x>"]))
    index.update(other)
    assert len(index) == 2
    assert index.find(block_vectors([b"<img>", UPDATE])).ids.tolist() == [2, 1]


def test_every_block_needs_an_id() -> None:
    with pytest.raises(ValueError, match="1 ids for 2 blocks"):
        SimilarityIndex().add([1], block_vectors([b"a", b"b"]))


def test_it_finds_what_comparing_with_all_finds() -> None:
    vectors = block_vectors(texts(450))
    index = SimilarityIndex()
    found = index.find_and_add(range(450), vectors, above=0.8)
    rows, others = (pairs.ravel() for pairs in np.indices((450, 450)))
    every = cosines(vectors, rows, vectors, others).reshape(450, 450)
    best = np.max(np.tril(every, -1), axis=1)
    similar = best > 0.9
    assert similar.sum() > 100
    assert (found.cosines[similar] >= best[similar] - 0.02).mean() >= 0.99
    assert (found.cosines <= best + 1e-9).all()


@settings(max_examples=50)
@given(st.lists(st.binary() | markup, max_size=8))
def test_any_blocks_are_found_again_with_cosine_one(blocks: list[bytes]) -> None:
    vectors = block_vectors(blocks)
    index = SimilarityIndex()
    index.add(range(len(blocks)), vectors)
    found = index.find(vectors)
    assert found.cosines == pytest.approx(np.ones(len(blocks)))
    ids, known = index.known()
    assert ids.tolist() == list(range(len(blocks)))
    assert known.counts.tolist() == vectors.counts.tolist()
    assert known.terms.hashes.tolist() == vectors.terms.hashes.tolist()


def test_hostile_blocks_take_bounded_time() -> None:
    vectors = block_vectors(list(HOSTILE.values()))
    start = time.process_time()
    found = index_of(*texts(50)).find_and_add(range(len(HOSTILE)), vectors)
    assert len(found.ids) == len(HOSTILE)
    assert time.process_time() - start < 3


def test_ten_thousand_equal_blocks_take_bounded_time() -> None:
    index, vectors = SimilarityIndex(), block_vectors([UPDATE] * 10_000)
    index.add(range(10_000), vectors)
    start = time.process_time()
    assert (index.find(vectors).ids == 9_999).all()
    assert time.process_time() - start < 3


def test_many_small_blocks_beside_a_huge_one_take_bounded_time() -> None:
    """They have pairs of its terms, each under the same keys."""
    index = SimilarityIndex()
    huge = block_vectors([HOSTILE["distinct words"]])
    index.add(range(10), huge.rows(np.zeros(10, np.int64)))
    pairs = huge.terms.hashes[:2]
    small = BlockVectors(
        np.zeros((20_000, N_FEATURES), np.float32),
        TermSets(np.tile(pairs, 20_000), np.arange(0, 40_001, 2), np.full(20_000, 2)),
    )
    start = time.process_time()
    assert (index.find(small, above=0.0).ids == -1).all()
    assert time.process_time() - start < 3
