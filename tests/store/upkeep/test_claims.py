"""Jobs on a store that several processes share: each is done by one, and nothing is left of one that dies."""

import multiprocessing
import os
import signal
import time
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

from sqlalchemy import select

from store.base import Budget
from store.database import Database
from store.models import Pack
from store.opening import open_store
from store.sql import SqlStore
from store.upkeep.claims import EVICTION, claimed, site_job
from tests.store.conftest import site_pages

spawn = multiprocessing.get_context("spawn")

N_SITES = 6


def _filled(url: str) -> SqlStore:
    """Return a store with some sites, each in several packs as they arrived."""
    store = open_store(url)
    assert isinstance(store, SqlStore)
    for number in range(N_SITES):
        pages = site_pages(24, f"site{number}.test")
        for start in range(0, 24, 4):
            store.keep(pages[start : start + 4])
    return store


def _compact(url: str, ready: Barrier, told: Connection) -> None:
    store = open_store(url)
    ready.wait(60)
    told.send(store.compact().notes)
    store.close()


def test_two_processes_that_compact_share_the_sites_out(database_url: str) -> None:
    store = _filled(database_url)
    ready = spawn.Barrier(2)
    pipes = [spawn.Pipe(duplex=False) for _ in range(2)]
    workers = [spawn.Process(target=_compact, args=(database_url, ready, sender)) for _, sender in pipes]
    for worker in workers:
        worker.start()
    done = [receiver.recv() for receiver, _ in pipes]
    for worker in workers:
        worker.join(60)
    if "postgres" in database_url:
        sites = [note.split(":")[0] for notes in done for note in notes]
        assert sorted(sites) == [f"site{number}.test" for number in range(N_SITES)]
    assert store.check() == (24 * N_SITES, [])
    with store.database.read() as connection:
        assert {*connection.execute(select(Pack.kind)).scalars()} == {1}
    store.close()


def _hold(url: str, jobs: list[str], told: Connection) -> None:
    database = Database(url)
    with claimed(database, jobs[0]) as one, claimed(database, jobs[1]) as other:
        told.send((one, other))
        time.sleep(600)


def test_a_claim_ends_with_the_process_that_has_it(pg_url: str) -> None:
    store = _filled(pg_url)
    site = store.find("http://site5.test/page/0")[0].place[0]
    receiver, sender = spawn.Pipe(duplex=False)
    holder = spawn.Process(target=_hold, args=(pg_url, [site_job(site), EVICTION], sender))
    holder.start()
    assert receiver.recv() == (True, True)
    assert len(store.compact().notes) == N_SITES - 1
    assert store.purge("http://site5.test/page/1") == 1  # a purge waits for no claim
    store.keep(site_pages(4, "site5.test"))
    assert store.evict(Budget(max_store_bytes=1), 0).notes == ("another process makes room",)
    os.kill(holder.pid or 0, signal.SIGKILL)
    holder.join()
    deadline = time.monotonic() + 60
    while not store.compact().notes:
        assert time.monotonic() < deadline, "the claim of a process that is gone is still there"
        time.sleep(0.05)
    assert store.check()[1] == []
    store.close()


def test_a_claim_is_one_process_s_and_one_job_s(pg_url: str) -> None:
    one, other = Database(pg_url), Database(pg_url)
    with claimed(one, "a") as first, claimed(other, "a") as second, claimed(other, "b") as third:
        assert (first, second, third) == (True, False, True)
    with claimed(other, "a") as again:
        assert again
    one.close()
    other.close()
