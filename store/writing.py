"""The way into the database: captures are built into packs first, then written in one short transaction."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import Connection, Table, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from blocks.model import Capture
from store.base import StoreUnavailable
from store.building import BASE_BYTES, Builder, NewPack
from store.copying import add_rows
from store.database import Database
from store.kinds import is_page
from store.known import LARGE_BYTES, Known
from store.models import IS_ALIAS, IS_PRIVATE, PRIVATE, CaptureRow, Need, Pack, Site
from store.names import number_of, site_id
from store.packs import DamagedPack, Head
from store.reading import Gone, Reader

CAPTURE: Table = CaptureRow.metadata.tables["capture"]

KNOWN_BYTES = 128 << 20
"""What a writer remembers of all sites; the least recently written are forgotten beyond it."""

SITE_BYTES = 64 << 20
"""Raw bodies of one site that are loaded: its base and its newest packs. Blocks of others may be kept again."""

ATTEMPTS = 4
IDS_AT_ONCE = 256


@dataclass(slots=True)
class _Prepared:
    known: Known
    packs: list[NewPack]


class Writer:
    """Keeps captures for one process."""

    def __init__(self, database: Database, reader: Reader, site_of: Callable[[str], str]) -> None:
        self._database, self._reader, self._site_of = database, reader, site_of
        self._sites: OrderedDict[str, Known] = OrderedDict()
        self._ids: deque[int] = deque()

    def forget(self) -> None:
        """Drop what is remembered of all sites."""
        self._sites.clear()

    def keep(self, captures: Sequence[Capture]) -> list[int]:
        """Keep all in one transaction and return their ids."""
        for _ in range(ATTEMPTS):
            try:
                return self._keep(captures)
            except (IntegrityError, Gone):  # another process has moved or deleted packs we know
                self.forget()
            except BaseException:
                self.forget()
                raise
        raise StoreUnavailable(f"{self._database.name}: its packs kept changing; try again")

    def _keep(self, captures: Sequence[Capture]) -> list[int]:
        by_site: dict[str, list[Capture]] = defaultdict(list)
        for capture in captures:
            by_site[self._site_of(capture.url)].append(capture)
        self._reserve(len(captures) + len(by_site))
        knowns = self._knowns(by_site)
        prepared = []
        for name, known in knowns.items():
            builder = Builder(known, self._numbers())
            for capture in by_site[name]:
                builder.add(capture)
            builder.flush()
            prepared.append(_Prepared(known, builder.take()))
        ids = [self._number() for _ in captures]
        positions: dict[int, deque[int]] = defaultdict(deque)
        for position, capture in enumerate(captures):
            positions[id(capture)].append(position)
        prepared.sort(key=lambda p: p.known.site)  # one order for all writers: no deadlock
        with self._database.write() as connection:
            for site in prepared:
                self._insert(connection, site, ids, positions)
        self._bound()
        return ids

    def _insert(
        self, connection: Connection, site: _Prepared, ids: list[int], positions: dict[int, deque[int]]
    ) -> None:
        known, packs = site.known, site.packs
        captures = list(chain.from_iterable(pack.captures for pack in packs))
        urls = {number_of(capture.url) for capture in captures}
        writes = add_totals(
            connection,
            known,
            captures=len(captures),
            pages=len(urls) - len(present_urls(connection, known.site, urls)),
            blocks=sum(pack.blocks for pack in packs),
            original=sum(size for pack in packs for size in pack.sizes),
            exact=sum(pack.exact for pack in packs),
            block=sum(pack.raw + pack.recipes for pack in packs),
        )
        if writes != known.writes + 1:
            known.writes = -1  # someone else has written: look again before the next time
        else:
            known.writes = writes
        insert_packs(connection, known.site, packs)
        rows = []
        for pack in packs:
            for slot, capture in enumerate(pack.captures):
                number = ids[positions[id(capture)].popleft()]
                rows.extend(capture_rows(known.site, capture, number, pack.id, slot))
        add_rows(connection, CAPTURE, rows)

    def _numbers(self) -> Iterator[int]:
        while True:
            yield self._number()

    def _number(self) -> int:
        if not self._ids:
            self._reserve(1)
        return self._ids.popleft()

    def _reserve(self, n: int) -> None:
        if len(self._ids) >= n:
            return
        n = max(n, IDS_AT_ONCE)
        with self._database.write() as connection:
            last = take_ids(connection, n)
        self._ids.extend(range(last - n, last))

    def _knowns(self, names: Iterator[str] | dict[str, list[Capture]]) -> dict[str, Known]:
        """Return what is known of each site, loaded or brought up to date."""
        found: dict[str, Known] = {}
        with self._database.read() as connection:
            for name in names:
                known = self._sites.pop(name, None)
                if known is None:
                    number, _ = site_id(connection, name)
                    known = Known(number, name, lambda pack: b"")
                writes = connection.execute(select(Site.writes).where(Site.id == known.site)).scalar() or 0
                if writes != known.writes:
                    self._load(connection, known)
                    known.writes = writes
                known.load = self._loader(known.site)
                self._sites[name] = found[name] = known
        return found

    def _loader(self, site: int) -> Callable[[int], bytes]:
        def load(pack: int) -> bytes:
            with self._database.read() as connection:
                return self._reader.raw(connection, site, pack)

        return load

    def _load(self, connection: Connection, known: Known) -> None:
        """Bring what is known of a site up to its packs: forget those that are gone, learn the new ones."""
        query = select(Pack.id, Pack.base, Pack.raw).where(Pack.site == known.site, Pack.kind != PRIVATE)
        rows = {row.id: row for row in connection.execute(query.order_by(Pack.id)).all()}
        known.forget(known.sizes.keys() - rows.keys())
        bases = [row.base for row in rows.values() if row.base]
        known.base = bases[-1] if bases else known.base
        wanted, room = [], SITE_BYTES
        for row in sorted(rows.values(), key=lambda r: (r.id == known.base, r.id), reverse=True):
            if row.id not in known.sizes and row.raw <= room:
                room -= row.raw
                wanted.append(row.id)
        heads: dict[int, Head] = {}
        for number in sorted(wanted):
            try:
                heads[number] = head = self._reader.head(connection, known.site, number)
                if _is_large(head, rows[number].raw):
                    known.sizes[number] = rows[number].raw
                else:
                    known.add_pack(number, self._reader.raw(connection, known.site, number))
            except DamagedPack:  # nothing new will refer to it; check names what it damages
                heads.pop(number, None)
        seen: dict[int, list[tuple[int, int]]] = {}
        for number, head in heads.items():
            known.learn(number, head, seen)
            if not known.base and rows[number].raw >= BASE_BYTES and number in known.raws:
                known.base = number
        if known.base:
            known.base_head = self._reader.raw_head(connection, known.site, known.base)

    def _bound(self) -> None:
        sizes = {name: known.n_bytes for name, known in self._sites.items()}
        total = sum(sizes.values())
        while total > KNOWN_BYTES and len(self._sites) > 1:
            name, _ = self._sites.popitem(last=False)
            total -= sizes[name]


def _is_large(head: Head, raw: int) -> bool:
    return len(head.captures) == 1 and raw > LARGE_BYTES and not is_page(head.captures[0])


def take_ids(connection: Connection, n: int) -> int:
    """Take `n` numbers from the store's counter; return the one after the last."""
    query = "update meta set value = cast(cast(value as bigint) + :n as text) where name = 'next' returning value"
    return int(connection.execute(text(query), {"n": n}).scalar_one())


