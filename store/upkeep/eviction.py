"""Staying within a budget: which packs have to go is decided first, then they go, one transaction a pack.

The unit is a pack: pages that arrived together, or neighbours of a compacted site. Coldest first, where the time since
the last use of any of its pages counts in powers of two; among equally cold ones the one that frees most. What a pack
frees is its own bytes when nothing that stays needs it; a base goes after all that needs it. Packs with pages that
went but which others need are written anew with these (`store.upkeep.trimming`), and free about half of their bytes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from sqlalchemy import Connection, delete, func, select

from store import uses
from store.base import Budget, Plan, Record
from store.finding import CAPTURE
from store.models import IS_ALIAS, Need, Pack, Site
from store.packing.packs import DamagedPack
from store.parts import Parts
from store.reading import Gone
from store.upkeep.claims import EVICTION, claimed
from store.upkeep.removing import forget
from store.upkeep.rewriting import finish
from store.upkeep.trimming import trim

ROUNDS = 4
ROW_BYTES = 80
"""What a capture costs beside its pack, about, alias included."""

ENOUGH = 0.3
"""A pack does not go for less than this share of its bytes."""

HELD_SHARE = 0.5
"""Share of a pack's bytes that becomes free when it is written anew because its pages went and others need it."""

Key = tuple[int, int]
"""A pack: its site and its id."""


@dataclass(slots=True)
class _Packs:
    """All packs of a store, or of one site: bytes, minute of the last use, and what needs what."""

    sizes: dict[Key, int] = field(default_factory=dict)
    used: dict[Key, int] = field(default_factory=dict)
    needs: dict[Key, set[Key]] = field(default_factory=lambda: defaultdict(set))
    pins: Counter[Key] = field(default_factory=Counter)
    """How many packs that stay need a pack."""


def choose(packs: _Packs, excess: int, minute: int) -> list[Key]:
    """Return the packs whose captures must go so that about `excess` bytes become free, coldest first."""
    used = dict(packs.used)
    for pack, needed in packs.needs.items():
        for base in needed & used.keys():
            used[base] = max(used[base], used.get(pack, 0))

    def cold(pack: Key) -> tuple[int, bool, int]:
        idle = max(0, minute - used[pack])
        return -idle.bit_length(), bool(packs.pins[pack]), -packs.sizes[pack]

    pins, freed = Counter(packs.pins), 0
    chosen: list[Key] = []
    free: set[Key] = set()
    order = sorted(used, key=cold)
    for pack in order:
        if freed >= excess or (chosen and excess - freed < ENOUGH * packs.sizes[pack]):
            break
        chosen.append(pack)
        if pins[pack]:
            freed += int(packs.sizes[pack] * HELD_SHARE)
            continue
        ready = [pack]
        while ready:
            gone = ready.pop()
            if gone in free:
                continue
            free.add(gone)
            freed += packs.sizes[gone]
            for base in packs.needs.get(gone, ()):
                pins[base] -= 1
                if not pins[base] and base not in packs.used:
                    ready.append(base)
    return chosen


def evict(store: Parts, budget: Budget, now: int, *, dry_run: bool) -> Plan:
    """Bring a store within its budget, unless another process is at it; `now` is in seconds since the epoch."""
    with claimed(store.database, EVICTION) as mine:
        if mine:
            return _evict(store, budget, now, dry_run=dry_run)
    with store.database.read() as connection:
        size = store.database.size(connection)
    return Plan(0, 0, size, size, ("another process makes room",))


def _evict(store: Parts, budget: Budget, now: int, *, dry_run: bool) -> Plan:
    store.database.shrink()  # what the log holds twice, and what is free, is no reason to evict
    with store.database.read() as connection:
        before = store.database.size(connection)
    notes: list[str] = []
    n_packs = _expire(store, budget, now, notes, dry_run=dry_run)
    n_packs += _bound_sites(store, budget, now, notes, dry_run=dry_run)
    plan = Plan(0, n_packs, before, before, tuple(notes))
    if n_packs and not dry_run:
        plan = finish(store, plan)
    for _ in range(1 if dry_run else ROUNDS):
        more = _bound_store(store, budget, now, notes, again=bool(plan.drop), dry_run=dry_run)
        if not more:
            break
        plan = Plan(0, plan.drop + more, before, before, tuple(notes))
        if not dry_run:
            plan = finish(store, plan)
    return plan


