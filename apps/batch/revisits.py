"""WARC files without the bodies that came before: a body of a site is written once, and again only as a revisit record
(ISO 28500:2017, section 6.7.2, profile identical-payload-digest).

The first step lists the bodies, the second finds, by partition, which came first (by time, then by place), the third
writes each piece anew. Records that stay as they are, are copied as they lie in the file, requests and metadata too; a
revisit has the head of the response it stands for, byte for byte. Bodies are equal when their bytes as archived are.
"""

import gzip
import re
import zlib
from base64 import b32encode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b, sha1
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import pyarrow as pa

from apps.batch.extras import key_of
from apps.batch.mapping import Job, Made, Problem, Setup, Source, map_piece
from apps.batch.parts import Part, PartWriter, schema
from apps.batch.pieces import bounds
from apps.batch.reading import Stretched
from apps.batch.report_map import Rows
from apps.batch.running import Run
from apps.warc.captures import text_of, uri_of
from apps.warc.dates import parse_date
from apps.warc.entries import Kind
from apps.warc.reading import Damage, Fields, WarcRecord
from apps.warc.unpacking import MAGIC, Place
from blocks.site import site_of

PROFILE = b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

MIN_BODY_BYTES = 512
"""Smaller bodies are written again: the fields that a revisit has beside them take as much."""

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_PART = 1 << 20

BODIES = schema(
    site=pa.string(),
    digest=pa.binary(16),
    time=pa.int64(),
    url=pa.string(),
    date=pa.string(),
    record_id=pa.string(),
    offset=pa.int64(),
    inside=pa.int64(),
)

REVISITS = schema(
    offset=pa.int64(), inside=pa.int64(), refers_id=pa.string(), refers_url=pa.string(), refers_date=pa.string()
)
"""The partition is here the number of the part, so that a piece finds its own."""

Refers = dict[tuple[int, int], tuple[str, str, str]]


def head_bytes(record: WarcRecord) -> int:
    """Return how many bytes of a response record's block are its head."""
    end = _HEAD_END.search(record.block)
    return end.end() if end else len(record.block)


def map_bodies(job: Job) -> Made:
    """List the bodies of the responses of a piece."""
    setup = job.setup

    def work(source: Source, part: PartWriter) -> None:
        rows = Rows(setup.n_partitions, part, BODIES.names[1:])
        found = Stretched(source.file, source.start, source.stop, source.limits.max_bytes)
        for record in found:
            place = Place(record.place.offset - source.start, record.place.inside)
            if isinstance(record, Damage):
                source.problem(record.place, record.what, Kind.DAMAGED)
            elif record.kind == "response" and (row := _row(record)):
                source.counts["captures"] += 1
                site = site_of(row[3], setup.sites)
                rows.add(site, (site, *row[1:], place.offset, place.inside), len(record.block))
        source.fits = found.fits
        if source.start == source.stop == 0:
            source.problem(Place(0), "a file of zero bytes", Kind.DAMAGED)
        rows.flush()

    return map_piece(job, "bodies", BODIES, work)


def _row(record: WarcRecord) -> tuple[Any, ...] | None:
    """Return what is listed of a response; None when it cannot be referred to, or its body is hardly larger than a
    reference."""
    date = text_of(record.field("WARC-Date"))
    time = parse_date(date)
    body = memoryview(record.block)[head_bytes(record) :]
    if time is None or len(body) < MIN_BODY_BYTES or not record.field("WARC-Record-ID"):
        return None
    digest = blake2b(body, digest_size=16).digest()
    url = uri_of(record.field("WARC-Target-URI"))
    return None, digest, time, url, date, text_of(record.field("WARC-Record-ID"))


@dataclass(frozen=True, slots=True)
class Matching:
    """A partition whose bodies are compared; `parts` by their numbers."""

    setup: Setup
    partition: int
    parts: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """The responses of a partition that become revisits."""

    path: str
    parts: frozenset[int]
    again: bool


