"""What the report keeps of each capture: sizes, digests, its distinct blocks, and a sketch of its text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

from apps.batch.mapping import FLUSH_BYTES, FLUSH_CAPTURES, Job, Made, Source, map_piece
from apps.batch.parts import PartWriter, partition_of, schema
from apps.warc.entries import Kind
from blocks.encoding import encoding_of
from blocks.features import plain_texts
from blocks.model import Capture, body_digest
from blocks.partition import partition
from blocks.shingles import shingles, sketch
from blocks.site import site_of
from store.packing.kinds import is_page

SKETCH_SIZE = 64
"""Shingles of a page's sketch: the error of a resemblance is at most 0.06 (one standard error)."""

SCHEMA = schema(
    site=pa.string(),
    url=pa.string(),
    time=pa.int64(),
    size=pa.uint64(),
    digest=pa.binary(16),
    page=pa.bool_(),
    offset=pa.int64(),
    inside=pa.int64(),
    blocks=pa.large_list(pa.uint64()),
    sizes=pa.large_list(pa.uint32()),
    sketch=pa.large_list(pa.uint64()),
    shingles=pa.uint32(),
)
"""`offset` counts from the start of the piece; `blocks` are xxh3-64 of the page's distinct blocks, `sizes` theirs.

64 bits tell the blocks of a site apart for counting; whoever stores pages compares the bytes.
"""

_NONE: tuple[list[int], list[int], list[int], int] = ([], [], [], 0)


def map_report(job: Job) -> Made:
    """Write the rows of a piece."""
    setup = job.setup

    def work(source: Source, part: PartWriter) -> None:
        rows = Rows(setup.n_partitions, part)
        for place, capture in source.captures():
            try:
                facts = facts_of(capture)
            except Exception as exc:  # a page that breaks the rules of ours is named; the rest is reported
                source.problem(place, f"{capture.url}: {type(exc).__name__}: {exc}", Kind.DAMAGED)
                facts = _NONE
            site = site_of(capture.url, setup.sites)
            values = (site, capture.url, capture.time, len(capture.body), body_digest(capture.body), bool(facts[0]))
            rows.add(site, (*values, place.offset, place.inside, *facts), len(capture.body))
        rows.flush()

    return map_piece(job, "report", SCHEMA, work)


def facts_of(capture: Capture) -> tuple[list[int], list[int], list[int], int]:
    """Return the hashes of a page's distinct blocks, their sizes, the sketch of its text and its number of shingles;
    nothing for what is no page."""
    if not capture.body or not is_page(capture):
        return _NONE
    blocks = {xxhash.xxh3_64_intdigest(piece): len(piece) for piece in partition(capture.body).pieces()}
    codec = encoding_of(capture.body, capture.header("content-type"))
    words = plain_texts([capture.body], codec).lower().encode("utf-8", "replace").split()
    its = sketch(shingles(words), SKETCH_SIZE)
    return list(blocks), list(blocks.values()), its.smallest.tolist(), its.n_shingles


class Rows:
    """Rows by partition, written when they stand for enough bytes: the memory they take is bounded."""

    def __init__(self, n_partitions: int, part: PartWriter, names: Sequence[str] = SCHEMA.names[1:]) -> None:
        self._n, self._part, self._names = n_partitions, part, names
        self._rows: dict[int, list[tuple[Any, ...]]] = {}
        self._bytes = self._captures = 0

    def add(self, site: str, row: tuple[Any, ...], n_bytes: int) -> None:
        """Add a row, which stands for so many bytes of a body."""
        self._rows.setdefault(partition_of(site, self._n), []).append(row)
        self._bytes += n_bytes
        self._captures += 1
        if self._bytes >= FLUSH_BYTES or self._captures >= FLUSH_CAPTURES:
            self.flush()

    def flush(self) -> None:
        """Write what is held, a row group a partition, each in the order in which its rows came."""
        for number in sorted(self._rows):
            columns = zip(*self._rows[number], strict=True)
            self._part.write(number, dict(zip(self._names, map(list, columns), strict=True)))
        self._rows.clear()
        self._bytes = self._captures = 0


def numbers(column: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the values of a column of lists, joined, and where each row's begin: n_rows + 1 offsets."""
    joined = column.combine_chunks()
    joined = joined.chunk(0) if isinstance(joined, pa.ChunkedArray) and joined.num_chunks else joined
    offsets = joined.offsets.to_numpy()
    return joined.values.to_numpy()[offsets[0] : offsets[-1]], offsets - offsets[0]


def where(paths: list[tuple[str, str, int]], source: int, offset: int) -> tuple[Path, int]:
    """Return the file of a row and where its record begins in it; `paths` have part, file and start of the piece."""
    _, path, start = paths[source]
    return Path(path), start + offset
