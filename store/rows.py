"""Rows of what a writer keeps: totals of sites, packs and what they need, captures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Table, bindparam, insert, select, text, update

from blocks.model import Capture
from store.copying import add_rows
from store.models import IS_ALIAS, IS_PRIVATE, CaptureRow, Need, Pack
from store.names import number_of
from store.packing.building import NewPack
from store.packing.known import Known
from store.snapshots import Query, Source, ask

CAPTURE: Table = CaptureRow.metadata.tables["capture"]
SITE: Table = CaptureRow.metadata.tables["site"]

TOTALS = ("captures", "pages", "blocks", "original", "exact", "block")
"""Columns of a site that count what it has."""

_BEGIN = insert(SITE)
_WRITES = Query(select(SITE.c.writes).where(SITE.c.id == bindparam("number")))
_ADD = (
    update(SITE)
    .where(SITE.c.id == bindparam("number"), SITE.c.name == bindparam("known_as"))
    .values(writes=SITE.c.writes + 1, **{name: SITE.c[name] + bindparam(f"more_{name}") for name in TOTALS})
    .returning(SITE.c.writes)
)
_PRESENT = (
    select(CAPTURE.c.url)
    .where(CAPTURE.c.site == bindparam("number"), CAPTURE.c.url.in_(bindparam("urls", expanding=True)))
    .where(CAPTURE.c.flags.op("&")(IS_ALIAS) == 0)
    .distinct()
)
"""Made once: making a statement takes longer than the database takes to answer it."""

URLS_AT_ONCE = 500
"""URLs that one query names."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is to be written of one site."""

    known: Known
    packs: list[NewPack]


def writes_of(source: Source, site: int) -> int:
    """Return how often a site was written to, 0 when it has no row."""
    found = ask(source, _WRITES, {"number": site})
    return int(found[0][0]) if found else 0


def take_ids(connection: Connection, n: int) -> int:
    """Take `n` numbers from the store's counter; return the one after the last."""
    query = "update meta set value = cast(cast(value as bigint) + :n as text) where name = 'next' returning value"
    return int(connection.execute(text(query), {"n": n}).scalar_one())


def present_urls(connection: Connection, site: int, urls: set[int]) -> set[int]:
    """Return those numbers of URLs that have a capture on the site."""
    present: set[int] = set()
    numbers = sorted(urls)
    for start in range(0, len(numbers), URLS_AT_ONCE):
        asked = {"number": site, "urls": numbers[start : start + URLS_AT_ONCE]}
        present.update(connection.execute(_PRESENT, asked).scalars())
    return present


def add_totals(connection: Connection, prepared: Sequence[Prepared]) -> None:
    """Count what is kept of each site; sites that are not there yet get their rows.

    IntegrityError when another process has made such a row in between. Rows are locked one by one, in the order of
    the sites, as all writers do.
    """
    for known, packs in ((site.known, site.packs) for site in prepared):
        urls = {number_of(capture.url) for pack in packs for capture in pack.captures}
        amounts = {
            "captures": sum(len(pack.captures) for pack in packs),
            "pages": len(urls),
            "blocks": sum(pack.blocks for pack in packs),
            "original": sum(size for pack in packs for size in pack.sizes),
            "exact": sum(pack.exact for pack in packs),
            "block": sum(pack.raw + pack.recipes for pack in packs),
        }
        if known.writes:
            amounts["pages"] -= len(present_urls(connection, known.site, urls))
            writes = _written(connection, known, amounts)
        else:  # it has no captures
            writes = _begun(connection, known, amounts)
        # When someone else has written, look again before the next time.
        known.writes = writes if writes == known.writes + 1 else -1


def _written(connection: Connection, known: Known, amounts: dict[str, int]) -> int:
    """Add to a site's totals, making its row if it has lost it; return its count of writes, this one included."""
    more = {f"more_{name}": amount for name, amount in amounts.items()}
    writes = connection.execute(_ADD, {"number": known.site, "known_as": known.name, **more}).scalar()
    return _begun(connection, known, amounts) if writes is None else int(writes)


def _begun(connection: Connection, known: Known, amounts: dict[str, int]) -> int:
    """Make the row of a site; return its count of writes."""
    connection.execute(_BEGIN, {"id": known.site, "name": known.name, "writes": 1, **amounts})
    return 1


def insert_packs(connection: Connection, sites: Sequence[tuple[int, Sequence[NewPack]]]) -> None:
    """Write the packs of sites and what they need."""
    packs = [(site, pack) for site, new in sites for pack in new]
    columns = ("id", "kind", "base", "raw", "blocks", "recipes", "head", "body")
    rows = [{"site": site, **{name: getattr(pack, name) for name in columns}} for site, pack in packs]
    connection.execute(insert(Pack), rows)
    needs = [{"site": site, "needs": needed, "pack": pack.id} for site, pack in packs for needed in pack.needs]
    if needs:
        connection.execute(insert(Need), needs)


def add_captures(connection: Connection, sites: Sequence[Prepared], number: Callable[[Capture], int]) -> None:
    """Write the rows of all captures; `number` gives the id of one."""
    rows = []
    for site in sites:
        for pack in site.packs:
            for slot, capture in enumerate(pack.captures):
                rows += _capture_rows(site.known.site, capture, number(capture), pack.id, slot)
    add_rows(connection, CAPTURE, rows)


def _capture_rows(site: int, capture: Capture, number: int, pack: int, slot: int) -> list[dict[str, int]]:
    """Return the rows of one capture: its own, and one under its key when that is not the URL."""
    flags = IS_PRIVATE if capture.private else 0
    row = {"site": site, "time": capture.time // 1000, "id": number, "pack": pack, "slot": slot}
    rows = [row | {"url": number_of(capture.url), "flags": flags}]
    if capture.key and capture.key != capture.url:
        rows.append(row | {"url": number_of(capture.key), "flags": flags | IS_ALIAS})
    return rows
