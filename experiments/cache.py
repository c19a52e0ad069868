"""Bytes of a web cache and of a text index under ContentExtractor and Shingling (Debnath et al. 2005, figure 8).

Similar blocks, or shared fragments, are kept once; or what is not content is dropped as well. References are not
counted, as in the paper. This is lossy: similar bytes stand for the bytes. The real store beside it loses nothing.
"""

import sqlite3
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import xxhash

from blocks.features import block_vectors
from blocks.ibdf import EPSILON
from blocks.model import Capture
from blocks.similarity import SimilarityIndex
from experiments.datasets import Sample
from experiments.runs import extractions
from extract.methods.shingling import FragmentPool, Shingling, fragment_tree
from extract.protocol import Page


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes of a class of pages: as they are; similar ones once; and of these the content alone."""

    original: int
    once: int
    content: int


def content_extractor_bytes(samples: Sequence[Sample]) -> Kept:
    """Return the bytes that are left when similar blocks are kept once, and when ContentExtractor's content is."""
    pages = [sample.fresh() for sample in samples]
    index, seen = SimilarityIndex(), set[bytes]()
    once = content = 0
    for page, extraction in zip(pages, extractions("ContentExtractor", pages), strict=True):
        new: dict[bytes, tuple[bytes, bool]] = {}
        for piece, flag in zip(page.pieces, extraction.flags, strict=True):
            digest = xxhash.xxh3_128_digest(piece)
            if digest not in seen:
                new.setdefault(digest, (piece, flag))
        seen.update(new)
        pieces = [piece for piece, _ in new.values()]
        found = index.find_and_add(
            range(len(seen) - len(new), len(seen)), block_vectors(pieces, page.encoding), EPSILON
        )
        for (piece, flag), like in zip(new.values(), found.ids.tolist(), strict=True):
            once += len(piece) * (like < 0)
            content += len(piece) * (like < 0 and flag)
    return Kept(sum(len(page.body) for page in pages), once, content)


def shingling_bytes(samples: Sequence[Sample]) -> Kept:
    """Return the bytes that are left when shared fragments are kept once, and when they are dropped."""
    pages = [sample.fresh() for sample in samples]
    pool = Shingling().prepare(pages)
    original = sum(len(page.body) for page in pages)
    seen: set[int] = set()
    shared = first = 0
    for page in pages:
        for number, size in _fragments(page, pool):
            shared += size
            if number not in seen:
                seen.add(number)
                first += size
    return Kept(original, original - shared + first, original - shared)


def _fragments(page: Page, pool: FragmentPool) -> list[tuple[int, int]]:
    """Return number and bytes of each shared fragment on a page."""
    tree, found, upto = page.tree, [], 0
    for node in fragment_tree(page):
        if node.node < upto:
            continue
        if numbers := pool.pool.matching(node.size, node.shingles, upwards=True):
            size = len(page.source[tree.starts[node.node] : tree.ends[node.node]].encode(page.encoding, "replace"))
            found.append((min(numbers), size))
            upto = node.node + tree.sizes[node.node]
    return found


def store_bytes(samples: Sequence[Sample]) -> tuple[int, int, int]:
    """Keep the pages in a real store and compact it; return its figures `exact`, `block` and `ondisk`."""
    from store.opening import open_store

    with tempfile.TemporaryDirectory(prefix="pagemason-") as folder:
        store = open_store(f"sqlite:///{Path(folder) / 'store.db'}")
        try:
            for at in range(0, len(samples), 50):
                batch = enumerate(samples[at : at + 50], at)
                store.keep([Capture(s.page.url, at_time, 200, (), s.page.body) for at_time, s in batch])
            store.compact()
            figures = store.stats().bytes
        finally:
            store.close()
    return figures.exact, figures.block, figures.ondisk


def index_bytes(texts: Sequence[str]) -> int:
    """Return the bytes of a full-text index (SQLite FTS5, without the texts themselves) over these texts."""
    database = sqlite3.connect(":memory:")
    try:
        database.execute("create virtual table page using fts5(body, content='', detail=full)")
        database.executemany("insert into page(rowid, body) values (?, ?)", enumerate(texts, 1))
        database.execute("insert into page(page) values ('optimize')")
        database.commit()
        database.execute("vacuum")
        (pages,), (size,) = (database.execute(f"pragma {name}").fetchone() for name in ("page_count", "page_size"))
    finally:
        database.close()
    return int(pages) * int(size)
