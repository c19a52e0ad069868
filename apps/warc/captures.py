"""A WARC file as captures: what its response, resource and revisit records say (ISO 28500:2017, section 6)."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from apps.warc.dates import format_date, parse_date
from apps.warc.entries import Entry, Kind, Names, Note, Revisit
from apps.warc.messages import Limits, Message, decoded_body, parse_message
from apps.warc.reading import Damage, WarcRecord, records
from apps.warc.unpacking import Place
from blocks.model import Capture

MADE_DATE = "Pagemason-Date"
"""A field of our own: the time of a record whose WARC-Date is no date."""

_PAGES = ("response", "revisit", "resource")


def text_of(value: bytes) -> str:
    """Return a field's value as text; bytes that are not UTF-8, and NUL, are percent-encoded as in a URL.

    >>> text_of(b"http://a.test/caf\\xe9")
    'http://a.test/caf%E9'
    """
    text = value.decode("utf-8", "surrogateescape").replace("\0", "%00")
    if text.isascii():
        return text
    return "".join(f"%{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else c for c in text)


def uri_of(value: bytes) -> str:
    """Return a URI field without the angle brackets that some writers of WARC/1.0 put around it."""
    return text_of(value[1:-1] if value.startswith(b"<") and value.endswith(b">") else value)


def warc_entries(path: Path, limits: Limits, reached: Callable[[int], None]) -> Iterator[Entry]:
    """Yield what a WARC file holds, in order; `reached` is told the offset of each entry in the file. OSError when
    it cannot be read."""
    for place, entry in placed_entries(lambda: _records(path, limits), str(path), _changed(path), limits):
        reached(place.offset)
        yield entry


def placed_entries(
    read: Callable[[], Iterator[WarcRecord | Damage]], name: str, otherwise: Callable[[], int], limits: Limits
) -> Iterator[tuple[Place, Entry]]:
    """Yield what records hold, in order, and where each is.

    `read` gives the records, again when a page has no date; `otherwise` the time of pages among which none has one;
    `name` is what notes call the source.
    """
    dates = _Dates(read, otherwise)
    names = Names()
    ordinal = 0
    for found in read():
        where = f"{name}: {found.place}"
        if isinstance(found, Damage):
            yield found.place, Note(Kind.DAMAGED, where, found.what)
        elif found.kind in _PAGES:
            written = text_of(found.field("WARC-Date"))
            time = _time(found)
            entry = _entry(found, where, dates.nearest(ordinal) if time is None else time, written, limits)
            ordinal += 1
            if entry is None:
                continue
            yield found.place, _named(entry, names)
            if time is None and not isinstance(entry, Note):
                what = f"WARC-Date {written!r} is no date: {dates.why(ordinal - 1)}"
                yield found.place, Note(Kind.DATED, where, what)


def _records(path: Path, limits: Limits) -> Iterator[WarcRecord | Damage]:
    with path.open("rb") as file:
        yield from records(file, limits.max_bytes)


def _changed(path: Path) -> Callable[[], int]:
    return lambda: int(path.stat().st_mtime) * 1_000_000


def _time(record: WarcRecord) -> int | None:
    """Return a record's time, None when its WARC-Date is no date; then our own exports say what was made of it."""
    time = parse_date(text_of(record.field("WARC-Date")))
    return parse_date(text_of(record.field(MADE_DATE))) if time is None else time


def _named(entry: Entry, names: Names) -> Entry:
    """Return a capture or revisit with a record id."""
    if isinstance(entry, Revisit):
        return replace(entry, capture=names.named(entry.capture))
    return names.named(entry) if isinstance(entry, Capture) else entry


@dataclass
class _Dates:
    """The times of a file's pages, read in a pass of their own when one page has none: the nearest may come later."""

    read: Callable[[], Iterator[WarcRecord | Damage]]
    otherwise: Callable[[], int]
    times: list[int] | None = None
    ordinals: list[int] | None = None

    def nearest(self, ordinal: int) -> int:
        """Return the time of the nearest page that has one (the one before, of two), else when the file was changed."""
        at = self._at(ordinal)
        return self.otherwise() if at is None else (self.times or [])[at]

    def why(self, ordinal: int) -> str:
        """Return in words where `nearest` has its answer from."""
        source = "when the file was changed" if self._at(ordinal) is None else "the nearest record's date"
        return f"dated {format_date(self.nearest(ordinal))}, {source}"

    def _at(self, ordinal: int) -> int | None:
        if self.ordinals is None:
            self._read()
        ordinals = self.ordinals or []
        after = bisect_left(ordinals, ordinal)
        around = [at for at in (after - 1, after) if 0 <= at < len(ordinals)]
        return min(around, key=lambda at: abs(ordinals[at] - ordinal), default=None)

    def _read(self) -> None:
        self.times, self.ordinals = [], []
        pages = (r for r in self.read() if isinstance(r, WarcRecord) and r.kind in _PAGES)
        for ordinal, record in enumerate(pages):
            time = _time(record)
            if time is not None:
                self.times.append(time)
                self.ordinals.append(ordinal)


def _entry(record: WarcRecord, where: str, time: int, written: str, limits: Limits) -> Entry | None:
    """Return what one record says; None when it is not about a page."""
    url = uri_of(record.field("WARC-Target-URI"))
    bare = Capture(
        url=url,
        time=time,
        status=200,
        headers=(),
        body=b"",
        record_id=text_of(record.field("WARC-Record-ID")),
        date="" if written == format_date(time) else written,
    )
    if record.kind == "resource":
        return _resource(record, bare)
    if not url:
        return Note(Kind.SKIPPED, where, f"a {record.kind} record without WARC-Target-URI")
    message = parse_message(record.block)
    if record.kind == "revisit":
        return _revisit(record, bare, message, where)
    if message is None:
        return Note(Kind.SKIPPED, where, f"the response for {url} is not HTTP")
    body, coding = decoded_body(message.headers, message.body, limits)
    return replace(_with_head(bare, message), body=body, coding=coding)


def _with_head(capture: Capture, message: Message) -> Capture:
    return replace(
        capture,
        status=message.status,
        headers=message.headers,
        reason=message.reason,
        http_version=message.version,
    )


def _resource(record: WarcRecord, bare: Capture) -> Capture | None:
    """A resource record is the body alone. Crawlers keep their logs in such records, under URIs of their own."""
    if not bare.url.lower().startswith(("http://", "https://", "ftp://")):
        return None
    return replace(bare, headers=((b"Content-Type", record.field("Content-Type")),), reason=b"OK", body=record.block)


def _revisit(record: WarcRecord, bare: Capture, message: Message | None, where: str) -> Revisit:
    return Revisit(
        capture=_with_head(bare, message) if message else bare,
        where=where,
        refers_id=text_of(record.field("WARC-Refers-To")),
        refers_url=uri_of(record.field("WARC-Refers-To-Target-URI")),
        refers_time=parse_date(text_of(record.field("WARC-Refers-To-Date"))),
        payload_digest=text_of(record.field("WARC-Payload-Digest")),
    )
