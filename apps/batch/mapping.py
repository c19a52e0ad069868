"""The map step: a piece of a file becomes one Parquet file of rows, by partition of their sites."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from apps.batch.extras import key_of
from apps.batch.parts import Part, PartWriter
from apps.batch.pieces import Piece, bounds, digest_of, whole
from apps.batch.reading import Stretched
from apps.warc.captures import placed_entries
from apps.warc.entries import Entry, Kind, Note
from apps.warc.messages import Limits
from apps.warc.unpacking import Place
from blocks.model import Capture

FLUSH_BYTES = 64 << 20
"""Bodies whose rows are held before they are written: bounds a worker's memory, whatever a piece unpacks to."""

FLUSH_CAPTURES = 5_000


@dataclass(frozen=True, slots=True)
class Setup:
    """What all tasks of a run share."""

    work: str
    limits: Limits
    n_partitions: int
    sites: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """A piece to be mapped, and how: `options` are whatever else the result depends on."""

    setup: Setup
    piece: Piece
    options: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read, or was read with a doubt."""

    file: str
    at: str
    what: str
    kind: str = str(Kind.DAMAGED)


@dataclass(frozen=True, slots=True)
class Made:
    """A written part of a piece."""

    part: str
    key: str
    piece: Piece
    start: int
    stop: int
    fits: bool
    again: bool
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    partitions: frozenset[int]


@dataclass
class Source:
    """The captures of a piece. After reading, `problems` names what was passed over, `counts` what was read."""

    file: BinaryIO
    start: int
    stop: int
    limits: Limits
    fits: bool = True
    problems: list[tuple[str, str, str]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("captures", "skipped", "damaged"), 0))

    def entries(self) -> Iterator[tuple[Place, Entry]]:
        """Yield what is not damaged, and where it is: bytes from the start of the piece."""
        stretched = Stretched(self.file, self.start, self.stop, self.limits.max_bytes)
        for place, entry in placed_entries(lambda: iter(stretched), "", lambda: 0, self.limits):
            if isinstance(entry, Note):
                self.problem(place, entry.what, entry.kind)
            else:
                self.counts["captures"] += isinstance(entry, Capture)
                yield Place(place.offset - self.start, place.inside), entry
        self.fits = stretched.fits
        if self.start == self.stop == 0:
            self.problem(Place(0), "a file of zero bytes", Kind.DAMAGED)
        elif not (self.counts["captures"] or self.problems) and self.start == 0:
            self.problem(Place(0), "holds no page", Kind.SKIPPED)

    def captures(self) -> Iterator[tuple[Place, Capture]]:
        """Yield the captures alone; revisits, whose bodies are elsewhere, are counted."""
        for place, entry in self.entries():
            if isinstance(entry, Capture):
                yield place, entry
            else:
                self.counts["skipped"] += 1

    def problem(self, place: Place, what: str, kind: Kind) -> None:
        """Put something aside: named, and left out."""
        if kind is not Kind.DATED:
            self.counts[str(kind)] += 1
        self.problems.append((str(Place(place.offset - self.start, place.inside)), what, str(kind)))


def map_piece(job: Job, kind: str, schema: Any, work: Callable[[Source, PartWriter], None]) -> Made:
    """Write the part of a piece, unless it is there; `work` fills it. OSError when the file cannot be read."""
    setup, piece = job.setup, job.piece
    with Path(piece.path).open("rb") as file:
        start, stop = bounds(file, piece)
        digest = digest_of(file, start, stop)
        key = key_of(kind, setup.limits, setup.n_partitions, sorted(setup.sites.items()), job.options, digest)
        path = Path(setup.work) / kind / f"{key}.parquet"
        again = path.exists()
        if not again:
            source = Source(file, start, stop, setup.limits)
            with PartWriter(path, schema) as part:
                work(source, part)
                part.tell(fits=source.fits, problems=source.problems, counts=source.counts)
    return made(str(path), key, piece, (start, stop), again)


def made(path: str, key: str, piece: Piece, span: tuple[int, int], again: bool) -> Made:
    """Return what is known of a part that is there; offsets of problems are in the whole file."""
    part = Part(Path(path))
    about = part.about
    problems = tuple(Problem(piece.path, _shifted(at, span[0]), what, kind) for at, what, kind in about["problems"])
    partitions = frozenset(part.partitions)
    return Made(path, key, piece, *span, about["fits"], again, problems, about["counts"], partitions)


def _shifted(at: str, start: int) -> str:
    """Return a place as text, moved: `byte 5 (unpacked +7)`.

    >>> _shifted("byte 5", 100)
    'byte 105'
    """
    word, offset, *rest = at.split(" ")
    return " ".join([word, str(int(offset) + start), *rest])


def misfits(parts: list[Made]) -> list[Piece]:
    """Return the files, each as one piece, whose pieces do not fit together."""
    bad = {part.piece.path: part.piece.size for part in parts if not (part.fits or part.piece.is_last)}
    return [whole(path, size) for path, size in sorted(bad.items())]
