"""Input files cut into pieces, each a task of its own.

A gzipped file of records, a gzip member each, is cut at members: a piece begins with the first member at or after a
multiple of its size. Where that member begins is found out by the task, from the bytes; the piece before must end
exactly there. It does not when what looked like a member lay within a record (an archived archive): then all of the
file is read as one piece. Files that are not gzipped are one piece.
"""

import io
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from apps.warc.unpacking import MAGIC, Unpacker

PIECE_BYTES = 64 << 20
"""Bytes of a piece: some minutes of work, and what a crash costs."""

_READ = 1 << 20


@dataclass(frozen=True, slots=True)
class Piece:
    """Part `number` of a file: the records that begin at `start` or after, and before `stop` (its size: to the end)."""

    path: str
    number: int
    start: int
    stop: int
    size: int

    @property
    def is_last(self) -> bool:
        return self.stop >= self.size


def expand(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the files that paths, folders and globs stand for, sorted, each once; and what stands for none.

    A folder stands for the .warc and .warc.gz files below it.
    """
    found: set[str] = set()
    nothing = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            here = [str(p) for p in path.rglob("*") if p.name.lower().endswith((".warc", ".warc.gz"))]
        elif path.is_file():
            here = [given]
        else:
            here = [str(p) for p in _globbed(path) if p.is_file()]
        if not here:
            nothing.append(given)
        found.update(str(Path(name).absolute()) for name in here)
    return sorted(found), nothing


def _globbed(pattern: Path) -> Iterable[Path]:
    absolute = pattern.absolute()
    return Path(absolute.anchor).glob(str(absolute.relative_to(absolute.anchor)))


def cut(path: str, piece_bytes: int = PIECE_BYTES) -> list[Piece]:
    """Return the pieces of a file, by its size. OSError when it cannot be read."""
    with Path(path).open("rb") as file:
        gzipped = file.read(len(MAGIC)) == MAGIC
        size = file.seek(0, io.SEEK_END)
    if not gzipped or size <= piece_bytes:
        return [whole(path, size)]
    edges = [*range(0, size - piece_bytes // 2, piece_bytes), size]
    return [Piece(path, n, a, b, size) for n, (a, b) in enumerate(itertools.pairwise(edges))]


def whole(path: str, size: int) -> Piece:
    """Return the piece that is all of a file."""
    return Piece(path, 0, 0, size, size)


def bounds(file: BinaryIO, piece: Piece) -> tuple[int, int]:
    """Return where the members of a piece begin and end; equal when none begins in it."""
    start = 0 if piece.start == 0 else _member(file, piece.start, piece.size)
    stop = piece.size if piece.is_last else _member(file, piece.stop, piece.size)
    return min(start, stop), stop


def _member(file: BinaryIO, offset: int, size: int) -> int:
    found = Unpacker(file).member_at(offset)
    return size if found is None else found


def digest_of(file: BinaryIO, start: int, stop: int) -> str:
    """Return the digest of a stretch of a file."""
    digest = blake2b(digest_size=16)
    file.seek(start)
    while start < stop and (part := file.read(min(_READ, stop - start))):
        digest.update(part)
        start += len(part)
    return digest.hexdigest()


class Stretch(io.RawIOBase):
    """A stretch of a file as a file of its own; offsets count from its start."""

    def __init__(self, file: BinaryIO, start: int, stop: int) -> None:
        self._file, self._start, self._size, self._at = file, start, stop - start, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        room = max(0, self._size - self._at)
        self._file.seek(self._start + self._at)
        data = self._file.read(room if size is None or size < 0 else min(size, room))
        self._at += len(data)
        return data

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
