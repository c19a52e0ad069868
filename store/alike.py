"""Prose that stands on several sites: one row of fingerprints for a compacted pack (docs/format.md, "Fingerprints").

A row is written with its pack and deleted with it. Packs without one, which are those as they arrived, are read when
somebody asks: keeping a capture costs nothing for this.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, delete, insert, select

from blocks.fingerprints import FINGERPRINT_BYTES, Fingerprints, meeting
from store.base import Alike, Record, StoreUnavailable
from store.finding import ATTEMPTS, CAPTURE
from store.models import IS_ALIAS, PRIVATE, FingerprintRow, Pack
from store.packing.building import NewPack
from store.packing.packs import DamagedPack
from store.packing.prose import decode_prose, encode_prose, in_turn, prose_of
from store.parts import Parts
from store.reading import Gone, Reader

AT_ONCE = 1 << 18
"""Fingerprints that are compared together: some 4 MB."""

ARRIVED_BYTES = 32 << 20
"""Bodies in packs without fingerprints that are read to answer one question, the newest."""

SITE_CAPTURES = 200
"""Captures of one site that are returned at the most: those with most fingerprints in common, the newest."""

Place = tuple[int, int, int]
"""Site, pack and slot."""


def row_of(pack: NewPack) -> bytes:
    """Return the row of a new pack."""
    return encode_prose(pack.id, [prose_of(capture) for capture in pack.captures])


def put(connection: Connection, site: int, pack: int, data: bytes) -> None:
    """Write the row of a pack, in the transaction that writes the pack."""
    connection.execute(insert(FingerprintRow), [{"site": site, "pack": pack, "data": data}])


def find(store: Parts, wanted: Fingerprints) -> Alike:
    """Return the public captures with a block whose fingerprint meets one of those wanted, one of each site in turn."""
    for _ in range(ATTEMPTS):
        try:
            with store.database.read() as connection:
                hits = _in_rows(connection, wanted)
                arrived, n_unread = _as_they_arrived(connection, store, wanted)
                records, n_more = _records(connection, store, hits + arrived)
        except Gone:  # compaction has moved what was found
            continue
        return Alike(records, n_unread + n_more)
    raise StoreUnavailable(f"{store.database.name}: its packs kept changing; try again")


def _in_rows(connection: Connection, wanted: Fingerprints) -> Counter[Place]:
    """Return how many fingerprints of each capture meet one of those wanted, for packs that have a row."""
    hits: Counter[Place] = Counter()
    places: list[tuple[int, int, list[int]]] = []
    waiting: list[Fingerprints] = []
    n_waiting = 0
    query = select(FingerprintRow.site, FingerprintRow.pack, FingerprintRow.data)
    for site, pack, data in connection.execute(query.execution_options(yield_per=100)):
        try:
            counts, found = decode_prose(pack, data)
        except DamagedPack:  # check names it
            continue
        places.append((site, pack, counts))
        waiting.append(found)
        n_waiting += len(found)
        if n_waiting >= AT_ONCE:
            hits.update(_met(places, waiting, wanted))
            places, waiting, n_waiting = [], [], 0
    hits.update(_met(places, waiting, wanted))
    return hits


def _met(places: list[tuple[int, int, list[int]]], found: list[Fingerprints], wanted: Fingerprints) -> Iterator[Place]:
    """Yield the place of each fingerprint that meets one of those wanted."""
    every = np.concatenate(found) if found else np.empty((0, FINGERPRINT_BYTES), np.uint8)
    hits = np.flatnonzero(meeting(every, wanted))
    ends = np.cumsum([len(one) for one in found])
    for hit, row in zip(hits.tolist(), np.searchsorted(ends, hits, side="right").tolist(), strict=True):
        site, pack, counts = places[row]
        within = hit - int(ends[row]) + len(found[row])
        yield site, pack, int(np.searchsorted(np.cumsum(counts), within, side="right"))


def _as_they_arrived(connection: Connection, store: Parts, wanted: Fingerprints) -> tuple[Counter[Place], int]:
    """Look at the captures in packs without a row, newest first; return also how many were left out."""
    row = FingerprintRow
    known = select(row.pack).where(row.site == Pack.site, row.pack == Pack.id).exists()
    query = select(Pack.site, Pack.id).where(Pack.kind != PRIVATE, ~known).order_by(Pack.id.desc())
    packs: list[tuple[int, int]] = [(site, number) for site, number in connection.execute(query)]
    slots: dict[tuple[int, int], set[int]] = defaultdict(set)
    for one in _rows(connection, packs):
        slots[one.site, one.pack].add(one.slot)
    hits: Counter[Place] = Counter()
    room, n_unread = ARRIVED_BYTES, 0
    for place in [(*key, slot) for key in packs for slot in sorted(slots[key])]:
        if room <= 0:
            n_unread += 1
            continue
        try:
            capture = store.reader.capture(connection, *place)
        except DamagedPack:
            continue
        room -= len(capture.body)
        if n := int(meeting(prose_of(capture), wanted).sum()):
            hits[place] = n
    return hits, n_unread


def _rows(connection: Connection, packs: Iterable[tuple[int, int]]) -> Iterator[Row[Any]]:
    """Yield the rows of captures in some packs, those under a cache key left out."""
    by_site: dict[int, list[int]] = defaultdict(list)
    for site, pack in packs:
        by_site[site].append(pack)
    for site, numbers in sorted(by_site.items()):
        for start in range(0, len(numbers), 500):
            query = select(CAPTURE).where(CAPTURE.c.site == site, CAPTURE.c.pack.in_(numbers[start : start + 500]))
            yield from connection.execute(query.where(CAPTURE.c.flags.op("&")(IS_ALIAS) == 0))


def _records(connection: Connection, store: Parts, hits: Counter[Place]) -> tuple[list[Record], int]:
    """Return the captures in some places, one of each site in turn, and how many were left out."""
    by_site: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in _rows(connection, {(site, pack) for site, pack, _ in hits}):
        if hits[row.site, row.pack, row.slot]:
            by_site[row.site].append(row)
    found, n_more = [], 0
    for site, rows in by_site.items():
        rows.sort(key=lambda row: (-hits[row.site, row.pack, row.slot], -row.time))
        n_more += max(0, len(rows) - SITE_CAPTURES)
        for row in rows[:SITE_CAPTURES]:
            try:
                (record,) = store.finder.records(connection, [row])
            except DamagedPack:
                continue
            found.append((site, hits[row.site, row.pack, row.slot], record))
    return in_turn(found), n_more


def wrong(connection: Connection, reader: Reader, site: int) -> dict[int, str]:
    """Return what is wrong with a site's rows, by pack."""
    query = select(FingerprintRow.pack, FingerprintRow.data).where(FingerprintRow.site == site)
    found = {}
    for pack, data in connection.execute(query):
        try:
            n = len(decode_prose(pack, data)[0])
            head = reader.head(connection, site, pack)
        except DamagedPack as error:
            found[pack] = str(error)
        except Gone:
            found[pack] = "there is no such pack"
        else:
            if n != len(head.captures) or any(capture.private for capture in head.captures):
                found[pack] = "fingerprints: they belong to other captures"
    return found


def drop(connection: Connection, site: int, packs: Iterable[int]) -> None:
    """Delete rows: their packs are read from then on when somebody asks."""
    for pack in packs:
        connection.execute(delete(FingerprintRow).where(FingerprintRow.site == site, FingerprintRow.pack == pack))
