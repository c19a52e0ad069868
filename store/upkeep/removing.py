"""Purging and collection: rows first, so that nothing is found any more, then the bytes that only they needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import nullcontext

from sqlalchemy import Connection, delete, select, text, update

from store import uses
from store.base import Plan, Record
from store.finding import CAPTURE
from store.models import FresheningRow, Pack, Site
from store.names import number_of
from store.parts import Parts
from store.rows import present_urls
from store.upkeep import leftovers, vacuuming
from store.upkeep.claims import claimed, site_job
from store.upkeep.rewriting import finish
from store.upkeep.trimming import Trim, plan, trim


def purge(store: Parts, pattern: str, *, dry_run: bool, later: bool) -> int:
    """Delete the captures that match, in one transaction a site, and then what only they needed; `later` leaves that
    to `collect`."""
    by_site: dict[int, list[Record]] = defaultdict(list)
    for record in store.finder.captures(pattern):
        by_site[record.place[0]].append(record)
    n_captures = sum(map(len, by_site.values()))
    if dry_run or not n_captures:
        return n_captures
    with store.database.read() as connection:
        before, erased = vacuuming.purged(connection)
    for site, records in sorted(by_site.items()):
        with store.database.write() as connection:
            forget(connection, site, records)
            query = "update meta set value = cast(cast(value as bigint) + 1 as text) where name = 'purges'"
            connection.execute(text(query))
            leftovers.note(connection, site)
    store.writer.forget()
    if later:
        return n_captures
    clean(store, by_site)
    if vacuuming.erase(store.database):
        with store.database.write() as connection:
            now, _ = vacuuming.purged(connection)
            if before == erased and now == before + len(by_site):  # else there is another purge, perhaps not at its end
                vacuuming.note(connection, now)
    return n_captures


def forget(connection: Connection, site: int, records: Sequence[Record]) -> None:
    """Delete captures of one site: their rows, and what the totals say of them."""
    for record in records:
        capture = record.capture
        urls = {number_of(capture.url), number_of(capture.key or capture.url)}
        rows = (CAPTURE.c.site == site, CAPTURE.c.url.in_(urls), CAPTURE.c.time == capture.time // 1000)
        connection.execute(delete(CAPTURE).where(*rows, CAPTURE.c.id == record.id))
        gone = (FresheningRow.site == site, FresheningRow.id == record.id)
        connection.execute(delete(FresheningRow).where(*gone))
    gone_urls = {number_of(record.capture.url) for record in records}
    left = {url: minute for url, minute in uses.load(connection, site).items() if url not in gone_urls}
    uses.put(connection, site, left)
    _subtract(connection, site, records)


def _subtract(connection: Connection, site: int, records: Sequence[Record]) -> None:
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


def collect(store: Parts, *, dry_run: bool, purged: bool) -> Plan:
    """Write packs anew that hold bytes of captures which are gone, and drop packs that nothing needs; then see that
    nothing is left of what earlier purges could not erase. `purged`: only at the sites where a purge left that."""
    with store.database.read() as connection:
        purges, erased = vacuuming.purged(connection)
        noted = leftovers.noted(connection)
    done = clean(store, noted if purged else _sites(store), dry_run=dry_run, claim=True)
    if not dry_run and erased < purges:
        with store.database.read() as connection:
            others = leftovers.noted(connection)  # where another process is at work, or something is damaged
        if not others:
            _erase(store, purges)
    return done


def erase(store: Parts) -> None:
    """Write all tables of a Postgres store anew, however long that takes and others have to wait."""
    with store.database.read() as connection:
        purges, _ = vacuuming.purged(connection)
    clean(store, _sites(store))
    _erase(store, purges, patiently=True)


def _erase(store: Parts, n_purges: int, *, patiently: bool = False) -> None:
    """Erase, and note that nothing is left of so many purges, whose packs have been cleaned."""
    if vacuuming.erase(store.database, patiently=patiently):
        with store.database.write() as connection:
            vacuuming.note(connection, max(n_purges, vacuuming.purged(connection)[1]))


def _sites(store: Parts) -> set[int]:
    with store.database.read() as connection:
        sites = {*connection.execute(select(Site.id)).scalars()}
        return sites | {*connection.execute(select(Pack.site).distinct()).scalars()}


def clean(store: Parts, sites: Iterable[int], *, dry_run: bool = False, claim: bool = False) -> Plan:
    """Do for some sites what `collect` does for all; with `claim`, pass over those that another process is at."""
    with store.database.read() as connection:
        before = store.database.size(connection)
        names = {row.id: row.name for row in connection.execute(select(Site.id, Site.name))}
        noted = leftovers.noted(connection)
    rewritten, dropped, notes = 0, 0, []
    for site in sorted(sites):
        with claimed(store.database, site_job(site)) if claim and not dry_run else nullcontext(True) as mine:
            found = plan(store, site) if mine else Trim()
            if found and not dry_run:
                trim(store, site)
            if mine and not dry_run and site in noted and not (found and plan(store, site)):
                with store.database.write() as connection:
                    leftovers.settle(connection, site, noted[site])
        if not found:
            continue
        rewritten, dropped = rewritten + len(found.rewrite), dropped + len(found.drop)
        sentence = (
            f"{len(found.rewrite)} packs to write anew, {len(found.drop)} to drop: bytes of captures that are gone"
        )
        notes.append(f"{names.get(site, site)}: {sentence}")
    done = Plan(rewritten, dropped, before, before, tuple(notes))
    return done if dry_run or not notes else finish(store, done)
