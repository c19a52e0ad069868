"""WARC files (ISO 28500:2017, WARC/1.1) as records, and what in them is damaged, by offset."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from apps.warc.unpacking import VERSION, Damaged, Place, Unpacker

MAX_HEADER_BYTES = 1 << 20
MAX_REWINDS = 64

_HEAD_END = re.compile(rb"\r?\n\r?\n|\n(WARC/)\d+\.\d+[ \t]*\r?\n")
_VERSION_LINE = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n")
_LENGTH = re.compile(rb"[ \t]*(\d{1,18})[ \t]*")

Fields = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """One record: where it begins in the file, its named fields as written, its block."""

    place: Place
    fields: Fields
    block: bytes

    def field(self, name: str) -> bytes:
        """Return the first value of a named field, empty when there is none; names in any case."""
        return field_of(self.fields, name)

    @property
    def kind(self) -> str:
        """The record's WARC-Type, in lower case."""
        return self.field("WARC-Type").decode("latin-1").lower()


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes of a file that are no whole record: from where, and what is wrong; `cut` when they just end too early."""

    place: Place
    what: str
    cut: bool = field(default=False, compare=False)


def field_of(fields: Fields, name: str) -> bytes:
    """Return the first value of a field, empty when there is none; names in any case."""
    wanted = name.lower().encode()
    for written, value in fields:
        if len(written) == len(wanted) and written.lower() == wanted:
            return value
    return b""


def parse_fields(head: bytes) -> Fields:
    """Return the `name: value` lines of a head, in order, repeated ones repeated.

    A line that begins with white space continues the one before (RFC 9112, section 5.2); a line without a colon is
    kept as a name without a value, so that nothing of the head is lost.
    """
    fields: list[tuple[bytes, bytes]] = []
    for line in head.split(b"\n"):
        line = line.removesuffix(b"\r")
        if line[:1] in (b" ", b"\t") and fields:
            name, value = fields[-1]
            fields[-1] = (name, value + b" " + line.strip(b" \t"))
        elif line:
            name, _, value = line.partition(b":")
            fields.append((name, value.strip(b" \t")))
    return tuple(fields)


def records(file: BinaryIO, max_bytes: int) -> Iterator[WarcRecord | Damage]:
    """Yield the whole records of a seekable file in order, and the damages between them.

    Blocks larger than `max_bytes` are passed over without being held, and reported as a damage. Memory is bounded
    by that and MAX_HEADER_BYTES, whatever the file holds.
    """
    unpacker = Unpacker(file)
    rewinds = MAX_REWINDS
    while True:
        start = unpacker.place
        try:
            if not unpacker.skip_blank():
                return
            start = unpacker.place
            found = _record(unpacker, start, max_bytes)
        except Damaged as damaged:
            yield Damage(damaged.place, damaged.what, damaged.cut)
            if not _resume(unpacker, start, damaged, rewinds > 0):
                return
            rewinds -= 1
        else:
            yield found


def _resume(unpacker: Unpacker, start: Place, damaged: Damaged, rewind: bool) -> bool:
    """Go on behind a damage; False when nothing can be read any more.

    A record with a wrong length may have swallowed its successors, so reading goes back to its start, but not
    endlessly: that would take quadratic time.
    """
    if damaged.packed:
        return unpacker.next_member(max(start, damaged.place))
    try:
        if rewind:
            unpacker.rewind(start)
            unpacker.drop(1)
        return unpacker.next_line()
    except Damaged as later:
        return unpacker.next_member(max(start, later.place))


def _record(unpacker: Unpacker, start: Place, max_bytes: int) -> WarcRecord | Damage:
    fields = _head(unpacker, start)
    length = _LENGTH.fullmatch(field_of(fields, "Content-Length"))
    if length is None:
        raise Damaged(start, "the record has no Content-Length that is a number")
    n_bytes = int(length[1])
    if n_bytes > max_bytes:
        _pass_over(unpacker, start, n_bytes)
        return Damage(start, f"the record has {n_bytes} bytes, more than {max_bytes}")
    while len(unpacker.buffer) < n_bytes:
        if not unpacker.fill():
            raise Damaged(
                start, f"the record is cut off: {len(unpacker.buffer)} of {n_bytes} bytes are there", cut=True
            )
    with memoryview(unpacker.buffer) as view:
        block = bytes(view[:n_bytes])
    unpacker.drop(n_bytes)
    _expect_end(unpacker, start)
    return WarcRecord(start, fields, block)


def _head(unpacker: Unpacker, start: Place) -> Fields:
    """Take the version line and the named fields off the buffer."""
    buffer = unpacker.buffer
    seen = 0
    while (end := _HEAD_END.search(buffer, max(0, seen - 32))) is None:
        seen = len(buffer)
        if not buffer.startswith(VERSION[:seen]):
            raise Damaged(start, "no record begins here")
        if seen > MAX_HEADER_BYTES:
            raise Damaged(start, f"the record's header is longer than {MAX_HEADER_BYTES} bytes")
        if not unpacker.fill():
            raise Damaged(start, "the record is cut off in its header", cut=True)
    version = _VERSION_LINE.match(buffer)
    if version is None or end[1]:
        raise Damaged(start, "no record begins here")
    fields = parse_fields(bytes(buffer[version.end() : end.start()]))
    unpacker.drop(end.end())
    return fields


def _pass_over(unpacker: Unpacker, start: Place, n_bytes: int) -> None:
    while n_bytes > len(unpacker.buffer):
        n_bytes -= len(unpacker.buffer)
        unpacker.drop(len(unpacker.buffer))
        if not unpacker.fill():
            raise Damaged(start, "the record is cut off", cut=True)
    unpacker.drop(n_bytes)


def _expect_end(unpacker: Unpacker, start: Place) -> None:
    """Check that a record ends where its length says: line ends, then another record, or nothing.

    A gzip member is whole only when its checksum was seen to be right, so the end of the buffer is not enough.
    """
    try:
        more = unpacker.skip_blank()
    except Damaged as damaged:
        if damaged.place.offset == start.offset and not damaged.cut:
            raise
        return  # the damage is met again, and reported, where the next record should begin
    while more and len(unpacker.buffer) < len(VERSION) and unpacker.fill():
        pass
    if more and not unpacker.buffer.startswith(VERSION):
        raise Damaged(start, "the record does not end where its Content-Length says")
