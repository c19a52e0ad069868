"""The four figures: totals a site, kept by each transaction, and the sizes of what is on disk."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from store.base import Bytes, SiteStats, Stats
from store.finding import live_rows
from store.models import Pack, Site
from store.reading import Reader

SHARED = "(shared)"
"""The row of `by_site` for bytes on disk that belong to no one site: catalogue, indexes, free pages, the WAL."""


def stats(connection: Connection, ondisk: int) -> Stats:
    """Return the totals; the sites' bytes on disk are those of their packs."""
    size = func.sum(func.length(Pack.head) + func.length(Pack.body))
    packed: dict[int, int] = {
        row[0]: int(row[1]) for row in connection.execute(select(Pack.site, size).group_by(Pack.site))
    }
    rows = [
        _site_stats(row, packed.get(row.id, 0)) for row in connection.execute(select(*_COLUMNS).order_by(Site.name))
    ]
    figures = ("original", "exact", "block")
    original, exact, block = (sum(getattr(row.bytes, figure) for row in rows) for figure in figures)
    total = Bytes(original, exact, block, ondisk)
    n_sites = len(rows)
    rows.append(SiteStats(SHARED, 0, 0, 0, Bytes(ondisk=ondisk - sum(row.bytes.ondisk for row in rows))))
    return Stats(
        sum(row.captures for row in rows),
        sum(row.pages for row in rows),
        n_sites,
        sum(row.blocks for row in rows),
        total,
        tuple(rows),
    )


_COLUMNS = (Site.id, Site.name, Site.captures, Site.pages, Site.blocks, Site.original, Site.exact, Site.block)


def _site_stats(row: Any, ondisk: int) -> SiteStats:
    return SiteStats(row.name, row.captures, row.pages, row.blocks, Bytes(row.original, row.exact, row.block, ondisk))


@dataclass(frozen=True, slots=True)
class Count:
    """A site's totals as its packs and rows give them, and the `writes` at which they were counted."""

    writes: int
    captures: int
    pages: int
    blocks: int
    original: int
    exact: int
    block: int


def count(connection: Connection, reader: Reader, site: int) -> Count:
    """Count a site from its heads. DamagedPack or Gone when one cannot be read."""
    writes = connection.execute(select(Site.writes).where(Site.id == site)).scalar() or 0
    sizes: dict[bytes, int] = {}
    original = private = n_captures = 0
    urls = set()
    for pack, rows in live_rows(connection, site).items():
        head = reader.head(connection, site, pack)
        for row in rows:
            capture, size = head.captures[row.slot], head.recipes.size(row.slot)
            n_captures, original = n_captures + 1, original + size
            urls.add(row.url)
            if capture.private:
                private += size
            else:
                sizes[head.digests[row.slot]] = size
    query = select(func.sum(Pack.blocks), func.sum(Pack.raw + Pack.recipes)).where(Pack.site == site)
    blocks, block = connection.execute(query).one()
    exact = private + sum(sizes.values())
    return Count(writes, n_captures, len(urls), int(blocks or 0), original, exact, int(block or 0))


def put_packs(connection: Connection, site: int) -> None:
    """Put right what a site's totals say of its packs, in the transaction that changes these.

    Such a transaction locks the site's row before it touches packs (`lock`), as one that keeps captures does: on
    Postgres they would wait for each other otherwise.
    """
    packs = select(func.coalesce(func.sum(Pack.blocks), 0)).where(Pack.site == site).scalar_subquery()
    size = select(func.coalesce(func.sum(Pack.raw + Pack.recipes), 0)).where(Pack.site == site).scalar_subquery()
    connection.execute(update(Site).where(Site.id == site).values(blocks=packs, block=size))


def lock(connection: Connection, site: int) -> None:
    """Let nobody else change a site's totals until the transaction ends."""
    connection.execute(select(Site.id).where(Site.id == site).with_for_update())


def put(connection: Connection, site: int, counted: Count) -> bool:
    """Write totals, unless the site was written to since they were counted.

    An empty site that has no packs either loses its row.
    """
    where = (Site.id == site, Site.writes == counted.writes)
    packs = select(Pack.id).where(Pack.site == site)
    if not counted.captures and connection.execute(delete(Site).where(*where, ~packs.exists())).rowcount:
        return True
    values = {name: getattr(counted, name) for name in ("captures", "pages", "original", "exact")}
    done = connection.execute(update(Site).where(*where).values(writes=Site.writes + 1, **values)).rowcount > 0
    if done:
        put_packs(connection, site)
    return done
