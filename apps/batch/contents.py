"""Content of the pages of many files: what each page teaches about its site, gathered by partition, then the content.

For a method that judges with other pages of the site: the first step writes each page's notes, the second keeps those
of `MAX_PAGES` of a site's pages, the third reads the pieces again and judges each page with the notes of its site. A
method that looks at one page needs the third step alone.
"""

import shutil
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from apps.batch.extras import key_of
from apps.batch.mapping import Job, Made, Setup, Source, map_piece
from apps.batch.parts import Part, PartWriter, schema, write_lines
from apps.batch.report_map import Rows
from apps.batch.running import Run, to_json
from apps.extracting import is_html
from apps.warc.entries import Kind
from blocks.model import Capture
from blocks.site import site_of
from extract.default.pagemason import MIN_OTHER_PAGES
from extract.default.site import HASHES, MAX_PAGES, Notes, SiteEvidence, first_of
from extract.protocol import Page, page_of
from extract.registry import extractor, method_of
from extract.views.view import render

SITES_AT_HAND = 32
"""Sites whose evidence a worker keeps, some 2 MB each."""

NOTES = schema(
    site=pa.string(),
    url=pa.string(),
    **{name: pa.large_list(pa.uint64() if name in HASHES else pa.float32()) for name in Notes._fields},
)

CONTENT = pa.schema(
    {
        "record_id": pa.string(),
        "url": pa.string(),
        "time": pa.int64(),
        "text": pa.large_string(),
        "score": pa.float32(),
        "page": pa.string(),
    }
)
"""`page` is what kind of page it is (article, forum...), where the method says so."""


def pages_of(source: Source) -> Any:
    """Yield place, capture and page of each HTML capture; what cannot be cut is put aside."""
    for place, capture in source.captures():
        if not is_html(capture.header("Content-Type")):
            source.counts["skipped"] += 1
            continue
        try:
            yield place, capture, page_of(capture.url, capture.body, capture.header("Content-Type"))
        except Exception as exc:
            source.problem(place, f"{capture.url}: {type(exc).__name__}: {exc}", Kind.DAMAGED)


def map_notes(job: Job) -> Made:
    """Write what the pages of a piece teach about their sites, at most MAX_PAGES pages a site."""
    setup, method = job.setup, str(job.options[0])

    def work(source: Source, part: PartWriter) -> None:
        made: Any = extractor(method)
        of_site: dict[str, dict[str, Notes]] = {}
        for place, capture, page in pages_of(source):
            notes = of_site.setdefault(site_of(capture.url, setup.sites), {})
            if len(notes) >= 2 * MAX_PAGES:
                for url in notes.keys() - set(first_of(notes, MAX_PAGES)):
                    del notes[url]
            try:
                notes |= made.learn([page]).notes
            except Exception as exc:
                source.problem(place, f"{capture.url}: {type(exc).__name__}: {exc}", Kind.DAMAGED)
        rows = Rows(setup.n_partitions, part, NOTES.names[1:])
        for site, notes in sorted(of_site.items()):
            _add(rows, site, notes)
        rows.flush()

    return map_piece(job, "notes", NOTES, work)


def _add(rows: Rows, site: str, notes: dict[str, Notes]) -> None:
    for url in sorted(first_of(notes, MAX_PAGES)):
        rows.add(site, (site, url, *(column.tolist() for column in notes[url])), 0)


@dataclass(frozen=True, slots=True)
class Gathering:
    """A partition whose notes are brought together."""

    setup: Setup
    partition: int
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence of a partition's sites: a row group a site."""

    partition: int
    path: str
    again: bool


def gather_notes(job: Gathering) -> Gathered:
    """Write the evidence of the sites that have pages enough, by site."""
    names = [Path(part).name for part in job.parts]
    path = Path(job.setup.work) / "evidence" / f"{key_of('evidence', job.partition, names)}.parquet"
    again = path.exists()
    if not again:
        of_site: dict[str, dict[str, Notes]] = {}
        for name in job.parts:
            for table in Part(Path(name)).groups(job.partition):
                for row in table.to_pylist():
                    of_site.setdefault(row["site"], {})[row["url"]] = _notes(row)
        enough = {site: notes for site, notes in sorted(of_site.items()) if len(notes) > MIN_OTHER_PAGES}
        with PartWriter(path, NOTES) as part:
            for number, (site, notes) in enumerate(enough.items()):
                part.write(number, _columns(site, notes))
            part.tell(sites=list(enough))
    return Gathered(job.partition, str(path), again)


def _columns(site: str, notes: dict[str, Notes]) -> dict[str, list[Any]]:
    """Return the notes of a site's pages as columns."""
    urls = sorted(first_of(notes, MAX_PAGES))
    lists = zip(*((column.tolist() for column in notes[url]) for url in urls), strict=True)
    named = zip(Notes._fields, map(list, lists), strict=True)
    return {"site": [site] * len(urls), "url": urls, **dict(named)}


