"""The way out of the database: rows and heads to records, records to captures."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Integer, Row, Table, bindparam, select

from blocks.model import Capture
from blocks.site import spellings
from store.base import DamagedPage, Freshening, NoSuchCapture, Record, StoreUnavailable
from store.database import Database
from store.freshenings import freshenings
from store.models import IS_ALIAS, CaptureRow, Site
from store.names import number_of, site_id
from store.packing.packs import DamagedPack
from store.patterns import literal, matcher
from store.reading import Gone, Reader, damaged
from store.snapshots import Query, Snapshot, Source, ask

ATTEMPTS = 4
"""How often a look-up starts again when compaction moves what it looks at."""

URLS_AT_ONCE = 500
"""URLs that one query names."""

CAPTURE: Table = CaptureRow.metadata.tables["capture"]

_NEWEST = Query(
    select(CAPTURE)
    .where(CAPTURE.c.site == bindparam("site"), CAPTURE.c.url == bindparam("url"))
    .where(CAPTURE.c.time.between(bindparam("after"), bindparam("before")))
    .order_by(CAPTURE.c.time.desc(), CAPTURE.c.id.desc())
    .limit(bindparam("limit", type_=Integer))
)

_ROW = Query(
    select(CAPTURE)
    .where(CAPTURE.c.site == bindparam("site"), CAPTURE.c.url == bindparam("url"))
    .where(CAPTURE.c.time == bindparam("time"), CAPTURE.c.id == bindparam("id"))
)

EARLIEST = -(1 << 62)
"""Before every capture, in microseconds since the epoch: archives have dates before 1970."""

FEW = 8
"""Records in an answer that is remembered, at the most."""


class Located(NamedTuple):
    """A row of `capture`."""

    site: int
    url: int
    time: int
    id: int
    pack: int
    slot: int
    flags: int


CaptureRows = Sequence[Row[Any]] | Sequence[Located]


@dataclass(slots=True)
class Finder:
    """Looks captures up and reads them; safe for several threads."""

    database: Database
    reader: Reader
    sites_of: Callable[[str], Sequence[str]]
    """The names of the sites a URL's captures may be kept under."""

    def find(self, url: str, *, before: int | None, limit: int, after: int = EARLIEST) -> list[Record]:
        """Return the captures of a URL or key, newest first, received within microseconds `after` to `before`."""
        for _ in range(ATTEMPTS):
            try:
                with self.database.snapshot() as source:
                    return [*self._remembered(source, url, after, before, limit)]
            except Gone:
                continue
            except DamagedPack as error:
                raise DamagedPage(f"{url}: damaged: {error}") from error
        raise self._restless()

    def _remembered(self, source: Source, url: str, after: int, before: int | None, limit: int) -> Sequence[Record]:
        """Return what is to be found, newest first; where nothing was written since, what was found before."""
        if not isinstance(source, Snapshot):
            return self._find(source, url, after, before, limit)
        wanted = url, after, before, limit
        found: Sequence[Record] | None = source.remembered(wanted)
        if found is None:
            found = self._find(source, *wanted)
            if len(found) <= FEW:
                source.remember(wanted, found)
        return found

    def _find(self, source: Source, url: str, after: int, before: int | None, limit: int) -> list[Record]:
        last = (1 << 63) - 1 if before is None else before
        names = set(spellings(url))
        numbers = sorted(map(number_of, names))
        records: list[Record] = []
        for name in self.sites_of(url):
            site, _ = site_id(source, name)
            wanted = {"site": site, "after": after // 1000, "before": last // 1000, "limit": limit + 1}
            rows = [Located._make(row) for number in numbers for row in ask(source, _NEWEST, {**wanted, "url": number})]
            records += self._matching(source, rows, names, (after, last), limit)
        return sorted(records, key=_newest, reverse=True)[:limit]

    def _matching(
        self, source: Source, rows: list[Located], names: set[str], times: tuple[int, int], limit: int
    ) -> list[Record]:
        """Return the records of those rows that are of these URLs or keys and times, the newest `limit` among them.

        Each may cost a pack's head, so they are looked at one after the other. Rows have milliseconds only.
        """
        found: list[Record] = []
        rows = list({(row.site, row.id): row for row in sorted(rows, key=lambda row: row.time, reverse=True)}.values())
        for row in rows:
            if len(found) >= limit and row.time < found[-1].capture.time // 1000:
                break
            (record,) = self.records(source, [row])
            if names & {record.capture.url, record.capture.key} and times[0] <= record.capture.time <= times[1]:
                found.append(record)
        return found

    def moments(self, captures: Sequence[Capture]) -> set[tuple[int, int]]:
        """Return (the URL's number, milliseconds) of the kept captures that may be of these URLs and moments."""
        by_site: dict[str, set[int]] = defaultdict(set)
        for url in {capture.url for capture in captures}:
            for name in self.sites_of(url):
                by_site[name].add(number_of(url))
        times = [capture.time // 1000 for capture in captures]
        found: set[tuple[int, int]] = set()
        with self.database.snapshot() as source:
            sites = [(site_id(source, name), urls) for name, urls in by_site.items()]
        there = [(site, sorted(urls)) for (site, exists), urls in sites if exists]
        if not there:
            return found
        with self.database.read() as connection:
            for site, numbers in there:
                for start in range(0, len(numbers), URLS_AT_ONCE):
                    query = select(CAPTURE.c.url, CAPTURE.c.time).where(CAPTURE.c.site == site)
                    query = query.where(CAPTURE.c.url.in_(numbers[start : start + URLS_AT_ONCE]))
                    query = query.where(CAPTURE.c.time.between(min(times), max(times)))
                    found.update((row.url, row.time) for row in connection.execute(query))
        return found

    def records(self, source: Source, rows: CaptureRows) -> list[Record]:
        """Return the records of rows, in their order. Gone or DamagedPack when a head cannot be read."""
        fresh = freshenings(source, rows)
        return [self._record(source, row, fresh.get((row.site, row.id))) for row in rows]

    def _record(self, source: Source, row: Row[Any] | Located, fresh: Freshening | None) -> Record:
        head = self.reader.head(source, row.site, row.pack)
        if row.slot >= len(head.captures):
            raise DamagedPack(f"pack {row.pack} has no slot {row.slot}")
        size = head.recipes.size(row.slot)
        place = (row.site, row.pack, row.slot)
        return Record(row.id, head.captures[row.slot], head.digests[row.slot], size, fresh, place)

    def read(self, record: Record) -> Capture:
        """Return a record's capture with its body."""
        place = record.place
        try:
            if (found := self.reader.remembered(*place)) is not None and found.url == record.capture.url:
                return found
            for _ in range(ATTEMPTS):
                with self.database.snapshot() as source:
                    try:
                        if place[1]:
                            return self._capture(source, record, place)
                    except Gone:
                        pass
                    place = self._place(source, record)
        except DamagedPack as error:
            raise damaged(record, error) from error
        raise self._restless()

    def _capture(self, source: Source, record: Record, place: tuple[int, int, int]) -> Capture:
        capture = self.reader.capture(source, *place)
        if capture.url != record.capture.url:
            raise DamagedPack(f"pack {place[1]}, slot {place[2]} holds {capture.url}")
        return capture

    def _place(self, source: Source, record: Record) -> tuple[int, int, int]:
        for name in self.sites_of(record.capture.url):
            site, _ = site_id(source, name)
            key = {"site": site, "url": number_of(record.capture.url), "time": record.capture.time // 1000}
            for row in map(Located._make, ask(source, _ROW, {**key, "id": record.id})):
                return row.site, row.pack, row.slot
        raise NoSuchCapture(f"{record.capture.url}: capture {record.id} is not in the store any more")

    def captures(self, pattern: str) -> Iterator[Record]:
        """Yield what matches, by site, URL and time; a site at a time is in memory.

        DamagedPage at the end, after all that can be read, when heads of packs could not be.
        """
        url = literal(pattern)
        if url is not None:
            yield from reversed([r for r in self.find(url, before=None, limit=1 << 30) if r.capture.url == url])
            return
        matches = matcher(pattern)
        with self.database.read() as connection:
            sites = connection.execute(select(Site.id, Site.name).order_by(Site.name)).all()
        unread: list[str] = []
        for number, name in sites:
            yield from self._site(number, name, matches, unread)
        if unread:
            raise DamagedPage("; ".join(unread))

    def of_site(self, name: str) -> list[Record]:
        """Return the captures of a site, by URL and time. DamagedPage when a pack's head cannot be read."""
        with self.database.read() as connection:
            number, _ = site_id(connection, name)
        unread: list[str] = []
        found = self._site(number, name, lambda url: True, unread)
        if unread and not found:
            raise DamagedPage("; ".join(unread))
        return found

    def _site(self, site: int, name: str, matches: Callable[[str], bool], unread: list[str]) -> list[Record]:
        for _ in range(ATTEMPTS):
            found: list[Record] = []
            lost: list[str] = []
            try:
                with self.database.read() as connection:
                    for pack, rows in live_rows(connection, site).items():
                        try:
                            found += self.records(connection, rows)
                        except DamagedPack as error:
                            lost.append(f"{name}: pack {pack}, {len(rows)} captures: {error}")
            except Gone:
                continue
            unread += lost
            found = [record for record in found if matches(record.capture.url)]
            return sorted(found, key=lambda r: (r.capture.url, r.capture.time, r.id))
        raise self._restless()

    def _restless(self) -> StoreUnavailable:
        return StoreUnavailable(f"{self.database.name}: its packs kept changing; try again")


def _newest(record: Record) -> tuple[int, int]:
    return record.capture.time, record.id


def live_rows(connection: Connection, site: int, *, aliases: bool = False) -> dict[int, list[Row[Any]]]:
    """Return a site's rows of captures by pack; with `aliases` those under a cache key as well."""
    query = select(CAPTURE).where(CAPTURE.c.site == site)
    if not aliases:
        query = query.where(CAPTURE.c.flags.op("&")(IS_ALIAS) == 0)
    by_pack: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in connection.execute(query):
        by_pack[row.pack].append(row)
    return by_pack
