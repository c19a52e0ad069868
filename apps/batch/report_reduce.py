"""The reduce step of the report: what the captures of each site of a partition have in common.

A template block is one that stands on more than half of its site's pages (URLs), of three at the least; near-duplicates
are pages of one site whose texts have a resemblance of NEAR or more (Broder 1997), estimated from sketches.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import xxhash

from apps.batch.extras import key_of
from apps.batch.mapping import Setup
from apps.batch.parts import Part, write_lines
from apps.batch.pieces import Stretch
from apps.batch.report_map import SKETCH_SIZE, numbers, where
from apps.batch.running import to_json
from apps.site_blocks import excerpt
from apps.warc.captures import placed_entries
from apps.warc.reading import Damage, WarcRecord, records
from apps.warc.unpacking import Place
from blocks.features import BlockVectors
from blocks.model import Capture
from blocks.partition import partition
from blocks.shingles import Sketch, resemblance
from blocks.similarity import SimilarityIndex
from blocks.terms import TermSets, within

NEAR = 0.9
LOOKED_UP = 0.8
"""Share of a sketch that two pages must have in common to be compared."""

MIN_PAGES = 3
"""Pages of a site from which blocks can be templates."""

MOST_TEMPLATES = 10
"""Template blocks named for a site: the largest in all."""

Array = np.ndarray[Any, Any]
Parts = tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class Reduction:
    """A partition to be reduced: its parts, each with the file and where the piece begins in it."""

    setup: Setup
    partition: int
    parts: Parts


@dataclass(frozen=True, slots=True)
class Reduced:
    """Lines of JSON about the sites of a partition, by site."""

    path: str
    again: bool


def reduce_report(job: Reduction) -> Reduced:
    """Write a line for each site of a partition: its row, its templates, its near-duplicates."""
    names = [(Path(part).name, start) for part, _, start in job.parts]
    path = Path(job.setup.work) / "report-by-site" / f"{key_of('reduce', job.partition, names)}.jsonl"
    again = path.exists()
    if not again:
        write_lines(path, (to_json(row) for row in _sites(job)))
    return Reduced(str(path), again)


def _sites(job: Reduction) -> Iterator[dict[str, Any]]:
    tables, sources = [], []
    for number, (part, _, _) in enumerate(job.parts):
        for table in Part(Path(part)).groups(job.partition):
            tables.append(table)
            sources.append(np.full(len(table), number))
    if not tables:
        return
    pages = Pages(pa.concat_tables(tables), np.concatenate(sources))
    for site, rows in pages.by_site():
        yield _site(job, pages, site, rows)


class Pages:
    """The rows of a partition, as arrays."""

    def __init__(self, table: Any, sources: Array) -> None:
        self.sources = sources
        self.sites: list[str] = table["site"].to_pylist()
        self.urls: list[str] = table["url"].to_pylist()
        self.digests: list[bytes] = table["digest"].to_pylist()
        self.time, self.size, self.page, self.offset, self.inside, self.n_shingles = (
            table[name].to_numpy() for name in ("time", "size", "page", "offset", "inside", "shingles")
        )
        self.blocks, self.starts = numbers(table["blocks"])
        self.sizes, _ = numbers(table["sizes"])
        self.sketches, self.sketch_starts = numbers(table["sketch"])

    def by_site(self) -> Iterator[tuple[str, list[int]]]:
        """Yield the sites in order, and the rows of each by URL, time and place."""
        order = sorted(range(len(self.sites)), key=lambda r: (self.sites[r], self.urls[r], self.time[r], r))
        first = 0
        for at in range(1, len(order) + 1):
            if at == len(order) or self.sites[order[at]] != self.sites[order[first]]:
                yield self.sites[order[first]], order[first:at]
                first = at

    def incidences(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return the blocks of some rows, their sizes, and the number among these rows of the one each stands on."""
        n = self.starts[rows + 1] - self.starts[rows]
        at = within(self.starts[rows], n)
        return self.blocks[at], self.sizes[at].astype(np.int64), np.repeat(np.arange(len(rows)), n)


