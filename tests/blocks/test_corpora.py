"""On real pages: what similar blocks are found, and that every page has an encoding, a text and vectors."""

from itertools import islice

import numpy as np
import pytest

from bench.corpora import CORPORA, distinct_blocks, folder, pages, vectors_of
from blocks.encoding import decode, encoding_of
from blocks.features import block_vectors, cosines
from blocks.partition import partition
from blocks.similarity import SimilarityIndex
from blocks.text import terms, texts

pytestmark = pytest.mark.skipif(not folder().is_dir(), reason=f"no corpora in {folder()}")


@pytest.mark.parametrize("corpus", ["forum", "books"])
def test_similar_blocks_are_found_as_by_comparing_all(corpus: str) -> None:
    vectors = vectors_of(distinct_blocks(corpus, 1200))
    vectors = vectors.rows(np.flatnonzero(np.diff(vectors.terms.starts) > 0))
    n = len(vectors)
    found = SimilarityIndex().find_and_add(range(n), vectors, above=0.0)
    rows, others = np.tril_indices(n, -1)
    best = np.zeros(n)
    np.maximum.at(best, rows, cosines(vectors, rows, vectors, others))
    similar = best > 0.9
    assert similar.sum() > 100
    assert (found.cosines[similar] >= best[similar] - 0.02).mean() >= 0.99


@pytest.mark.parametrize("corpus", CORPORA)
def test_vectors_hold_the_terms_of_the_texts(corpus: str) -> None:
    agree = blocks = 0
    for body in islice(pages(corpus), 0, 30, 10):
        encoding, pieces = encoding_of(body), partition(body).pieces()
        counted = block_vectors(pieces, encoding).terms.n_terms.tolist()
        agree += sum(n == len(terms(text)) for n, text in zip(counted, texts(pieces, encoding), strict=True))
        blocks += len(pieces)
    assert agree >= 0.98 * blocks


def test_chinese_pages_are_decoded() -> None:
    for body in islice(pages("encodings"), 20):
        text = decode(body)
        assert text.count("\ufffd") < 10
        assert sum("\u4e00" <= char <= "\u9fff" for char in text) > 100
