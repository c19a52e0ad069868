"""Re-read everything: the database's own structure, every pack, every capture's body, every row and total."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, delete, select

from store import freshenings, totals
from store.base import Finding, StoreError
from store.finding import CAPTURE, live_rows
from store.models import IS_FRESHENED, FresheningRow, Pack, Site
from store.names import number_of
from store.packs import DamagedPack
from store.reading import Gone, Reader
from store.rewriting import recount

if TYPE_CHECKING:
    from store.sql import SqlStore


def check(store: SqlStore, *, repair: bool) -> tuple[int, list[Finding]]:
    """Return the number of captures and what is wrong; `repair` drops the captures that are lost."""
    n_captures, findings = 0, _structure(store)
    with store.database.read() as connection:
        sites = {row.id: row.name for row in connection.execute(select(Site.id, Site.name))}
        others = set(connection.execute(select(Pack.site).distinct()).scalars()) - sites.keys()
        others |= set(connection.execute(select(CAPTURE.c.site).distinct()).scalars()) - sites.keys()
    for site in sorted(sites.keys() | others):
        n, found, lost = _site(store, site, sites.get(site))
        n_captures += n
        findings += found
        if repair and (lost or found):
            _drop(store, lost)
            recount(store, site)
    return n_captures, findings


def _structure(store: SqlStore) -> list[Finding]:
    """Ask SQLite whether its own pages are sound."""
    if not store.database.is_sqlite:
        return []
    with store.database.read() as connection:
        lines = connection.exec_driver_sql("pragma integrity_check(20)").scalars().all()
    return [Finding(f"database: {line}") for line in lines if line != "ok"]


def _site(store: SqlStore, site: int, name: str | None) -> tuple[int, list[Finding], list[Row[Any]]]:
    """Check one site; return its number of captures, what is wrong, and the rows of captures that are lost."""
    reader = Reader()  # of its own: what is checked must come from the database
    with store.database.read() as connection:
        rows = live_rows(connection, site, aliases=True)
        findings, lost = _packs(connection, reader, site, name or f"site {site}", rows)
        n_captures = len({row.id for packed in rows.values() for row in packed})
        if not findings and name is not None:
            findings += _totals(connection, reader, site, name)
        if name is None:
            findings.append(Finding(f"site {site}: packs or captures without a row of the site"))
    return n_captures, findings, lost


def _packs(
    connection: Connection, reader: Reader, site: int, name: str, rows: dict[int, list[Row[Any]]]
) -> tuple[list[Finding], list[Row[Any]]]:
    findings: list[Finding] = []
    lost: list[Row[Any]] = []
    numbers = set(connection.execute(select(Pack.id).where(Pack.site == site)).scalars())
    for pack in sorted(numbers | rows.keys()):
        try:
            reader.head(connection, site, pack)
            reader.raw(connection, site, pack)
        except (DamagedPack, Gone) as error:
            findings.append(Finding(f"{name}: pack {pack}: {error}", ids=tuple(r.id for r in rows.get(pack, ()))))
        for row in rows.get(pack, ()):
            finding = _capture(connection, reader, name, row)
            if finding:
                findings.append(finding)
                lost.append(row)
    return findings, lost


def _capture(connection: Connection, reader: Reader, name: str, row: Row[Any]) -> Finding | None:
    """Return what is wrong with a capture, None when it is whole and its row says what its head says."""
    url = ""
    try:
        head = reader.head(connection, row.site, row.pack)
        if row.slot >= len(head.captures):
            raise DamagedPack(f"pack {row.pack} has no slot {row.slot}")
        capture = head.captures[row.slot]
        url = capture.url
        reader.capture(connection, row.site, row.pack, row.slot)
        if row.url not in (number_of(url), number_of(capture.key)) or row.time != capture.time // 1000:
            raise DamagedPack("its row has another URL or time")
        if row.flags & IS_FRESHENED:
            query = select(FresheningRow.data).where(FresheningRow.site == row.site, FresheningRow.id == row.id)
            freshenings.decode_freshening(connection.execute(query).scalar() or b"")
    except (DamagedPack, Gone) as error:
        return Finding(f"{url or name}: capture {row.id}: {error}", (url,) if url else (), (row.id,))
    return None


def _totals(connection: Connection, reader: Reader, site: int, name: str) -> list[Finding]:
    counted = totals.count(connection, reader, site)
    row = connection.execute(select(Site).where(Site.id == site)).one()
    wrong = [
        f"{figure} {getattr(row, figure)}, counted {getattr(counted, figure)}"
        for figure in ("captures", "pages", "original")
        if getattr(row, figure) != getattr(counted, figure)
    ]
    return [Finding(f"{name}: totals differ: {'; '.join(wrong)}")] if wrong else []


def _drop(store: SqlStore, rows: list[Row[Any]]) -> None:
    with store.database.write() as connection:
        for row in rows:
            key = (CAPTURE.c.site == row.site, CAPTURE.c.url == row.url, CAPTURE.c.time == row.time)
            connection.execute(delete(CAPTURE).where(*key, CAPTURE.c.id == row.id))


__all__ = ["StoreError", "check"]