def match_bodies(job: Matching) -> Matched:
    """Write which responses of a partition have the body of an earlier one, by part."""
    names = [(number, Path(part).name) for number, part in job.parts]
    path = Path(job.setup.work) / "revisits" / f"{key_of('revisits', job.partition, names)}.parquet"
    again = path.exists()
    if not again:
        _write_revisits(job, path)
    return Matched(str(path), frozenset(Part(path).partitions), again)


def _write_revisits(job: Matching, path: Path) -> None:
    rows: list[tuple[Any, ...]] = []
    for number, part in job.parts:
        for table in Part(Path(part)).groups(job.partition):
            columns = [table[name].to_pylist() for name in BODIES.names[1:]]
            rows += ((row[0], row[1], row[2], number, *row[6:8], *row[3:6]) for row in zip(*columns, strict=True))
    rows.sort(key=lambda row: row[:6])  # by site, digest, time, part, offset, inside
    of_part: dict[int, list[tuple[Any, ...]]] = {}
    first: tuple[Any, ...] = (None, None)
    for row in rows:
        if row[:2] != first[:2]:
            first = row
        else:
            url, date, record_id = first[6:9]
            of_part.setdefault(row[3], []).append((row[4], row[5], record_id, url, date))
    with PartWriter(path, REVISITS) as writer:
        for number in sorted(of_part):
            values = map(list, zip(*sorted(of_part[number]), strict=True))
            writer.write(number, dict(zip(REVISITS.names[1:], values, strict=True)))


