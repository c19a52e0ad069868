"""Compaction: a site's live captures are written anew, in large strongly compressed packs; then the old packs go.

Each new pack is one transaction that also moves its captures' rows to it, so a crash at any instant leaves every
capture in exactly one place. Old packs go last, and only those that nothing needs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from blocks.model import Capture
from blocks.site import sort_key
from store import alike, totals
from store.base import Plan
from store.finding import CAPTURE, live_rows
from store.models import ARRIVAL, COMPACTED, PRIVATE, FingerprintRow, Need, Pack
from store.packing.building import Builder, NewPack
from store.packing.known import Known
from store.packing.layout import survey
from store.packing.neighbours import arranged
from store.packing.packs import DamagedPack
from store.packing.shapes import choose_shape, fill, shaped, share_of
from store.parts import Parts
from store.reading import Gone
from store.rows import insert_packs, take_ids
from store.upkeep import vacuuming
from store.upkeep.regions import REGION_BYTES, Placed, regions

ATTEMPTS = 4

TIDY_ROWS = 50_000
"""Rows of one site that are written anew at the most: the transaction takes a second for so many."""


Places = dict[int, tuple[int, int]]
"""Pack and slot by the `id` of a capture that was read from there, as long as that object lives."""


class Changed(Exception):
    """Rows were deleted while their captures were being rewritten."""


class Rewriter:
    """Rewrites one site, or what is in some of its packs; no pack but these may need them."""

    def __init__(self, store: Parts, site: int, only: Collection[int] | None = None) -> None:
        self._store, self._site, self._only = store, site, only
        self._rows: dict[tuple[int, int], list[Row[Any]]] = defaultdict(list)
        self._places: list[Placed] = []
        self._base_share = 0.0
        """That of the base there is, for what is written anew because something was deleted; 0.0 to try several."""

    def run(self) -> None:
        """Rewrite the public captures of all regions with new ones; those that cannot be read stay where they are."""
        old = self._survey()
        base_of, new = self._packs(old)
        changed: set[int | None] = set()
        for region in regions(self._places, base_of, new, most=REGION_BYTES):
            self._region(region)
            changed.update(base_of.get(each.pack) for each in region)
        # what is gone from the other regions has to be told from their packs, until collection sees to it
        self._drop([pack for pack in old if pack not in base_of or base_of[pack] in changed])

    def _packs(self, packs: Collection[int]) -> tuple[dict[int, int], set[int]]:
        """Return the bases of compacted packs, but for those of one large body, and the packs to write anew anyway."""
        if self._only is not None:
            return {}, set(packs)
        query = select(Pack.id, Pack.kind, Pack.base).where(Pack.site == self._site, Pack.kind != PRIVATE)
        with self._store.database.read() as connection:
            rows = connection.execute(query).all()
        n_captures = Counter(place.pack for place in self._places)
        base_of = {row.id: row.base or row.id for row in rows if row.kind == COMPACTED}
        alone = {pack for pack, base in base_of.items() if pack == base and n_captures[pack] == 1}
        for pack in alone - {base for pack, base in base_of.items() if pack != base}:
            del base_of[pack]
        return base_of, {row.id for row in rows if row.kind == ARRIVAL}

    def _survey(self) -> list[int]:
        """Read which captures there are; return the packs they are in, and all others that are not private."""
        store, site = self._store, self._site
        with store.database.read() as connection:
            query = select(Pack.id).where(Pack.site == site, Pack.kind != PRIVATE)
            old = [pack for pack in connection.execute(query).scalars() if self._only is None or pack in self._only]
            if self._only is not None:
                bases = select(Pack.base).where(Pack.site == site, Pack.kind == COMPACTED)
                raw = select(func.max(Pack.raw)).where(Pack.site == site, Pack.id.in_(bases))
                self._base_share = share_of(connection.execute(raw).scalar() or 0)
            chosen = set(old)
            for pack, rows in live_rows(connection, site, aliases=True).items():
                if pack not in chosen:
                    continue
                for row in rows:
                    self._rows[pack, row.slot].append(row)
                try:
                    head = store.reader.head(connection, site, pack)
                except DamagedPack:
                    continue
                for slot in {row.slot for row in rows}:
                    capture, size = head.captures[slot], head.recipes.size(slot)
                    self._places.append(Placed(sort_key(capture.url), capture.time, pack, slot, size))
        self._places.sort()
        return old

    def _captures(self, region: list[Placed], places: Places) -> Iterator[Capture]:
        """Yield the captures of a region that are undamaged, and note their places."""
        for place in ((each.pack, each.slot) for each in region):
            with self._store.database.read() as connection:
                try:
                    capture = self._store.reader.capture(connection, self._site, *place)
                except DamagedPack:
                    continue
            places[id(capture)] = place
            yield capture

    def _region(self, region: list[Placed]) -> None:
        places: Places = {}

        def captures() -> Iterator[Capture]:
            return self._captures(region, places)

        n = len(region)
        site = survey(captures())
        numbers = arranged(site)
        if len(numbers) == n and numbers != sorted(numbers):  # fewer: some cannot be read
            region = [region[number] for number in numbers]
            site = survey(captures())
        share = self._base_share
        shape = shaped(captures, site, share) if share else choose_shape(captures, site)
        builder = Builder(Known(self._site, "", self._load), self._numbers(), shape.make, cut=shape.cut)
        for pack in fill(builder, shape.layout, captures, n):
            self._write(pack, places)
        self._store.writer.forget()

    def _write(self, pack: NewPack, places: Places) -> None:
        """Write a pack with the rows of its captures."""
        prose = alike.row_of(pack)
        with self._store.database.write() as connection:
            totals.lock(connection, self._site)
            insert_packs(connection, [(self._site, [pack])])
            alike.put(connection, self._site, pack.id, prose)
            self._move(connection, pack, [places.pop(id(capture)) for capture in pack.captures])
            totals.put_packs(connection, self._site)

    def _move(self, connection: Connection, pack: NewPack, places: list[tuple[int, int]]) -> None:
        for slot, place in enumerate(places):
            for row in self._rows[place]:
                key = (CAPTURE.c.site == row.site, CAPTURE.c.url == row.url, CAPTURE.c.time == row.time)
                query = update(CAPTURE).where(*key, CAPTURE.c.id == row.id, CAPTURE.c.pack == row.pack)
                if connection.execute(query.values(pack=pack.id, slot=slot)).rowcount != 1:
                    raise Changed

    def _drop(self, old: list[int]) -> None:
        with self._store.database.write() as connection:
            drop_packs(connection, self._site, old)
            if self._store.database.is_sqlite:
                _tidy(connection, self._site)

    def _load(self, pack: int) -> bytes:
        with self._store.database.read() as connection:
            return self._store.reader.raw(connection, self._site, pack)

    def _numbers(self) -> Iterator[int]:
        while True:
            with self._store.database.write() as connection:
                last = take_ids(connection, 16)
            yield from range(last - 16, last)


def _tidy(connection: Connection, site: int) -> None:
    """Write a site's rows anew in the order of their key: rows that came at random fill their pages to two thirds."""
    query = select(CAPTURE).where(CAPTURE.c.site == site)
    rows = [row._asdict() for row in connection.execute(query.limit(TIDY_ROWS + 1))]
    if 0 < len(rows) <= TIDY_ROWS:
        connection.execute(delete(CAPTURE).where(CAPTURE.c.site == site))
        connection.execute(insert(CAPTURE), rows)


