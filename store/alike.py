"""Prose that stands on several sites: one row of fingerprints for a compacted pack (docs/format.md, "Fingerprints").

A row is written with its pack and deleted with it. Packs without one, which are those as they arrived, are read when
somebody asks: keeping a capture costs nothing for this.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection, insert, select
from sqlalchemy.orm import aliased

from blocks.fingerprints import Fingerprints, meeting
from store.base import Alike, Record, StoreUnavailable
from store.building import NewPack
from store.finding import ATTEMPTS, live_rows
from store.models import PRIVATE, FingerprintRow, Pack
from store.packs import DamagedPack
from store.prose import decode_prose, encode_prose, prose_of
from store.reading import Gone

if TYPE_CHECKING:
    from store.sql import SqlStore

ARRIVED_BYTES = 128 << 20
"""Bodies in packs without fingerprints that are read to answer one question, the newest."""

Place = tuple[int, int, int]
"""Site, pack and slot."""


def row_of(pack: NewPack) -> bytes:
    """Return the row of a new pack."""
    return encode_prose(pack.id, [prose_of(capture) for capture in pack.captures])


def put(connection: Connection, site: int, pack: int, data: bytes) -> None:
    """Write the row of a pack, in the transaction that writes the pack."""
    connection.execute(insert(FingerprintRow), [{"site": site, "pack": pack, "data": data}])


def find(store: SqlStore, wanted: Fingerprints) -> Alike:
    """Return the public captures with a block whose fingerprint meets one of those wanted, one of each site in turn."""
    for _ in range(ATTEMPTS):
        try:
            with store.database.read() as connection:
                places = _in_rows(connection, wanted)
                arrived, n_unread = _as_they_arrived(connection, store, wanted)
                records = _records(connection, store, places | arrived)
        except Gone:  # compaction has moved what was found
            continue
        return Alike(records, n_unread)
    raise StoreUnavailable(f"{store.database.name}: its packs kept changing; try again")


def _in_rows(connection: Connection, wanted: Fingerprints) -> set[Place]:
    places: set[Place] = set()
    query = select(FingerprintRow.site, FingerprintRow.pack, FingerprintRow.data)
    for site, pack, data in connection.execute(query.execution_options(yield_per=100)):
        try:
            counts, found = decode_prose(pack, data)
        except DamagedPack:  # check names it
            continue
        hits = np.flatnonzero(meeting(found, wanted))
        slots = np.searchsorted(np.cumsum(counts), hits, side="right")
        places.update((site, pack, slot) for slot in slots.tolist())
    return places


def _as_they_arrived(connection: Connection, store: SqlStore, wanted: Fingerprints) -> tuple[set[Place], int]:
    """Look at the captures in packs without a row, newest first; return also how many were left out."""
    row, pack = aliased(FingerprintRow), aliased(Pack)
    known = select(row.pack).where(row.site == pack.site, row.pack == pack.id).exists()
    query = select(pack.site, pack.id).where(pack.kind != PRIVATE, ~known).order_by(pack.id.desc())
    places: set[Place] = set()
    slots: dict[int, dict[int, set[int]]] = {}
    room, n_unread = ARRIVED_BYTES, 0
    for site, number in connection.execute(query).all():
        if site not in slots:
            slots[site] = {p: {one.slot for one in rows} for p, rows in live_rows(connection, site).items()}
        for slot in sorted(slots[site].get(number, ())):
            if room <= 0:
                n_unread += 1
                continue
            try:
                capture = store.reader.capture(connection, site, number, slot)
            except DamagedPack:
                continue
            room -= len(capture.body)
            if meeting(wanted, prose_of(capture)).any():
                places.add((site, number, slot))
    return places, n_unread


def _records(connection: Connection, store: SqlStore, places: set[Place]) -> list[Record]:
    by_site: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for site, pack, slot in places:
        by_site[site].add((pack, slot))
    columns = []
    for site, wanted in sorted(by_site.items()):
        rows = chain.from_iterable(live_rows(connection, site).values())
        found = []
        for row in rows:
            if (row.pack, row.slot) in wanted:
                try:
                    found += store.finder.records(connection, [row])
                except DamagedPack:
                    continue
        columns.append(sorted(found, key=lambda r: (-r.capture.time, r.capture.url, r.id)))
    return [record for turn in zip_longest(*columns) for record in turn if record is not None]
