"""Which sites compaction takes, and by how many processes: a site is one process's at a time."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from store.base import Plan, StoreError
from store.database import Database
from store.models import ARRIVAL, COMPACTED, Pack, Site
from store.parts import Parts
from store.upkeep import compactions
from store.upkeep.claims import claimed, site_job
from store.upkeep.rewriting import finish, rewrite

GENTLE_PACKS, GENTLE_SHARE = 4, 0.25
"""Packs as they arrived that a site must have to be compacted unasked, and their bytes as a share of its compacted
ones."""


def compact(store: Parts, *, dry_run: bool, gently: bool = False, jobs: int = 1) -> Plan:
    """Rewrite the sites that have packs as they arrived; `gently`, those that have many. With `jobs` above 1 several
    processes do, each a site at a time, the largest sites first."""
    with store.database.read() as connection:
        before = store.database.size(connection)
        query = select(Pack.site, func.count().label("n")).where(Pack.kind == ARRIVAL).group_by(Pack.site)
        packs = {row.site: int(row.n) for row in connection.execute(query)}
        if gently:
            packs = {site: n for site, n in packs.items() if _is_worth_it(connection, site)}
        sites = {row.id: row for row in connection.execute(select(Site.id, Site.name, Site.original))}
    names = {site: sites[site].name if site in sites else str(site) for site in packs}
    if dry_run:
        return Plan(sum(packs.values()), 0, before, before, _notes(packs, names))
    order = sorted(packs, key=lambda site: sites[site].original if site in sites else 0, reverse=True)
    done = {site: n for site, n in _rewritten(store, order, gently=gently, jobs=jobs) if n}
    plan = finish(store, Plan(sum(done.values()), 0, before, before, _notes(done, names)))
    if done:
        # IntegrityError: another process notes one in this moment; a full disk: the compaction counts all the same
        with contextlib.suppress(IntegrityError, StoreError), store.database.write() as connection:
            compactions.note(connection, plan)
    return plan


def _notes(packs: dict[int, int], names: dict[int, str]) -> tuple[str, ...]:
    return tuple(f"{names[site]}: {n} packs as they arrived" for site, n in sorted(packs.items()))


def _rewritten(store: Parts, sites: Sequence[int], *, gently: bool, jobs: int) -> Iterator[tuple[int, int]]:
    """Rewrite sites; yield each, and how many packs as they arrived it has no more."""
    if min(jobs, len(sites)) < 2:
        yield from ((site, _rewrite_alone(store, site, gently=gently)) for site in sites)
        return
    url = store.database.url.render_as_string(hide_password=False)
    workers = ProcessPoolExecutor(
        min(jobs, len(sites)), mp_context=get_context("spawn"), initializer=_begin, initargs=(url,)
    )
    with workers as pool:
        asked = {pool.submit(_rewrite_here, site, gently): site for site in sites}
        try:
            for answer in as_completed(asked):
                yield asked[answer], answer.result()
        except BrokenProcessPool as error:
            name = store.database.name
            raise StoreError(f"{name}: a process that compacted was killed; what was done is kept") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_store: Parts | None = None
"""In a worker process, the store it has open."""


def _begin(url: str) -> None:
    global _store
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # to be ended at any moment is what compaction is made for
    _store = Parts(Database(url))


def _rewrite_here(site: int, gently: bool) -> int:
    assert _store is not None
    return _rewrite_alone(_store, site, gently=gently)


def _rewrite_alone(store: Parts, site: int, *, gently: bool) -> int:
    """Rewrite a site unless another process is at it, or was since the site was chosen; return how many packs as they
    arrived it has no more."""
    with claimed(store.database, site_job(site)) as mine:
        if not mine:
            return 0
        with store.database.read() as connection:
            before = _arrived(connection, site)
            wanted = before and (not gently or _is_worth_it(connection, site))
        if not wanted:
            return 0
        rewrite(store, site)
        with store.database.read() as connection:
            return max(0, before - _arrived(connection, site))


def _arrived(connection: Connection, site: int) -> int:
    query = select(func.count()).where(Pack.site == site, Pack.kind == ARRIVAL)
    return int(connection.execute(query).scalar() or 0)


def _is_worth_it(connection: Connection, site: int) -> bool:
    """Tell whether a site has enough new bytes to be compacted unasked."""
    size = func.sum(func.length(Pack.head) + func.length(Pack.body))
    kinds = select(Pack.kind, size, func.count()).where(Pack.site == site).group_by(Pack.kind)
    sizes = {kind: (int(n_bytes), int(n)) for kind, n_bytes, n in connection.execute(kinds)}
    (new, n), (old, _) = sizes.get(ARRIVAL, (0, 0)), sizes.get(COMPACTED, (0, 0))
    return n >= GENTLE_PACKS and new >= GENTLE_SHARE * old