def drop_packs(connection: Connection, site: int, candidates: list[int]) -> int:
    """Delete those packs that hold no row and that no other pack needs; return how many."""
    totals.lock(connection, site)
    gone = set(candidates) - live_rows(connection, site, aliases=True).keys()
    needs = connection.execute(select(Need.needs, Need.pack).where(Need.site == site)).all()
    while True:
        kept = {need.needs for need in needs if need.pack not in gone} & gone
        if not kept:
            break
        gone -= kept
    for table, column in ((FingerprintRow, FingerprintRow.pack), (Need, Need.pack), (Pack, Pack.id)):
        numbers = sorted(gone)
        for start in range(0, len(numbers), 500):
            part = numbers[start : start + 500]
            connection.execute(delete(table).where(table.site == site, column.in_(part)))
    totals.put_packs(connection, site)
    return len(gone)


def rewrite(store: Parts, site: int) -> None:
    """Write a site's captures anew and drop what is left over; then count it."""
    for _ in range(ATTEMPTS):
        try:
            Rewriter(store, site).run()
            break
        except (Changed, Gone, IntegrityError):  # someone else deletes or compacts here: look again
            store.writer.forget()
    recount(store, site)


def recount(store: Parts, site: int) -> None:
    """Put a site's totals right, unless it is being written to all the time."""
    for _ in range(ATTEMPTS):
        try:
            with store.database.read() as connection:
                counted = totals.count(connection, store.reader, site)
            with store.database.write() as connection:
                if totals.put(connection, site, counted):
                    return
        except (DamagedPack, Gone):
            return


def finish(store: Parts, plan: Plan) -> Plan:
    """Give room back to the disk, and say what was won."""
    vacuuming.vacuum(store.database)
    store.database.shrink()
    with store.database.read() as connection:
        after = store.database.size(connection)
    return Plan(plan.rewrite, plan.drop, plan.bytes_before, after, plan.notes)