def _expire(store: Parts, budget: Budget, now: int, notes: list[str], *, dry_run: bool) -> int:
    """Delete the captures that are too old; return the number of packs they were in."""
    if not budget.max_age_seconds:
        return 0
    last = (now - budget.max_age_seconds) * 1000
    with store.database.read() as connection:
        query = select(CAPTURE.c.site, CAPTURE.c.pack).where(CAPTURE.c.time < last).distinct()
        packs = sorted((row.site, row.pack) for row in connection.execute(query))
    if packs:
        notes.append(f"{len(packs)} packs with captures older than {budget.max_age_seconds / 86400:g} days")
    if not dry_run:
        _remove(store, packs, last)
    return len(packs)


def _bound_sites(store: Parts, budget: Budget, now: int, notes: list[str], *, dry_run: bool) -> int:
    if not budget.max_site_bytes:
        return 0
    n_packs = 0
    with store.database.read() as connection:
        size = func.sum(func.length(Pack.head) + func.length(Pack.body))
        sites = {row[0]: int(row[1]) for row in connection.execute(select(Pack.site, size).group_by(Pack.site))}
        names = {row.id: row.name for row in connection.execute(select(Site.id, Site.name))}
    for site, occupied in sorted(sites.items()):
        if occupied <= budget.max_site_bytes:
            continue
        with store.database.read() as connection:
            packs = _read(connection, site)
        excess = int(occupied - budget.low_water * budget.max_site_bytes)
        chosen = choose(packs, excess, now // 60)
        n_packs += len(chosen)
        notes.append(f"{names.get(site, site)}: {occupied} bytes, {excess} too many: {len(chosen)} packs to drop")
        if not dry_run:
            _remove(store, chosen)
    return n_packs


def _bound_store(store: Parts, budget: Budget, now: int, notes: list[str], *, again: bool, dry_run: bool) -> int:
    """Evict down to the low-water mark when the store is above the high one, or was in the round before."""
    if not budget.max_store_bytes:
        return 0
    with store.database.read() as connection:
        occupied = store.database.size(connection)
        mark = budget.low_water if again else budget.high_water
        if occupied <= mark * budget.max_store_bytes:
            return 0
        packs = _read(connection)
    excess = int(occupied - budget.low_water * budget.max_store_bytes)
    fixed = min(store.database.empty_bytes, occupied // 2)
    share = min(1.0, excess / (occupied - fixed))  # rows and pages cost more than the packs they hold
    chosen = choose(packs, int(share * sum(packs.sizes.values())), now // 60)
    if chosen:
        notes.append(f"store: {occupied} bytes, {excess} too many: {len(chosen)} packs to drop")
    if not dry_run:
        _remove(store, chosen)
    return len(chosen)


def _read(connection: Connection, site: int | None = None) -> _Packs:
    found = _Packs()
    size = func.length(Pack.head) + func.length(Pack.body)
    queries = (
        select(Pack.site, Pack.id, size.label("size")),
        select(Need.site, Need.pack, Need.needs),
        select(CAPTURE.c.site, CAPTURE.c.pack, CAPTURE.c.url, CAPTURE.c.time),
    )
    packs, needs, rows = (q if site is None else q.where(q.selected_columns.site == site) for q in queries)
    for row in connection.execute(packs):
        found.sizes[row.site, row.id] = row.size
    for row in connection.execute(needs):
        found.needs[row.site, row.pack].add((row.site, row.needs))
        found.pins[row.site, row.needs] += 1
    by_site: dict[int, uses.Uses] = {}
    for row in connection.execute(rows):
        key = row.site, row.pack
        if row.site not in by_site:
            by_site[row.site] = uses.load(connection, row.site)
        minute = max(row.time // 60_000, by_site[row.site].get(row.url, 0))
        found.used[key] = max(minute, found.used.get(key, 0))
        found.sizes[key] = found.sizes.get(key, 0) + ROW_BYTES
    return found


def _remove(store: Parts, packs: list[Key], last: int | None = None) -> None:
    """Delete the captures of packs, those received before `last` milliseconds if given, and then what is unused."""
    for site, pack in packs:
        with store.database.read() as connection:
            query = select(CAPTURE).where(CAPTURE.c.site == site, CAPTURE.c.pack == pack)
            rows = [row for row in connection.execute(query) if last is None or row.time < last]
            try:
                own = [row for row in rows if not row.flags & IS_ALIAS]
                records: list[Record] | None = store.finder.records(connection, own)
            except (DamagedPack, Gone):
                records = None
        with store.database.write() as connection:
            if records is not None:
                forget(connection, site, records)
            else:
                key = CAPTURE.c.site == site, CAPTURE.c.pack == pack
                connection.execute(delete(CAPTURE).where(*key, CAPTURE.c.id.in_([row.id for row in rows])))
    for site in sorted({site for site, _ in packs}):
        trim(store, site, erase=False)