def _notes(row: dict[str, Any]) -> Notes:
    columns: dict[str, Any] = {
        name: np.array(row[name], np.uint64 if name in HASHES else np.float32) for name in Notes._fields
    }
    return Notes(**columns)


class Evidence:
    """The evidence of sites, read when it is asked for; of the last SITES_AT_HAND it is at hand."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._parts = [Part(Path(path)) for path in paths]
        self._where = {site: (part, number) for part in self._parts for number, site in enumerate(part.about["sites"])}
        self._hot: OrderedDict[str, SiteEvidence] = OrderedDict()

    def of(self, site: str) -> SiteEvidence | None:
        """Return a site's evidence, None when too few of its pages are known."""
        if site not in self._where:
            return None
        found = self._hot.pop(site, None)
        if found is None:
            part, number = self._where[site]
            table = next(iter(part.groups(number)))
            found = SiteEvidence({row["url"]: _notes(row) for row in table.to_pylist()})
        self._hot[site] = found
        if len(self._hot) > SITES_AT_HAND:
            self._hot.popitem(last=False)
        return found


def map_content(job: Job) -> Made:
    """Write the content of the pages of a piece; the options are the method and the files of evidence it may need."""
    setup, (method, paths) = job.setup, job.options
    named = replace(job, options=(method, tuple(Path(path).name for path in paths)))

    def work(source: Source, part: PartWriter) -> None:
        made: Any = extractor(method)
        evidence = Evidence(paths)
        rows = Rows(1, part, CONTENT.names)
        for place, capture, page in pages_of(source):
            try:
                row = _content(made, capture, page, evidence.of(site_of(capture.url, setup.sites)))
            except Exception as exc:
                source.problem(place, f"{capture.url}: {type(exc).__name__}: {exc}", Kind.DAMAGED)
                continue
            rows.add("", row, len(row[3]))
        rows.flush()

    return map_piece(named, "content", CONTENT, work)


def _content(made: Any, capture: Capture, page: Page, evidence: SiteEvidence | None) -> tuple[Any, ...]:
    extraction = made.extract(page, made.prepare([page]) if evidence is None else evidence)
    text = render(extraction, tree=False).text.encode("utf-8", "replace").decode()
    kind = getattr(extraction, "page_type", "")
    return capture.record_id, capture.url, capture.time, text, round(extraction.score, 4), kind


def extract(run: Run, method: str) -> dict[str, Any]:
    """Write the content of each piece as Parquet and as JSON lines, and return how much it was."""
    evidence: dict[int, str] = {}
    if method_of(method).needs == "site":
        evidence = _gathered(run, run.map("learning", map_notes, method))
    made = _extracted(run, method, evidence)
    return _emit(run.out, made)


def _gathered(run: Run, parts: list[Made]) -> dict[int, str]:
    jobs = []
    for number in range(run.setup.n_partitions):
        its = tuple(part.part for part in parts if number in part.partitions)
        if its:
            jobs.append(Gathering(run.setup, number, its))
    found = {}
    for answer in run.tasks("gathering", gather_notes, jobs):
        if answer.failure:
            raise RuntimeError(f"the evidence of a partition could not be gathered: {answer.failure}")
        found[answer.result.partition] = answer.result.path
    return found


def _extracted(run: Run, method: str, evidence: dict[int, str]) -> list[Made]:
    of_piece = run.partitions

    def options(job: Job) -> Job:
        its = of_piece.get(job.piece, frozenset())
        return replace(job, options=(method, tuple(evidence[number] for number in sorted(its & evidence.keys()))))

    return run.map("extracting", map_content, adapt=options)


def _emit(out: Path, parts: list[Made]) -> dict[str, Any]:
    """Give the parts names that people can read, and write the same as JSON lines."""
    folder = out / "content"
    folder.mkdir(parents=True, exist_ok=True)
    n_pages = 0
    wanted = set()
    for number, made in enumerate(parts):
        name = f"{number:05d}-{Path(made.piece.path).name.split('.warc')[0]}"
        wanted |= {f"{name}.parquet", f"{name}.jsonl"}
        shutil.copyfile(made.part, folder / f".{name}.parquet")
        (folder / f".{name}.parquet").replace(folder / f"{name}.parquet")
        rows = (row for table in Part(Path(made.part)).groups() for row in table.to_pylist())
        lines = (to_json(row | {"score": round(row["score"], 4)}) for row in rows)
        n_pages += write_lines(folder / f"{name}.jsonl", lines)
    for path in folder.iterdir():
        if path.name not in wanted:
            path.unlink()
    return {"pages": n_pages, "files": len(parts)}
