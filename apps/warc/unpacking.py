"""The bytes of a WARC file, unpacked, each traced to the place in the file it came from.

FastWARC and warcio read sound files; both stop at the first damaged gzip member, and a record cut off inside its
header simply does not appear. An archive deserves better: here damage has an offset, and reading goes on at the next
member, or the next line that can begin a record. ISA-L unpacks in two fifths of zlib's time.
"""

import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO

_inflating: Any = zlib
with suppress(ImportError):  # there are no wheels for every machine
    from isal import isal_zlib as _inflating

_ERRORS: tuple[type[Exception], ...] = (_inflating.error,)

MAGIC = b"\x1f\x8b\x08"
VERSION = b"WARC/"

_PIECE = 1 << 14
"""Bytes unpacked at once: deflate reaches 1,032 times, so one piece cannot swell beyond 17 MB."""

_PLAIN_PIECE = 1 << 20
_SNIFF = 1 << 12


_BLANK = re.compile(rb"[\r\n]*")
_RECORD_LINE = re.compile(rb"\nWARC/\d+\.\d+[ \t]*\r?\n")
_LONGEST_RECORD_LINE = 32


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where bytes come from: `offset` in the file, for a gzipped one of their member and how far `inside` it."""

    offset: int
    inside: int = 0

    def __str__(self) -> str:
        return f"byte {self.offset}" + (f" (unpacked +{self.inside})" if self.inside else "")


class Damaged(Exception):
    """The bytes at `place` are not what they should be; `cut` tells that they just end too early."""

    def __init__(self, place: Place, what: str, *, cut: bool = False, packed: bool = False) -> None:
        super().__init__(what)
        self.place = place
        self.what = what
        self.cut = cut
        self.packed = packed


class Unpacker:
    """Reads a seekable file, gzipped or not. `buffer` holds what was unpacked and not yet taken."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        file.seek(0)
        self.gzipped = file.read(len(MAGIC)) == MAGIC
        self.buffer = bytearray()
        self._unpacked = 0  # bytes ever appended to the buffer
        self._restart(0)

    def _restart(self, offset: int) -> None:
        self._file.seek(offset)
        self._at = offset  # of the next byte to unpack
        self._packed = b""
        self._stream: Any = None  # a decompressor, within a member
        self.buffer.clear()
        self._starts = [(self._unpacked, offset)]  # of the members in the buffer: bytes unpacked before, offset

    @property
    def place(self) -> Place:
        """Where the front of the buffer comes from."""
        if not self.gzipped:
            return Place(self._at - len(self.buffer))
        taken = self._unpacked - len(self.buffer)
        while len(self._starts) > 1 and self._starts[1][0] <= taken:
            self._starts.pop(0)
        before, offset = self._starts[0]
        return Place(offset, taken - before)

    def drop(self, n: int) -> None:
        """Forget the first `n` bytes of the buffer."""
        del self.buffer[:n]

    def fill(self) -> bool:
        """Append more to the buffer; False at the end of the file. Damaged when it cannot be read on."""
        if self.gzipped:
            piece = self._unpack()
        else:
            piece = self._file.read(_PLAIN_PIECE)
            self._at += len(piece)
        self.buffer += piece
        self._unpacked += len(piece)
        return bool(piece)

    def skip_blank(self) -> bool:
        """Drop the line ends at the front; False at the end of the file."""
        while True:
            blank = _BLANK.match(self.buffer)
            self.drop(blank.end() if blank else 0)
            if self.buffer:
                return True
            if not self.fill():
                return False

    def _unpack(self) -> bytes:
        """Return the next unpacked bytes, empty at the end."""
        while True:
            self._packed = self._packed or self._file.read(_PIECE)
            if self._stream is None and not self._begin_member():
                if not self._packed:
                    return b""
                self._at += len(self._packed)  # zero bytes fill up the last block of some files
                self._packed = b""
                continue
            piece = self._inflate()
            if piece:
                return piece

    def _begin_member(self) -> bool:
        if not self._packed.strip(b"\0"):
            return False
        self._starts.append((self._unpacked, self._at))
        self._stream = _inflating.decompressobj(31)
        return True

    def _inflate(self) -> bytes:
        """Unpack what was read of the member."""
        start = Place(self._starts[-1][1])
        if not self._packed or self._stream is None:
            raise Damaged(start, "the gzip member is cut off", cut=True, packed=True)
        try:
            piece: bytes = self._stream.decompress(self._packed)
        except _ERRORS as exc:
            raise Damaged(start, f"the gzip member is damaged ({exc})", packed=True) from exc
        rest = self._stream.unused_data
        self._at += len(self._packed) - len(rest)
        self._packed = rest
        if self._stream.eof:
            self._stream = None
        return piece

    def next_member(self, after: Place) -> bool:
        """Go on at the next gzip member that begins with a record; False when there is none."""
        found = self.member_at(after.offset + 1)
        if found is not None:
            self._restart(found)
        return found is not None

    def rewind(self, place: Place) -> None:
        """Go back to a place."""
        self._restart(place.offset)
        before = place.inside
        while before > len(self.buffer):
            before -= len(self.buffer)
            self.buffer.clear()
            if not self.fill():
                return
        self.drop(before)

    def next_line(self) -> bool:
        """Drop what is before the next line that can begin a record; False when there is none."""
        while (found := _RECORD_LINE.search(self.buffer)) is None:
            self.drop(max(0, len(self.buffer) - _LONGEST_RECORD_LINE))
            if not self.fill():
                return False
        self.drop(found.start() + 1)
        return True

    def member_at(self, start: int) -> int | None:
        """Return where the next gzip member that begins with a record begins, at this offset or after it."""
        self._file.seek(start)
        window = b""
        while piece := self._file.read(_PIECE):
            window += piece
            hit = window.find(MAGIC)
            while hit >= 0:
                if self._begins_record(start + hit):
                    return start + hit
                hit = window.find(MAGIC, hit + 1)
            keep = len(MAGIC) - 1
            start += len(window[:-keep])
            window = window[-keep:]
        return None

    def _begins_record(self, offset: int) -> bool:
        """Tell whether a member starts here whose first bytes are a record's; leaves the file where it was."""
        here = self._file.tell()
        self._file.seek(offset)
        packed = self._file.read(_SNIFF)
        self._file.seek(here)
        try:
            start: bytes = _inflating.decompressobj(31).decompress(packed, _SNIFF)
            return start.lstrip(b"\r\n").startswith(VERSION)
        except _ERRORS:
            return False
