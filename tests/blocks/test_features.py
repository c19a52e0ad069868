"""Block feature vectors and their cosine: the columns, the weighting, and that nothing breaks them."""

import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blocks.features import COUNTS_SHARE, FEATURES, N_FEATURES, block_vectors, cosine, cosines
from blocks.terms import WINDOW_CHARS, term_sets
from blocks.text import terms, text_of
from tests.blocks.hostile import HOSTILE
from tests.blocks.test_text import markup

FORTY = [f"word{number}" for number in range(40)]


def counts_of(block: bytes) -> dict[str, int]:
    counts = block_vectors([block]).counts[0]
    return {feature.name: int(n) for feature, n in zip(FEATURES, counts, strict=True) if n}


def test_each_feature_has_its_column() -> None:
    block = b"<h2>News</h2><ul><li><a href=x>one two</a><img src=y></ul><table><tr><td>three</table><hr><br/>"
    assert counts_of(block) == {
        "terms": 4,
        "headings": 1,
        "lists": 1,
        "items": 1,
        "links": 1,
        "images": 1,
        "tables": 1,
        "rows": 1,
        "cells": 1,
        "rules": 1,
        "breaks": 1,
    }


def test_scripts_count_and_their_content_does_not() -> None:
    assert counts_of(b"<script>document.write('<img><img>')</script><STYLE>a</STYLE><!-- <p> -->") == {
        "scripts": 1,
        "styles": 1,
    }


def test_names_that_only_begin_like_a_tag_do_not_count() -> None:
    assert counts_of(b"<abc><a-b><h7><blockquotes><p:x></p>") == {}


def test_vectors_have_a_row_for_each_block_and_a_column_for_each_feature() -> None:
    vectors = block_vectors([b"<p>a", b"", b"<p>b"])
    assert vectors.counts.shape == (3, N_FEATURES)
    assert vectors.counts.dtype == np.float32
    assert [len(vectors.terms.of(row)) for row in range(3)] == [1, 0, 1]


@pytest.mark.parametrize("tags", ["", "<p>", "<a href=x><img src=y>" * 20])
def test_blocks_that_differ_in_one_word_of_forty_are_one_at_90_and_two_at_99(tags: str) -> None:
    block = tags + " ".join(FORTY)
    other = block.replace("word20", "another")
    assert 0.9 < cosine(block.encode(), other.encode()) < 0.99


def test_equal_counts_do_not_make_different_texts_similar() -> None:
    texts = [" ".join(f"{prefix}{number}" for number in range(100)) for prefix in "ab"]
    assert cosine(f"<p>{texts[0]}".encode(), f"<p>{texts[1]}".encode()) == pytest.approx(COUNTS_SHARE)


def test_blocks_without_text_are_compared_by_their_counts() -> None:
    assert cosine(b"<img src=a><br>", b"<img src=b><br>") == pytest.approx(1.0)
    assert cosine(b"<img src=a>", b"<br>") == 0.0


def test_the_term_hashes_stand_for_the_terms() -> None:
    blocks = [b"The the THE cat", "网页缓存 网页".encode(), "Größe größe".encode(), b"1 2 1"]
    sets = block_vectors(blocks).terms
    assert [len(sets.of(row)) for row in range(4)] == [2, 3, 1, 2]
    assert sets.n_terms.tolist() == [4, 4, 2, 3]


def test_windows_end_between_blocks() -> None:
    text = "\0".join(["word " * (WINDOW_CHARS // 10)] * 5)
    sets = term_sets(text, 5)
    assert sets.n_terms.tolist() == [WINDOW_CHARS // 10] * 5
    assert len({tuple(sets.of(row)) for row in range(5)}) == 1


@given(st.lists(st.text() | st.text("ab 网页กดहिé\u3000"), max_size=5))
def test_as_many_distinct_hashes_as_distinct_terms(texts: list[str]) -> None:
    texts = [text.replace("\0", " ") for text in texts]
    sets = term_sets("\0".join(texts), len(texts))
    assert [len(sets.of(row)) for row in range(len(texts))] == [len(set(terms(text))) for text in texts]
    assert sets.n_terms.tolist() == [len(terms(text)) for text in texts]


@given(markup.filter(lambda block: b"'" not in block and b'"' not in block))
def test_terms_counted_are_the_terms_of_the_text(block: bytes) -> None:
    assert block_vectors([block]).terms.n_terms[0] == len(terms(text_of(block)))


@example(b"\x01", b"\x800", "gb18030")
@given(st.binary() | markup, st.binary() | markup, st.sampled_from(["utf-8", "gb18030", "cp1252", "utf-16-le", "x"]))
def test_the_cosine_is_symmetric_in_0_to_1_and_1_with_itself(a: bytes, b: bytes, encoding: str) -> None:
    assert 0.0 <= cosine(a, b, encoding) <= 1.0
    assert cosine(a, b, encoding) == pytest.approx(cosine(b, a, encoding))
    assert cosine(a, a, encoding) == pytest.approx(1.0)


def test_many_pairs_at_once_are_as_one_by_one() -> None:
    blocks = [b"<p>a b c", b"<b>b c d", b"<img>", b""]
    vectors = block_vectors(blocks)
    rows, others = (x.ravel() for x in np.indices((4, 4)))
    singly = [cosine(blocks[i], blocks[j]) for i, j in zip(rows, others, strict=True)]
    assert cosines(vectors, rows, vectors, others) == pytest.approx(singly)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_block_takes_bounded_time(name: str) -> None:
    start = time.process_time()
    block_vectors([HOSTILE[name], b"<p>next"])
    assert time.process_time() - start < 3
