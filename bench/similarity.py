"""How well and how fast similar blocks are found: recall, growth, memory, weighting, and bases for differences.

    python -m bench.similarity [--blocks 20000] [--sizes 20000,200000,2000000] [--only recall,growth,weighting,bases]

Truth is brute force: every block against all that were known before it. Times are CPU time of this process, beside
lxml's for the same pages in the same run. Needs scipy and the corpora.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence

import lxml.html
import numpy as np
import scipy.sparse as sp
import zstandard
from numpy.typing import NDArray

from bench.corpora import CORPORA, distinct_blocks, pages, vectors_of
from blocks.bases import base_index, sketches
from blocks.features import COUNTS_SHARE, BlockVectors, block_vectors, combine, cosine
from blocks.similarity import SimilarityIndex
from blocks.terms import TermSets

COMMIT = 200
"""Blocks given at once: the new ones of a few pages."""

Matrix = NDArray[np.float64]


def commits(n: int) -> Iterator[tuple[int, int]]:
    """Yield where each commit begins and ends."""
    for begin in range(0, n, COMMIT):
        yield begin, min(begin + COMMIT, n)


def term_matrix(vectors: BlockVectors) -> "sp.csr_matrix":
    """Return the binary features of the terms, sparse: shape (n_blocks, n_terms)."""
    terms, columns = np.unique(vectors.terms.hashes, return_inverse=True)
    ones = np.ones(len(columns), np.float32)
    return sp.csr_matrix((ones, columns, vectors.terms.starts), shape=(len(vectors), len(terms)))


def unit_counts(vectors: BlockVectors) -> Matrix:
    """Return the logarithms of the counts, brought to length one."""
    logs = np.log2(vectors.counts.astype(np.float64) + 1)
    length = np.linalg.norm(logs, axis=1, keepdims=True)
    return np.asarray(logs / np.where(length > 0, length, 1))


def best_before(vectors: BlockVectors, share: float) -> Matrix:
    """Return for each block the greatest cosine with one before it: shape (n_blocks,)."""
    matrix, units, n = term_matrix(vectors), unit_counts(vectors), np.diff(vectors.terms.starts)
    empty = np.logical_not(units.any(axis=1, keepdims=True)).ravel()
    best = np.zeros(len(vectors))
    for begin, end in commits(len(vectors)):
        of_counts = units[begin:end] @ units[:end].T
        of_counts[np.ix_(empty[begin:end], empty[:end])] = 1.0
        shared = (matrix[begin:end] @ matrix[:end].T).toarray()
        found = combine(shared, n[begin:end, None], n[None, :end], of_counts, share)
        found[np.arange(end)[None] >= np.arange(begin, end)[:, None]] = 0.0
        best[begin:end] = found.max(axis=1)
    return best


def recall(n_blocks: int) -> BlockVectors:
    """Print how many similar blocks are found; return the vectors."""
    samples = [sample for name in CORPORA for sample in distinct_blocks(name, -(-n_blocks // len(CORPORA)))]
    vectors = vectors_of(samples)
    best = best_before(vectors, COUNTS_SHARE)
    index, found = SimilarityIndex(), np.zeros(len(vectors))
    start = time.process_time()
    for begin, end in commits(len(vectors)):
        part = vectors.rows(np.arange(begin, end))
        found[begin:end] = index.find_and_add(range(begin, end), part, above=0.0).cosines
    seconds = time.process_time() - start
    text = np.diff(vectors.terms.starts) > 0
    print(f"recall: {len(vectors)} blocks of {len(CORPORA)} corpora, each against all before it")
    for name, group in (("with text", text), ("without", ~text)):
        similar = group & (best > 0.9)
        near = found[similar] >= best[similar] - 0.02
        print(f"  {name:9} {group.sum():6}  above 0.9: {similar.sum():6}  found within 0.02: {near.mean():.4f}")
    print(f"  {seconds / len(vectors) * 1e6:.1f} us and {index.nbytes / len(vectors):.0f} bytes a block")
    return vectors


def grown(vectors: BlockVectors, copy: int) -> BlockVectors:
    """Return blocks like these of a made-up site: the same counts and every third term, the others its own."""
    hashes = vectors.terms.hashes.astype(np.uint64)
    own = (hashes * np.uint64(2 * copy + 1) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    rows = np.repeat(np.arange(len(vectors), dtype=np.uint64), np.diff(vectors.terms.starts))
    keys = np.sort((rows << np.uint64(32)) | np.where(hashes % np.uint64(3) == 0, hashes, own))
    return BlockVectors(vectors.counts, TermSets(keys.astype(np.uint32), vectors.terms.starts, vectors.terms.n_terms))


def growth(vectors: BlockVectors, sizes: Sequence[int]) -> None:
    """Print what look-ups, additions and memory cost in indexes of growing size."""
    print(f"growth: look-ups of {COMMIT} blocks at once; a known block each, one term in ten of it another")
    index, copy = SimilarityIndex(), 0
    rng = np.random.default_rng(1)
    for size in sizes:
        start, n_before = time.process_time(), len(index)
        while len(index) < size:
            part = vectors.rows(np.arange(min(len(vectors), size - len(index))))
            index.add(range(len(index), len(index) + len(part)), grown(part, copy))
            copy += 1
        adding = (time.process_time() - start) / max(1, len(index) - n_before)
        times, hits = [], 0
        for _ in range(20):
            part = grown(vectors.rows(rng.integers(len(vectors), size=COMMIT)), int(rng.integers(copy)))
            changed = np.where(rng.random(len(part.terms.hashes)) < 0.1, part.terms.hashes ^ 1, part.terms.hashes)
            query = BlockVectors(part.counts, TermSets(changed, part.terms.starts, part.terms.n_terms))
            start = time.process_time()
            hits += int((index.find(query, above=0.8).ids >= 0).sum())
            times.append(time.process_time() - start)
        print(
            f"  {size:9} blocks  look-up {np.median(times) / COMMIT * 1e6:5.1f} us  add {adding * 1e6:5.1f} us  "
            f"{index.nbytes / size:4.0f} bytes a block  found {hits / 20 / COMMIT:.2f}"
        )


Weighting = Callable[[slice, Matrix], Matrix]


def weightings(vectors: BlockVectors) -> Iterator[tuple[str, Weighting]]:
    """Yield ways to weigh counts and terms: name, and the cosines of some rows with all, given their shared terms."""
    n, raw = np.diff(vectors.terms.starts), vectors.counts.astype(np.float64)

    def together(counts: Matrix) -> Weighting:
        square = (counts**2).sum(axis=1) + n
        return lambda rows, shared: (counts[rows] @ counts.T + shared) / np.sqrt(square[rows, None] * square)

    yield "raw counts beside the terms", together(raw)
    yield "counts / greatest count", together(raw / np.maximum(raw.max(axis=0), 1))
    yield "log2(1 + count)", together(np.log2(raw + 1))
    units = unit_counts(vectors)

    def apart(share: float) -> Weighting:
        return lambda rows, shared: share * (units[rows] @ units.T) + (1 - share) * shared / np.sqrt(n[rows, None] * n)

    for share in (0.0, 0.05, 0.1, 0.2, 0.3, 0.5):
        yield f"counts' share {share}", apart(share)


def weighting(n_blocks: int) -> None:
    """Print for each weighting which pairs of blocks with text it takes for one."""
    n_each = n_blocks // len(CORPORA)
    vectors = vectors_of([sample for name in CORPORA for sample in distinct_blocks(name, n_each)])
    vectors = vectors.rows(np.flatnonzero(np.diff(vectors.terms.starts) > 0))
    matrix, n = term_matrix(vectors), np.diff(vectors.terms.starts)
    totals: dict[str, NDArray[np.int64]] = {}
    for begin, end in commits(len(vectors)):
        shared = (matrix[begin:end] @ matrix.T).toarray().astype(np.float64)
        jaccard = shared / (n[begin:end, None] + n - shared)
        jaccard[np.arange(end - begin), np.arange(begin, end)] = np.nan
        for name, cosines in weightings(vectors):
            one = cosines(slice(begin, end), shared) > 0.9
            near, drowned = jaccard >= 0.9, jaccard < 0.5
            row = [(one & ~np.isnan(jaccard)).sum(), (one & drowned).sum(), near.any(axis=1).sum()]
            row.append((near.any(axis=1) & ~(one & near).any(axis=1)).sum())
            totals[name] = totals.get(name, np.zeros(4, np.int64)) + row
    print(f"weighting: {len(vectors)} blocks with text, all pairs")
    print(f"  {'':28}{'pairs above 0.9':>16}{'share < half their terms':>26}{'near-equal blocks missed':>26}")
    for name, (pairs, wrong, near_equal, missed) in totals.items():
        print(f"  {name:28}{pairs:16}{wrong / pairs:26.4f}{missed / near_equal:26.4f}")
    forty = " ".join(f"word{number}" for number in range(40))
    for tags in ("", "<a href=x><img src=y></a>" * 20):
        changed = cosine((tags + forty).encode(), (tags + forty.replace("word20", "other")).encode())
        print(f"  one word of forty, {tags.count('<') // 3:2} links: {changed:.3f}")


def difference_bytes(compressor: zstandard.ZstdCompressionParameters, block: bytes, base: bytes) -> int:
    """Return the size of a block compressed with another as dictionary, and 3 bytes to name it."""
    dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return 3 + len(zstandard.ZstdCompressor(compression_params=compressor, dict_data=dictionary).compress(block))


def bases(n_blocks: int) -> None:
    """Print how small differences from the bases found are, beside those from the most similar by feature vector."""
    plain = zstandard.ZstdCompressionParameters.from_level(
        3, format=zstandard.FORMAT_ZSTD1_MAGICLESS, write_content_size=False, write_checksum=False
    )
    print(f"bases: zstd -3 of each of {n_blocks} new blocks; with a base, in per cent of that; us a block")
    print(f"  {'':12}{'bytes':>10}{'alone':>10}{'base index':>12}{'us':>6}{'cosine':>10}{'us':>6}{'lxml us':>9}")
    for name in CORPORA:
        blocks = [sample.data for sample in distinct_blocks(name, n_blocks)]
        alone = np.array([len(zstandard.ZstdCompressor(compression_params=plain).compress(b)) for b in blocks])
        columns = []
        for vectors, index in ((sketches, base_index()), (block_vectors, SimilarityIndex())):
            start, ids = time.process_time(), []
            for begin, end in commits(len(blocks)):
                ids += index.find_and_add(range(begin, end), vectors(blocks[begin:end]), above=0.0).ids.tolist()
            micros = (time.process_time() - start) / len(blocks) * 1e6
            sizes = alone.copy()
            for row, base in enumerate(ids):
                if base >= 0:
                    sizes[row] = min(sizes[row], difference_bytes(plain, blocks[row], blocks[base]))
            columns.append((100 * sizes.sum() / alone.sum(), micros))
        (by_bytes, us), (by_cosine, us_cosine) = columns
        size, parsing = sum(map(len, blocks)), lxml_seconds(name)
        print(
            f"  {name:12}{size:10}{alone.sum():10}{by_bytes:12.1f}{us:6.1f}{by_cosine:10.1f}{us_cosine:6.1f}"
            f"{parsing * size / len(blocks) * 1e6:9.1f}"
        )


def lxml_seconds(name: str) -> float:
    """Return the seconds that lxml takes for a byte of a corpus' first pages."""
    bodies = [body for body, _ in zip(pages(name), range(10), strict=False)]
    start = time.process_time()
    for body in bodies:
        lxml.html.fromstring(body)
    return (time.process_time() - start) / sum(map(len, bodies))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=20_000)
    parser.add_argument("--sizes", default="20000,200000,2000000")
    parser.add_argument("--only", default="recall,growth,weighting,bases")
    arguments = parser.parse_args()
    parts = arguments.only.split(",")
    vectors = recall(arguments.blocks) if "recall" in parts or "growth" in parts else None
    if "growth" in parts and vectors is not None:
        growth(vectors, [int(size) for size in arguments.sizes.split(",")])
    if "weighting" in parts:
        weighting(arguments.blocks)
    if "bases" in parts:
        bases(4_000)


if __name__ == "__main__":
    main()
