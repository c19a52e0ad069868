"""The records of a piece: FastWARC reads what is sound, our own reader goes on where something is not.

FastWARC is the faster by far, but it raises at the first damaged member, gives a record that is cut off as if it were
whole, and looks at no checksum of the last one. So a record counts as read when the next one has begun or, for the
last, when its member is seen to be whole; from a record that is in doubt `apps.warc.reading` takes over, which names
damage by its offset and goes on behind it.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

from apps.batch.pieces import Stretch
from apps.warc.reading import Damage, WarcRecord, records
from apps.warc.unpacking import MAGIC, VERSION, Place

_PART = 1 << 20


@dataclass(slots=True)
class Stretched:
    """The records of a stretch of a file. `fits` tells, at the end, whether its members end within it; `by_other` from
    which offset on FastWARC was of no use, -1 when it read all."""

    file: BinaryIO
    start: int
    stop: int
    max_bytes: int
    fits: bool = True
    by_other: int = -1

    def __iter__(self) -> Iterator[WarcRecord | Damage]:
        """Yield the records in order, and the damages between them; places are offsets in the whole file."""
        self.fits, self.by_other = True, -1
        if self.stop <= self.start:
            return
        last = self.start
        for found, sure in self._by_fastwarc():
            if not sure:
                last = self.by_other = found.place.offset
                break
            yield found
        else:
            return
        for later in records(cast(BinaryIO, Stretch(self.file, last, self.stop)), self.max_bytes):
            if isinstance(later, Damage) and later.cut:
                self.fits = False
            yield replace(later, place=Place(last + later.place.offset, later.place.inside))

    def _by_fastwarc(self) -> Iterator[tuple[WarcRecord | Damage, bool]]:
        """Yield what FastWARC reads, and whether it is sure; with the first that is not it ends."""
        from fastwarc.warc import ArchiveIterator

        begin = Place(self.start)
        waiting: WarcRecord | Damage = Damage(begin, "no record begins here")
        doubt, n = (waiting, False), 0
        if not self._begins_well():
            yield doubt
            return
        try:
            for record in ArchiveIterator(Stretch(self.file, self.start, self.stop), parse_http=False):
                place = Place(self.start + record.stream_pos)
                if n and not waiting.place < place < Place(self.stop):
                    yield waiting, False  # several records in one member: their places are not told
                    return
                if n:
                    yield waiting, True
                found = self._read(record, place)
                n += 1
                if found is None:
                    yield Damage(place, "the record is cut off"), False
                    return
                waiting = found
        except OSError:
            yield waiting, False
            return
        yield waiting, n > 0 and self._is_whole(waiting.place.offset)

    def _begins_well(self) -> bool:
        self.file.seek(self.start)
        return self.file.read(len(VERSION)).startswith((MAGIC, VERSION))

    def _read(self, record: Any, place: Place) -> WarcRecord | Damage | None:
        """Return a record, None when it is cut off; one that is too large is not read."""
        n_bytes = record.content_length
        if n_bytes > self.max_bytes:
            return Damage(place, f"the record has {n_bytes} bytes, more than {self.max_bytes}")
        block = record.reader.read()
        if len(block) != n_bytes:
            return None
        return WarcRecord(place, tuple(record.headers.items_bytes()), block)

    def _is_whole(self, offset: int) -> bool:
        """Tell whether what begins here, to the end of the stretch, is one gzip member or is not gzipped."""
        source = Stretch(self.file, offset, self.stop)
        part = source.read(_PART)
        if not part.startswith(MAGIC):
            return True
        stream = zlib.decompressobj(31)
        try:
            while part and not stream.eof:
                stream.decompress(part, _PART)
                while stream.unconsumed_tail and not stream.eof:
                    stream.decompress(stream.unconsumed_tail, _PART)
                if not stream.eof:
                    part = source.read(_PART)
        except zlib.error:
            return False
        return stream.eof and not (stream.unused_data + source.read(_PART)).strip(b"\0\r\n")