def _site(job: Reduction, pages: Pages, site: str, found: list[int]) -> dict[str, Any]:
    rows = np.array(found)
    url_number = np.cumsum([n == 0 or pages.urls[r] != pages.urls[found[n - 1]] for n, r in enumerate(found)]) - 1
    distinct = {pages.digests[row]: row for row in reversed(found)}
    others = sum(int(pages.size[row]) for row in distinct.values() if not pages.page[row])
    blocks, sizes, on = pages.incidences(rows)
    known, first, at = np.unique(blocks, return_index=True, return_inverse=True)
    pairs = np.unique(np.stack((at, url_number[on])), axis=1) if len(at) else np.empty((2, 0), np.int64)
    on_pages = np.bincount(pairs[0], minlength=len(known))
    n_pages = int(url_number[-1]) + 1
    n_html = len(np.unique(url_number[pages.page[rows]]))
    is_template = (on_pages * 2 > n_html) & (n_html >= MIN_PAGES)
    in_templates = int(sizes[is_template[at]].sum())
    near = list(_near(pages, sorted(distinct.values(), key=found.index)))
    row = {
        "site": site,
        "captures": len(found),
        "pages": n_pages,
        "original": int(pages.size[rows].sum()),
        "exact": sum(int(pages.size[r]) for r in distinct.values()),
        "blocks": int(sizes[first].sum()) + others,
        "distinct_blocks": len(known),
        "template_blocks": int(is_template.sum()),
        "template_share": round(in_templates / int(sizes.sum()), 4) if len(sizes) else 0.0,
        "near_duplicates": len(near),
    }
    frequencies = (known, sizes[first], on_pages, np.bincount(at, minlength=len(known)))
    return {"row": row, "templates": _templates(job, pages, rows, frequencies, is_template), "near": near}


def _templates(
    job: Reduction, pages: Pages, rows: Array, frequencies: tuple[Array, Array, Array, Array], chosen: Array
) -> list[dict[str, Any]]:
    """Return the templates that take the most bytes, each with how it begins, read from a page that has most."""
    known, sizes, on_pages, in_captures = (column[chosen] for column in frequencies)
    order = np.lexsort((known, -sizes * in_captures))[:MOST_TEMPLATES]
    if not len(order):
        return []
    blocks, _, on = pages.incidences(rows)
    example = rows[int(np.argmax(np.bincount(on[np.isin(blocks, known[order])], minlength=len(rows))))]
    path, offset = where(list(job.parts), int(pages.sources[example]), int(pages.offset[example]))
    capture = capture_at(path, Place(offset, int(pages.inside[example])), job.setup)
    begins = {}
    if capture is not None:
        begins = {xxhash.xxh3_64_intdigest(piece): piece for piece in partition(capture.body).pieces()}
    return [
        {
            "block": f"{int(known[n]):016x}",
            "size": int(sizes[n]),
            "pages": int(on_pages[n]),
            "captures": int(in_captures[n]),
            "begins": excerpt(begins.get(int(known[n]), b"")),
        }
        for n in order
    ]


def capture_at(path: Path, place: Place, setup: Setup) -> Capture | None:
    """Return the capture whose record begins at a place of a file; None when it is not there any more."""
    with path.open("rb") as file:
        source = cast(Any, Stretch(file, place.offset, path.stat().st_size))
        for found in records(source, setup.limits.max_bytes):
            if found.place.offset or found.place.inside > place.inside:
                return None
            if found.place.inside == place.inside:
                return _capture(found, setup)
    return None


def _capture(record: WarcRecord | Damage, setup: Setup) -> Capture | None:
    entries = placed_entries(lambda: iter([record]), "", lambda: 0, setup.limits)
    return next((entry for _, entry in entries if isinstance(entry, Capture)), None)


def _near(pages: Pages, rows: list[int]) -> Iterator[dict[str, Any]]:
    """Yield the pages that resemble one before them, and which; of equal bodies only the first is looked at."""
    rows = [row for row in rows if pages.n_shingles[row]]
    if len(rows) < 2:
        return
    starts = pages.sketch_starts
    sketches = [pages.sketches[starts[row] : starts[row + 1]] for row in rows]
    hashes = [np.unique((values & np.uint64(0xFFFFFFFF)).astype(np.uint32)) for values in sketches]
    sizes = np.array([len(values) for values in hashes])
    terms = TermSets(np.concatenate(hashes), np.concatenate(([0], np.cumsum(sizes))), sizes)
    index = SimilarityIndex(n_counts=0, counts_share=0.0)
    vectors = BlockVectors(np.empty((len(rows), 0), np.float32), terms)
    found = index.find_and_add(np.arange(len(rows)), vectors, LOOKED_UP)
    for number, other in enumerate(found.ids.tolist()):
        if other < 0:
            continue
        a, b = (Sketch(sketches[n], int(pages.n_shingles[rows[n]]), SKETCH_SIZE) for n in (number, other))
        likeness = resemblance(a, b)
        if likeness >= NEAR:
            yield {
                "url": pages.urls[rows[number]],
                "time": int(pages.time[rows[number]]),
                "like": pages.urls[rows[other]],
                "like_time": int(pages.time[rows[other]]),
                "resemblance": round(likeness, 3),
            }
