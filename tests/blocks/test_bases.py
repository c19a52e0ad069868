"""Bases for differences: found by bytes, markup and scripts included."""

import time

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.bases import SKETCH_SIZE, base_index, sketches
from tests.blocks.hostile import HOSTILE

ROW = b'<tr class="row%d"><td><a href="viewtopic.php?t=%d&amp;sid=%032x" class="topic">%s</a></td><td>%d replies</td>'
TITLES = [b"Where to buy a lens", b"Broken shutter", b"Best film for snow", b"Introduce yourself", b"Scanner settings"]


def row(topic: int, session: int) -> bytes:
    return ROW % (topic % 2, topic, session, TITLES[topic], topic * 3)


def script(nonce: int) -> bytes:
    lines = [b'track("page%d", {"nonce": "%x", "site": "example"});' % (line, nonce) for line in range(20)]
    return b"<script>" + b"\n".join(lines) + b"</script>"


def test_a_row_with_another_session_is_based_on_the_same_row() -> None:
    index = base_index()
    index.add(range(5), sketches([row(topic, 0xABC) for topic in range(5)]))
    found = index.find(sketches([row(topic, 0xDEF) for topic in range(5)]), above=0.3)
    assert found.ids.tolist() == [0, 1, 2, 3, 4]


def test_a_script_is_based_on_the_script_it_resembles() -> None:
    index = base_index()
    index.add([10, 20], sketches([row(1, 2), script(1)]))
    assert index.find(sketches([script(2)]), above=0.3).ids.tolist() == [20]


def test_the_base_found_makes_the_difference_small() -> None:
    blocks = [row(topic, session) for session in range(0, 5000, 1000) for topic in range(5)]
    found = base_index().find_and_add(range(25), sketches(blocks), above=0.3)
    assert (found.ids[5:] >= 0).all()
    for block, base in zip(blocks[5:], found.ids[5:].tolist(), strict=True):
        dictionary = zstandard.ZstdCompressionDict(blocks[base], dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        difference = zstandard.ZstdCompressor(dict_data=dictionary).compress(block)
        assert len(difference) < len(zstandard.ZstdCompressor().compress(block)) / 2


def test_blocks_that_share_nothing_are_no_bases() -> None:
    index = base_index()
    index.add([1], sketches([b"<p>one two three four five</p>"]))
    assert index.find(sketches([b"<ul><li>six<li>seven<li>eight</ul>", b"", b"x"]), above=0.3).ids.tolist() == [
        -1,
        -1,
        -1,
    ]


def test_a_sketch_is_bounded_and_the_same_in_any_company() -> None:
    blocks = [script(1), b"", row(1, 1), script(2) * 100]
    together = sketches(blocks)
    assert np.diff(together.terms.starts).max() == SKETCH_SIZE
    for number, block in enumerate(blocks):
        assert sketches([block]).terms.of(0).tolist() == together.terms.of(number).tolist()


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=200), max_size=8))
def test_any_bytes_have_a_sketch(blocks: list[bytes]) -> None:
    vectors = sketches(blocks)
    assert len(vectors) == len(blocks)
    found = base_index().find_and_add(range(len(blocks)), vectors, above=0.0)
    assert (found.ids < np.arange(len(blocks))).all()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_block_takes_bounded_time(name: str) -> None:
    start = time.process_time()
    base_index().find_and_add([1, 2], sketches([HOSTILE[name], b"<p>next"]))
    assert time.process_time() - start < 2
