"""The store on SQLite and Postgres: each method hands its work to the module that does it.

Modules for what few commands do are imported by the methods that do it: the others start faster.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy.exc import IntegrityError

from blocks.model import Capture
from store import freshenings, totals, uses
from store.base import Alike, Budget, Compaction, Finding, Freshening, Plan, Record, Stats
from store.database import meta
from store.names import number_of, site_id
from store.packing.kinds import is_known
from store.parts import Parts
from store.upkeep import compactions

if TYPE_CHECKING:
    from blocks.fingerprints import Fingerprints


class SqlStore(Parts):
    """A store in a database. Several processes may have it open at once; see `Store` for what methods promise."""

    def __repr__(self) -> str:
        return f"<SqlStore: {self.database.name}>"

    def keep(self, captures: Sequence[Capture]) -> list[int]:
        return self.writer.keep(captures) if captures else []

    def known(self, captures: Sequence[Capture]) -> list[bool]:
        moments = self.finder.moments(captures)
        return [(number_of(c.url), c.time // 1000) in moments and self._is_known(c) for c in captures]

    def _is_known(self, capture: Capture) -> bool:
        # rows have milliseconds: all captures of this one are looked at
        records = self.finder.find(capture.url, before=capture.time, limit=1 << 16, after=capture.time)
        return is_known(capture, records)

    def find(self, url: str, *, before: int | None = None, limit: int = 64) -> list[Record]:
        return self.finder.find(url, before=before, limit=limit)

    def read(self, record: Record) -> Capture:
        return self.finder.read(record)

    def captures(self, pattern: str = "*") -> Iterator[Record]:
        return self.finder.captures(pattern)

    def of_site(self, site: str) -> list[Record]:
        return self.finder.of_site(site)

    def alike(self, fingerprints: Fingerprints) -> Alike:
        from store import alike

        return alike.find(self, fingerprints)

    def freshen(self, url: str, time: int, digest: bytes, freshening: Freshening) -> int:
        records = self.finder.find(url, before=time, limit=1 << 16, after=time)
        records = [r for r in records if r.capture.time == time and r.digest == digest]
        self._put(dict.fromkeys(records, freshening))
        return len(records)

    def invalidate(self, url: str, before: int) -> int:
        marks = {}
        for record in self.finder.find(url, before=before, limit=1 << 30):
            c = record.capture
            fresh = record.freshening or Freshening(c.headers, c.request_time, c.time)
            marks[record] = replace(fresh, invalid=True)
        self._put(marks)
        return len(marks)

    def _put(self, marks: Mapping[Record, Freshening]) -> None:
        if marks:
            with self.database.write() as connection:
                for record, freshening in sorted(marks.items(), key=lambda mark: (mark[0].place[0], mark[0].id)):
                    freshenings.put(connection, record, freshening)

    def purge(self, pattern: str, *, dry_run: bool = False, later: bool = False) -> int:
        from store.upkeep import removing

        return removing.purge(self, pattern, dry_run=dry_run, later=later)

    def compact(self, *, dry_run: bool = False, gently: bool = False, jobs: int = 1) -> Plan:
        from store.upkeep import compacting

        return compacting.compact(self, dry_run=dry_run, gently=gently, jobs=jobs)

    def collect(self, *, dry_run: bool = False, purged: bool = False) -> Plan:
        from store.upkeep import removing

        return removing.collect(self, dry_run=dry_run, purged=purged)

    def evict(self, budget: Budget, now: int, *, dry_run: bool = False) -> Plan:
        from store.upkeep import eviction

        return eviction.evict(self, budget, now, dry_run=dry_run)

    def note_uses(self, urls: Sequence[str], now: int) -> None:
        by_site: dict[str, set[int]] = defaultdict(set)
        for url in urls:
            by_site[self.site_of(url)].add(number_of(url))
        if not by_site:
            return
        # IntegrityError: another process notes uses of the site in this moment
        with contextlib.suppress(IntegrityError), self.database.write() as connection:
            for name, numbers in sorted(by_site.items()):
                uses.note(connection, site_id(connection, name)[0], numbers, now // 60)

    def size(self) -> int:
        with self.database.read() as connection:
            return self.database.size(connection)

    def check(self, *, repair: bool = False) -> tuple[int, list[Finding]]:
        from store.upkeep import checking

        return checking.check(self, repair=repair)

    def stats(self) -> Stats:
        with self.database.read() as connection:
            return totals.stats(connection, self.database.size(connection))

    def last_compaction(self) -> Compaction | None:
        with self.database.read() as connection:
            return compactions.load(connection)

    def purges(self) -> int:
        with self.database.read() as connection:
            return int(meta(connection, "purges") or 0)

    def unerased(self) -> bool:
        from store.upkeep import vacuuming

        with self.database.read() as connection:
            purges, erased = vacuuming.purged(connection)
        return not self.database.is_sqlite and erased < purges

    def erase(self) -> None:
        from store.upkeep import removing

        removing.erase(self)

    def forget(self) -> None:
        """Drop all that was read and is kept in memory."""
        self.reader.forget()
        self.database.forget()

    def close(self) -> None:
        self.database.close()
