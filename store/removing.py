"""Purging and collection: rows first, so that nothing is found any more, then the bytes that only they needed."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, select, text, update

from store.base import Plan, Record
from store.finding import CAPTURE, live_rows
from store.models import FresheningRow, Need, Pack, Site
from store.names import number_of
from store.packs import DamagedPack
from store.reading import Gone
from store.rewriting import drop_packs, finish, recount, rewrite
from store.writing import present_urls

if TYPE_CHECKING:
    from store.sql import SqlStore


def purge(store: SqlStore, pattern: str, *, dry_run: bool) -> int:
    """Delete the captures that match, in one transaction a site, and then what only they needed."""
    by_site: dict[int, list[Record]] = defaultdict(list)
    for record in store.finder.captures(pattern):
        by_site[record.place[0]].append(record)
    n_captures = sum(map(len, by_site.values()))
    if dry_run or not n_captures:
        return n_captures
    for site, records in sorted(by_site.items()):
        with store.database.write() as connection:
            for record in records:
                capture = record.capture
                urls = {number_of(capture.url), number_of(capture.key or capture.url)}
                rows = (CAPTURE.c.site == site, CAPTURE.c.url.in_(urls), CAPTURE.c.time == capture.time // 1000)
                connection.execute(delete(CAPTURE).where(*rows, CAPTURE.c.id == record.id))
                gone = (FresheningRow.site == site, FresheningRow.id == record.id)
                connection.execute(delete(FresheningRow).where(*gone))
            _subtract(connection, site, records)
            query = "update meta set value = cast(cast(value as bigint) + 1 as text) where name = 'purges'"
            connection.execute(text(query))
    store.writer.forget()
    collect(store, dry_run=False)
    return n_captures


def _subtract(connection: Connection, site: int, records: list[Record]) -> None:
    """Take deleted captures out of the totals; what their bytes were counted as follows when these are dropped."""
    urls = {number_of(record.capture.url) for record in records}
    n_pages = len(urls) - len(present_urls(connection, site, urls))
    values = {
        "writes": Site.writes + 1,
        "captures": Site.captures - len(records),
        "pages": Site.pages - n_pages,
        "original": Site.original - sum(record.size for record in records),
    }
    connection.execute(update(Site).where(Site.id == site).values(values))


def collect(store: SqlStore, *, dry_run: bool) -> Plan:
    """Rewrite the sites that hold bytes of captures which are gone, and drop packs that nothing needs."""
    with store.database.read() as connection:
        before = store.database.size(connection)
        names = {row.id: row.name for row in connection.execute(select(Site.id, Site.name))}
        sites = sorted({*names, *connection.execute(select(Pack.site).distinct()).scalars()})
    rewritten, notes = 0, []
    for site in sites:
        dead = _dead(store, site)
        if not dead:
            continue
        rewritten += len(dead)
        notes.append(f"{names.get(site, site)}: {len(dead)} packs hold bytes of captures that are gone")
        if not dry_run:
            _clean(store, site)
    plan = Plan(rewritten, 0, before, before, tuple(notes))
    return plan if dry_run or not rewritten else finish(store, plan)


def _dead(store: SqlStore, site: int) -> list[int]:
    """Return the packs of a site that hold captures without a row, or that nothing needs."""
    dead = []
    with store.database.read() as connection:
        rows = live_rows(connection, site)
        needed = set(connection.execute(select(Need.needs).where(Need.site == site)).scalars())
        for pack in connection.execute(select(Pack.id).where(Pack.site == site)).scalars().all():
            live = {row.slot for row in rows.get(pack, ())}
            try:
                n_captures = len(store.reader.head(connection, site, pack).captures)
            except (DamagedPack, Gone):
                continue
            if len(live) < n_captures or not (live or pack in needed):
                dead.append(pack)
    return dead


def _clean(store: SqlStore, site: int) -> None:
    with store.database.write() as connection:
        rows = live_rows(connection, site, aliases=True)
        if not rows:
            numbers = list(connection.execute(select(Pack.id).where(Pack.site == site)).scalars())
            drop_packs(connection, site, numbers)
    if rows:
        rewrite(store, site)
        with store.database.write() as connection:  # private packs are not rewritten: one capture each
            numbers = list(connection.execute(select(Pack.id).where(Pack.site == site)).scalars())
            drop_packs(connection, site, numbers)
    recount(store, site)
