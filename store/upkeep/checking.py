"""Re-read everything: the database's own structure, every pack, every capture's body, every row and total."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, func, select

from blocks.model import Capture
from store import alike, freshenings, totals, uses
from store.base import Finding, StoreError
from store.database import meta
from store.finding import CAPTURE, live_rows
from store.models import (
    ARRIVAL,
    COMPACTED,
    FORMAT,
    IS_ALIAS,
    IS_FRESHENED,
    IS_PRIVATE,
    PRIVATE,
    FresheningRow,
    Meta,
    Need,
    Pack,
    Site,
)
from store.names import PROBES, number_of
from store.packing.packs import DamagedPack
from store.parts import Parts
from store.reading import Gone, Reader
from store.upkeep import compactions, leftovers, vacuuming
from store.upkeep.repairing import drop_lost, put_right
from store.upkeep.trimming import trim


def check(store: Parts, *, repair: bool) -> tuple[int, list[Finding]]:
    """Return the number of captures and what is wrong; `repair` drops the captures that are lost."""
    n_captures, findings = 0, [*_structure(store), *_meta(store)]
    with store.database.read() as connection:
        sites = {row.id: row.name for row in connection.execute(select(Site.id, Site.name))}
        others = set(connection.execute(select(Pack.site).distinct()).scalars()) - sites.keys()
        others |= set(connection.execute(select(CAPTURE.c.site).distinct()).scalars()) - sites.keys()
    for site in sorted(sites.keys() | others):
        n, found, lost = _site(store, site, sites.get(site))
        n_captures += n
        findings += found
        if repair and (lost or found):
            drop_lost(store, site, {row.id for row in lost})
            store.writer.forget()  # it may know blocks of packs that are damaged
            trim(store, site)
    if repair and findings:
        put_right(store)
    return n_captures, findings


def _structure(store: Parts) -> list[Finding]:
    """Ask SQLite whether its own pages are sound."""
    if not store.database.is_sqlite:
        return []
    with store.database.read() as connection:
        lines = connection.exec_driver_sql("pragma integrity_check(20)").scalars().all()
    return [Finding(f"database: {line}") for line in lines if line != "ok"]


def _meta(store: Parts) -> list[Finding]:
    """Look at the rows of `meta`, and at rows that belong to nothing."""
    wrong = []
    with store.database.read() as connection:
        rows = {row.name: row.value for row in connection.execute(select(Meta.name, Meta.value))}
        sites = {*connection.execute(select(Site.id)).scalars()}
        highest = max(connection.execute(select(func.max(column))).scalar() or 0 for column in (Pack.id, CAPTURE.c.id))
        strays = freshenings.strays(connection)
    for name in ("format", "store", "next", "purges"):
        if not _META[name].fullmatch(rows.pop(name, "")):
            wrong.append(f"meta: {name} is missing or not what was written")
        elif name == "next" and int(_value(store, name)) <= highest:
            wrong.append(f"meta: next is not above {highest}")
    if compactions.NAME in rows and not compactions.PATTERN.fullmatch(rows.pop(compactions.NAME)):
        wrong.append(f"meta: {compactions.NAME} is not what was written")
    if vacuuming.ERASED in rows and not _META["purges"].fullmatch(rows.pop(vacuuming.ERASED)):
        wrong.append(f"meta: {vacuuming.ERASED} is not what was written")
    for name, value in rows.items():
        kind, _, number = name.partition(" ")
        sound = _OF_SITES.get(f"{kind} ")
        if sound is None or not (number.isdecimal() and int(number) in sites):
            wrong.append(f"meta: {name!r} belongs to nothing")
        elif not sound(value):
            wrong.append(f"meta: {name!r} is not what was written")
    wrong += [f"freshening {row.id} of site {row.site} belongs to no capture" for row in strays]
    return [Finding(sentence) for sentence in wrong]


def _value(store: Parts, name: str) -> str:
    with store.database.read() as connection:
        return meta(connection, name)


_META = {
    "format": re.compile(re.escape(FORMAT)),
    "store": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
    "next": re.compile(r"[1-9][0-9]*"),
    "purges": re.compile(r"0|[1-9][0-9]*"),
}


_OF_SITES: dict[str, Callable[[str], bool]] = {
    uses.PREFIX: lambda value: uses.decode(value) is not None,
    leftovers.PREFIX: str.isdecimal,
}
"""How the names of rows of single sites begin, and whether a value is sound."""


def _site(store: Parts, site: int, name: str | None) -> tuple[int, list[Finding], list[Row[Any]]]:
    """Check one site; return its number of captures, what is wrong, and the rows of captures that are lost."""
    reader = Reader()  # of its own: what is checked must come from the database
    with store.database.read() as connection:
        rows = live_rows(connection, site, aliases=True)
        findings, lost = _packs(connection, reader, site, name or f"site {site}", rows)
        n_captures = len({row.id for packed in rows.values() for row in packed})
        if not findings and name is not None:
            findings += _totals(connection, reader, site, name)
        findings += _rows(name or f"site {site}", rows)
        findings += _needs(connection, reader, site, name or f"site {site}")
        prose = alike.wrong(connection, reader, site)
        findings += [Finding(f"{name or f'site {site}'}: pack {pack}: {what}") for pack, what in prose.items()]
        if name is not None and not 0 <= site - number_of(name) < PROBES:
            findings.append(Finding(f"site {site}: {name!r} is not its name"))
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


def _rows(name: str, rows: dict[int, list[Row[Any]]]) -> list[Finding]:
    """Look for captures with two rows, and for rows under a key whose capture has none."""
    own: dict[int, tuple[int, int]] = {}
    wrong = []
    slots: set[tuple[int, int]] = set()
    every = [row for packed in rows.values() for row in packed]
    for row in sorted(every, key=lambda row: row.flags & IS_ALIAS):
        place = row.pack, row.slot
        if row.flags & IS_ALIAS:
            if own.get(row.id) != place:
                wrong.append(row)
        elif row.id in own or place in slots:
            wrong.append(row)
        else:
            own[row.id] = place
            slots.add(place)
    return [Finding(f"{name}: capture {row.id}: its rows contradict each other", ids=(row.id,)) for row in wrong]


def _needs(connection: Connection, reader: Reader, site: int, name: str) -> list[Finding]:
    """Compare what packs need with what their heads say."""
    rows = connection.execute(select(Need.needs, Need.pack).where(Need.site == site)).all()
    written = {(row.needs, row.pack) for row in rows}
    found = []
    for row in connection.execute(select(Pack.id, Pack.base, Pack.kind).where(Pack.site == site)).all():
        try:
            head = reader.head(connection, site, row.id)
        except (DamagedPack, Gone):
            continue
        wanted = {*head.needs, *([row.base] if row.base else [])}
        if wanted != {needs for needs, pack in written if pack == row.id}:
            found.append(Finding(f"{name}: pack {row.id}: what it needs is not what was written"))
        private = any(capture.private for capture in head.captures)
        if row.kind not in (ARRIVAL, COMPACTED, PRIVATE) or private != (row.kind == PRIVATE):
            found.append(Finding(f"{name}: pack {row.id}: it is of another kind"))
    return found


def _flags(row: Row[Any], capture: Capture) -> int:
    """Return the flags that a row must have."""
    is_alias = bool(capture.key) and capture.key != capture.url and row.url == number_of(capture.key)
    freshened = int(row.flags) & IS_FRESHENED
    return (IS_PRIVATE if capture.private else 0) | (IS_ALIAS if is_alias else 0) | freshened


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
        if row.flags != _flags(row, capture):
            raise DamagedPack("its row has other flags")
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
        for figure in ("captures", "pages", "original", "blocks", "block")
        if getattr(row, figure) != getattr(counted, figure)
    ]
    return [Finding(f"{name}: totals differ: {'; '.join(wrong)}")] if wrong else []


__all__ = ["StoreError", "check"]
