"""The way into the database: captures are built into packs first, then written in one short transaction."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence

from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from blocks.model import Capture
from store.base import StoreUnavailable
from store.database import Database
from store.models import PRIVATE, Pack
from store.names import site_id
from store.packing.building import BASE_BYTES, Builder
from store.packing.kinds import is_page
from store.packing.known import LARGE_BYTES, Known
from store.packing.making import ON_ARRIVAL
from store.packing.packs import DamagedPack, Head
from store.reading import Gone, Reader
from store.rows import Prepared, add_captures, add_totals, insert_packs, take_ids, writes_of

KNOWN_BYTES = 128 << 20
"""What a writer remembers of all sites; the least recently written are forgotten beyond it."""

SITE_BYTES = 64 << 20
"""Raw bodies of one site that are loaded: its base and its newest packs. Blocks of others may be kept again."""

ATTEMPTS = 4
IDS_AT_ONCE = 256


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
        plain = ON_ARRIVAL.codec()
        for name, known in knowns.items():
            builder = Builder(known, self._numbers(), plain=plain)
            for capture in by_site[name]:
                builder.add(capture)
            builder.flush()
            prepared.append(Prepared(known, builder.take()))
        ids = [self._number() for _ in captures]
        unwritten: dict[int, deque[int]] = defaultdict(deque)
        for capture, number in zip(captures, ids, strict=True):
            unwritten[id(capture)].append(number)
        prepared.sort(key=lambda p: p.known.site)  # one order for all writers: no deadlock
        with self._database.write() as connection:
            add_totals(connection, prepared)
            insert_packs(connection, [(site.known.site, site.packs) for site in prepared])
            add_captures(connection, prepared, lambda capture: unwritten[id(capture)].popleft())
        self._bound()
        return ids

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
        stale: list[tuple[Known, int]] = []
        with self._database.snapshot() as source:
            for name in names:
                known = self._sites.pop(name, None) or Known(site_id(source, name)[0], name, lambda pack: b"")
                if (writes := writes_of(source, known.site)) != known.writes:
                    stale.append((known, writes))
                known.load = self._loader(known.site)
                self._sites[name] = found[name] = known
        for known, writes in stale:
            with self._database.read() as connection:
                self._load(connection, known)
            known.writes = writes  # or fewer than there are by now: then it is loaded again the next time
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
