"""What validations and unsafe methods changed about kept captures: rows beside packs, which never change."""

from collections.abc import Sequence
from typing import Any

import msgpack
from sqlalchemy import Connection, Row, Table, bindparam, delete, insert, select, update

from store.base import Freshening, Record
from store.models import IS_FRESHENED, CaptureRow, FresheningRow
from store.names import number_of
from store.packing.packs import Codec, DamagedPack, decode
from store.snapshots import Query, Source, ask

CAPTURE: Table = CaptureRow.metadata.tables["capture"]

_DATA = Query(
    select(FresheningRow.data).where(FresheningRow.site == bindparam("site"), FresheningRow.id == bindparam("id"))
)

_codec = Codec(3)


def encode(freshening: Freshening) -> bytes:
    """Return a freshening as stored."""
    headers = [part for pair in freshening.headers for part in pair]
    packed = msgpack.packb([headers, freshening.request_time, freshening.time, freshening.invalid])
    return _codec.encode(packed)


def decode_freshening(stored: bytes) -> Freshening:
    """Return the freshening that was stored. DamagedPack when it is none."""
    raw = decode(stored)
    try:
        parts, request_time, time, invalid = msgpack.unpackb(raw)
        headers = tuple(zip(parts[::2], parts[1::2], strict=True))
    except (ValueError, TypeError) as error:
        raise DamagedPack(f"freshening: {error}") from error
    return Freshening(headers, request_time, time, invalid)


def freshenings(source: Source, rows: Sequence[Any]) -> dict[tuple[int, int], Freshening]:
    """Return the freshenings of rows of `capture` by site and id. One that cannot be read counts as invalid."""
    found = {}
    for row in rows:
        if row.flags & IS_FRESHENED:
            stored = ask(source, _DATA, {"site": row.site, "id": row.id})
            try:
                found[row.site, row.id] = decode_freshening(stored[0][0] if stored else b"")
            except DamagedPack:
                found[row.site, row.id] = Freshening((), 0, 0, invalid=True)
    return found


def put(connection: Connection, record: Record, freshening: Freshening) -> None:
    """Attach a freshening to a capture, in place of the one it has."""
    site, capture = record.place[0], record.capture
    connection.execute(delete(FresheningRow).where(FresheningRow.site == site, FresheningRow.id == record.id))
    connection.execute(insert(FresheningRow).values(site=site, id=record.id, data=encode(freshening)))
    urls = {number_of(capture.url), number_of(capture.key or capture.url)}
    rows = (CAPTURE.c.site == site, CAPTURE.c.url.in_(urls), CAPTURE.c.time == capture.time // 1000)
    flags = CAPTURE.c.flags.op("|")(IS_FRESHENED)
    connection.execute(update(CAPTURE).where(*rows, CAPTURE.c.id == record.id).values(flags=flags))


def strays(connection: Connection) -> list[Row[Any]]:
    """Return site and id of the rows that belong to no capture."""
    row = (CAPTURE.c.site == FresheningRow.site, CAPTURE.c.id == FresheningRow.id)
    owner = select(CAPTURE.c.id).where(*row, CAPTURE.c.flags.op("&")(IS_FRESHENED) != 0)
    return [*connection.execute(select(FresheningRow.site, FresheningRow.id).where(~owner.exists()))]
