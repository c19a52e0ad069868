"""Postgres: giving room back, and leaving nothing of purged captures in the files. SQLite does both by itself.

`VACUUM` marks the room of deleted rows as free; their bytes stay in it until it is used again. `VACUUM FULL` writes a
table anew without them, and nobody else can use it meanwhile.
"""

import time

from sqlalchemy import Connection, delete, insert, text
from sqlalchemy.exc import DBAPIError

from store.database import OUR_TABLES, Database, meta
from store.models import Meta

PATIENCE_MS = 2_000
"""How long a table is waited for that others use."""

POLL_SECONDS = 0.05

FULL_BYTES = 256 << 20
"""Tables that are written anew unasked, at the most: it takes a second or two, and all others wait."""

WASTE = 1.25
"""Tables that are so many times larger than what they hold are written anew."""

ERASED = "erased"
"""The row of `meta` that says up to which number of `purges` nothing of the purged captures is left."""

_BUSY_STATES = ("55P03", "40P01", "57014")


def vacuum(database: Database) -> None:
    """Mark the room of deleted rows as free, and give it back when that is much and soon done."""
    if database.is_sqlite:
        return
    with database.apart() as connection:
        for name in sorted(OUR_TABLES):
            connection.execute(text(f"vacuum (skip_locked) {name}"))
        if _are_small(connection) and _are_wasteful(database, connection):
            _write_anew(connection, PATIENCE_MS)


def erase(database: Database, *, patiently: bool = False) -> bool:
    """Write all tables anew; tell whether that was done. Unless `patiently`, not when one of them is large, or in use
    for long."""
    if database.is_sqlite:
        return True
    with database.apart() as connection:
        if not patiently and not _are_small(connection):
            return False
        return _outlive_snapshots(connection, patiently) and _write_anew(connection, 0 if patiently else PATIENCE_MS)


def purged(connection: Connection) -> tuple[int, int]:
    """Return the number of purges, a site each, and up to which of them nothing is left in the files."""
    return int(meta(connection, "purges") or 0), int(meta(connection, ERASED) or 0)


def note(connection: Connection, n_purges: int) -> None:
    """Note that of the first so many purges nothing is left."""
    connection.execute(delete(Meta).where(Meta.name == ERASED))
    connection.execute(insert(Meta).values(name=ERASED, value=str(n_purges)))


def _outlive_snapshots(connection: Connection, patiently: bool) -> bool:
    """Wait for the transactions that may still see what is deleted by now: `VACUUM FULL` would copy it for them."""
    now = connection.execute(text("select cast(pg_current_xact_id() as text)")).scalar_one()
    query = text(
        "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        " and age(backend_xmin) >= age(cast(cast(:now as xid8) as xid))"
    )
    until = time.monotonic() + PATIENCE_MS / 1000
    while connection.execute(query, {"now": now}).scalar_one():
        if not patiently and time.monotonic() > until:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _write_anew(connection: Connection, patience_ms: int) -> bool:
    connection.execute(text(f"set lock_timeout = {patience_ms}"))
    try:
        for name in sorted(OUR_TABLES):
            connection.execute(text(f"vacuum full {name}"))
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", "") not in _BUSY_STATES:
            raise
        return False
    return True


def _are_small(connection: Connection) -> bool:
    query = "select max(pg_total_relation_size(to_regclass(n))) from unnest(cast(:names as text[])) n"
    largest = connection.execute(text(query), {"names": sorted(OUR_TABLES)}).scalar()
    return int(largest or 0) <= FULL_BYTES


def _are_wasteful(database: Database, connection: Connection) -> bool:
    """Tell whether the tables are much larger than what they hold."""
    query = (
        "select (select coalesce(sum(length(head) + length(body) + 200), 0) from pack)"
        " + 130 * (select count(*) from capture) + 120 * (select count(*) from need)"
        " + (select coalesce(sum(length(data) + 100), 0) from fingerprint)"
    )
    held = int(connection.execute(text(query)).scalar_one())
    return database.size(connection) > WASTE * held + database.empty_bytes