@dataclass(frozen=True, slots=True)
class Writing:
    """A piece to be written anew: its number among the parts, and the files that may name revisits of it."""

    setup: Setup
    made: Made
    number: int
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A piece of a WARC file without repeated bodies."""

    path: str
    revisits: int
    bytes_before: int
    bytes_after: int
    again: bool


def write_piece(job: Writing) -> Written:
    """Write the records of a piece, its repeated responses as revisits; what is damaged is left out."""
    names = [Path(path).name for path in job.matched]
    path = Path(job.setup.work) / "warc" / f"{key_of('warc', job.made.key, job.number, names)}.warc.gz"
    refers = _refers(job)
    again = path.exists()
    if not again:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{uuid4().hex}")
        try:
            with Path(job.made.piece.path).open("rb") as file, temporary.open("wb") as out:
                start, stop = bounds(file, job.made.piece)
                found = Stretched(file, start, stop, job.setup.limits.max_bytes)
                for data in _members(file, found, refers, start, stop):
                    out.write(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    return Written(str(path), len(refers), job.made.stop - job.made.start, path.stat().st_size, again)


def _refers(job: Writing) -> Refers:
    found: Refers = {}
    for name in job.matched:
        for table in Part(Path(name)).groups(job.number):
            for row in table.to_pylist():
                found[row["offset"], row["inside"]] = (row["refers_id"], row["refers_url"], row["refers_date"])
    return found


def _members(file: BinaryIO, found: Stretched, refers: Refers, start: int, stop: int) -> Iterator[bytes]:
    """Yield the gzip members of the new file: as they are, or made anew."""
    waiting: WarcRecord | None = None
    for record in found:
        if waiting is not None:
            yield _member(file, waiting, record.place, refers, start)
        waiting = record if isinstance(record, WarcRecord) else None
    if waiting is not None:
        end = Place(stop) if found.fits else waiting.place
        yield _member(file, waiting, end, refers, start)


def _member(file: BinaryIO, record: WarcRecord, end: Place, refers: Refers, start: int) -> bytes:
    """Return a record as a member; `end` is where the next one begins."""
    place = record.place
    named = refers.get((place.offset - start, place.inside))
    if named is not None:
        return _packed(_revisit(record, named))
    file.seek(place.offset)
    if not (place.inside or end.inside) and end.offset > place.offset:
        data = file.read(end.offset - place.offset)
        if data.startswith(MAGIC) and _is_member(data):
            return data
    return _packed(_plain(record.fields, record.block))


def _is_member(data: bytes) -> bool:
    """Tell whether some bytes are one gzip member, and nothing else."""
    stream = zlib.decompressobj(31)
    try:
        rest = data
        while rest and not stream.eof:
            stream.decompress(rest, _PART)
            rest = stream.unconsumed_tail
    except zlib.error:
        return False
    return stream.eof and not stream.unused_data


def _packed(record: bytes) -> bytes:
    return gzip.compress(record, 6, mtime=0)


def _plain(fields: Fields, block: bytes) -> bytes:
    head = b"".join(name + b": " + value + b"\r\n" for name, value in fields)
    return b"".join((b"WARC/1.1\r\n", head, b"\r\n", block, b"\r\n\r\n"))


def _revisit(record: WarcRecord, refers: tuple[str, str, str]) -> bytes:
    """Return the revisit record that stands for a response."""
    block = record.block[: head_bytes(record)]
    digest = sha1(block, usedforsecurity=False).digest()
    payload = sha1(record.block[len(block) :], usedforsecurity=False).digest()
    changed = {b"warc-type", b"content-length", b"warc-block-digest", b"warc-profile", b"warc-truncated"}
    kept = [field for field in record.fields if field[0].lower() not in changed]
    if not record.field("WARC-Payload-Digest"):
        kept.append((b"WARC-Payload-Digest", b"sha1:" + b32encode(payload)))
    record_id, url, date = (text.encode("utf-8", "surrogatepass") for text in refers)
    fields = [
        (b"WARC-Type", b"revisit"),
        *kept,
        (b"WARC-Profile", PROFILE),
        (b"WARC-Refers-To", record_id),
        (b"WARC-Refers-To-Target-URI", url),
        (b"WARC-Refers-To-Date", date),
        (b"WARC-Block-Digest", b"sha1:" + b32encode(digest)),
        (b"Content-Length", b"%d" % len(block)),
    ]
    return _plain(tuple(fields), block)


def deduplicate(run: Run) -> dict[str, Any]:
    """Write each input file anew into the folder `warc`, and return what that saves."""
    parts = run.map("reading", map_bodies)
    matching = []
    for partition in range(run.setup.n_partitions):
        its = tuple((number, part.part) for number, part in enumerate(parts) if partition in part.partitions)
        if its:
            matching.append(Matching(run.setup, partition, its))
    matched = [answer.result for answer in run.tasks("comparing", match_bodies, matching) if not answer.failure]
    if len(matched) < len(matching):
        raise RuntimeError("a partition could not be compared")
    jobs = [
        Writing(run.setup, part, number, tuple(found.path for found in matched if number in found.parts))
        for number, part in enumerate(parts)
    ]
    written: dict[str, list[Written]] = {}
    for job, answer in zip(jobs, run.tasks("writing", write_piece, jobs), strict=True):
        if answer.failure:
            run.problem(Problem(job.made.piece.path, f"byte {job.made.start}", answer.failure))
        else:
            written.setdefault(job.made.piece.path, []).append(answer.result)
    return _emit(run.out / "warc", written)


def _emit(folder: Path, written: dict[str, list[Written]]) -> dict[str, Any]:
    """Join the pieces of each file."""
    folder.mkdir(parents=True, exist_ok=True)
    totals = {"files": 0, "revisits": 0, "bytes_before": 0, "bytes_after": 0}
    taken: set[str] = set()
    for path, pieces in written.items():
        stem = Path(path).name.split(".warc")[0]
        name = next(n for n in _names(stem) if n not in taken)
        taken.add(name)
        temporary = folder / f".{name}.{uuid4().hex}"
        with temporary.open("wb") as out:
            for piece in pieces:
                out.write(Path(piece.path).read_bytes())
                for field in ("revisits", "bytes_before", "bytes_after"):
                    totals[field] += getattr(piece, field)
        temporary.replace(folder / name)
        totals["files"] += 1
    return totals


def _names(stem: str) -> Iterator[str]:
    yield f"{stem}.warc.gz"
    number = 2
    while True:
        yield f"{stem}-{number}.warc.gz"
        number += 1
