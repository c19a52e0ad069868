"""Files and folders named by people, as entries: WARC, HAR, pages, told apart by how they begin."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from apps.warc.captures import warc_entries
from apps.warc.entries import Entry, Kind, Names, Note
from apps.warc.folder import is_page, page_entry, regular_files
from apps.warc.har import har_entries
from apps.warc.messages import Limits
from apps.warc.unpacking import MAGIC, VERSION

_ARCHIVES = (".warc", ".warc.gz", ".har")


@dataclass
class Position:
    """How far reading has come, in bytes of the files named."""

    total: int = 0
    before: int = 0
    here: int = 0

    @property
    def done(self) -> int:
        return self.before + self.here


def size_of(paths: Sequence[Path]) -> int:
    """Return the bytes of the archives named and found in folders; what cannot be read counts nothing."""
    total = 0
    for path in paths:
        try:
            total += sum(p.stat().st_size for p in regular_files(path)) if path.is_dir() else path.stat().st_size
        except OSError:
            continue
    return total


def entries(paths: Sequence[Path], limits: Limits, position: Position) -> Iterator[Entry]:
    """Yield what all the files and folders hold, in order. What cannot be read is a note, and the rest goes on."""
    for path in paths:
        pages = 0
        try:
            for entry in _folder(path, limits, position) if path.is_dir() else _file(path, limits, position):
                pages += not isinstance(entry, Note)
                yield entry
                pages += isinstance(entry, Note) and entry.kind is Kind.DAMAGED
            if not pages:
                yield Note(Kind.DAMAGED, str(path), "holds no page")
        except OSError as exc:
            yield Note(Kind.DAMAGED, str(exc.filename or path), f"cannot be read: {exc.strerror or exc}")


def _folder(folder: Path, limits: Limits, position: Position) -> Iterator[Entry]:
    names = Names()
    for path in regular_files(folder):
        if path.name.lower().endswith(_ARCHIVES):
            yield from _file(path, limits, position)
        elif is_page(path):
            yield page_entry(path, folder, limits.max_bytes, names)
            position.before += path.stat().st_size


def _file(path: Path, limits: Limits, position: Position) -> Iterator[Entry]:
    """Yield what one file holds; a page by itself counts as in the folder it lies in."""

    def reached(offset: int) -> None:
        position.here = offset

    yield from _reader(path, limits, reached)
    position.before += path.stat().st_size
    position.here = 0


def _reader(path: Path, limits: Limits, reached: Callable[[int], None]) -> Iterator[Entry]:
    with path.open("rb") as file:
        start = file.read(512)
    if start.startswith(MAGIC) or start.lstrip().startswith(VERSION) or path.name.lower().endswith(".warc"):
        return warc_entries(path, limits, reached)
    if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return har_entries(path)
    if start and is_page(path):
        return iter([page_entry(path, path.parent, limits.max_bytes, Names())])
    return iter([Note(Kind.DAMAGED, str(path), "is no WARC file, HAR file or page")])