def present_urls(connection: Connection, site: int, urls: set[int]) -> set[int]:
    """Return those numbers of URLs that have a capture on the site."""
    present: set[int] = set()
    numbers = sorted(urls)
    for start in range(0, len(numbers), 500):
        query = (
            select(CaptureRow.url)
            .where(CaptureRow.site == site, CaptureRow.url.in_(numbers[start : start + 500]))
            .where(CaptureRow.flags.op("&")(IS_ALIAS) == 0)
        )
        present.update(connection.execute(query.distinct()).scalars())
    return present


def add_totals(connection: Connection, known: Known, **amounts: int) -> int:
    """Add to a site's totals, making its row if it has none; return its count of writes, this one included."""
    columns = {name: getattr(Site, name) + amount for name, amount in amounts.items()}
    query = update(Site).where(Site.id == known.site, Site.name == known.name)
    writes = connection.execute(query.values(writes=Site.writes + 1, **columns).returning(Site.writes)).scalar()
    if writes is None:
        connection.execute(insert(Site).values(id=known.site, name=known.name, writes=1, **amounts))
        writes = 1
    return int(writes)


def insert_packs(connection: Connection, site: int, packs: Sequence[NewPack]) -> None:
    """Write packs and what they need."""
    columns = ("id", "kind", "base", "raw", "blocks", "recipes", "head", "body")
    connection.execute(
        insert(Pack), [{"site": site, **{name: getattr(pack, name) for name in columns}} for pack in packs]
    )
    needs = [{"site": site, "needs": needed, "pack": pack.id} for pack in packs for needed in pack.needs]
    if needs:
        connection.execute(insert(Need), needs)


def capture_rows(site: int, capture: Capture, number: int, pack: int, slot: int) -> list[dict[str, int]]:
    """Return the rows of one capture: its own, and one under its key when that is not the URL."""
    flags = IS_PRIVATE if capture.private else 0
    row = {"site": site, "time": capture.time // 1000, "id": number, "pack": pack, "slot": slot}
    rows = [row | {"url": number_of(capture.url), "flags": flags}]
    if capture.key and capture.key != capture.url:
        rows.append(row | {"url": number_of(capture.key), "flags": flags | IS_ALIAS})
    return rows
