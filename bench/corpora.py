"""Blocks of the corpora, for benchmarks: real pages, kept outside of the repository."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from fastwarc.warc import ArchiveIterator, WarcRecordType

from blocks.encoding import encoding_of
from blocks.features import BlockVectors, block_vectors
from blocks.partition import partition
from blocks.terms import TermSets

CORPORA = ("news", "books", "forum", "frontpages", "city", "blog", "encodings", "wcxb-dev")


class Sample(NamedTuple):
    """A distinct block of a corpus, with its page's encoding."""

    data: bytes
    encoding: str


def folder() -> Path:
    """Return the folder of the corpora: PAGEMASON_CORPORA, or `shared/corpora` beside the checkout."""
    checkout = Path(__file__).resolve().parent.parent
    return Path(os.environ.get("PAGEMASON_CORPORA") or checkout.parent / "shared" / "corpora")


def pages(name: str) -> Iterator[bytes]:
    """Yield the bodies of a corpus in the order of its file."""
    with (folder() / f"{name}.warc.gz").open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            yield record.reader.read()


def distinct_blocks(name: str, limit: int) -> list[Sample]:
    """Return the first distinct atomic blocks of a corpus, in the order in which its pages bring them."""
    seen: dict[bytes, Sample] = {}
    for body in pages(name):
        encoding = encoding_of(body)
        for data in partition(body).pieces():
            if data not in seen:
                seen[data] = Sample(data, encoding)
        if len(seen) >= limit:
            break
    return list(seen.values())[:limit]


def vectors_of(samples: Sequence[Sample]) -> BlockVectors:
    """Return the feature vectors of blocks of several encodings, in their order."""
    encodings = sorted({sample.encoding for sample in samples})
    groups = [[row for row, sample in enumerate(samples) if sample.encoding == e] for e in encodings]
    parts = [
        block_vectors([samples[row].data for row in group], encoding)
        for group, encoding in zip(groups, encodings, strict=True)
    ]
    return joined(parts).rows(np.argsort([row for group in groups for row in group]))


def joined(parts: Sequence[BlockVectors]) -> BlockVectors:
    """Return the rows of several, one after another."""
    hashes = np.concatenate([part.terms.hashes for part in parts])
    sizes = np.concatenate([np.diff(part.terms.starts) for part in parts])
    n_terms = np.concatenate([part.terms.n_terms for part in parts])
    terms = TermSets(hashes, np.concatenate(([0], np.cumsum(sizes))), n_terms)
    return BlockVectors(np.concatenate([part.counts for part in parts]), terms)
