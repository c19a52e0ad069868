"""Several processes on one store at once, and processes that die."""

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event

import pytest

from blocks.model import Capture
from store.base import StoreUnavailable
from store.opening import open_store
from tests.store.conftest import page, site_pages

spawn = multiprocessing.get_context("spawn")


def _captures(writer: int, n: int = 40) -> list[Capture]:
    return [*site_pages(n, "shared.test"), *site_pages(n, f"own{writer}.test")]


def _write(url: str, writer: int, ready: Event, compacts: bool) -> None:
    store = open_store(url)
    ready.wait(30)
    captures = _captures(writer)
    for start in range(0, len(captures), 5):
        store.keep(captures[start : start + 5])
        if compacts and start % 20 == 0:
            store.compact()
    store.close()


def test_two_writers_lose_nothing_while_one_compacts(database_url: str) -> None:
    open_store(database_url).close()
    ready = spawn.Event()
    writers = [spawn.Process(target=_write, args=(database_url, i, ready, i == 0)) for i in range(2)]
    for writer in writers:
        writer.start()
    ready.set()
    for writer in writers:
        writer.join(120)
        assert writer.exitcode == 0
    store = open_store(database_url)
    expected = Counter(_captures(0)) + Counter(_captures(1))
    assert Counter(store.read(record) for record in store.captures()) == expected
    assert store.check() == (160, [])
    store.compact()
    assert Counter(store.read(record) for record in store.captures()) == expected
    store.close()


def _write_until_killed(url: str, seed: int, acknowledged: Connection) -> None:
    store = open_store(url)
    for i in range(10_000):
        batch = [
            page(f"http://a.test/{seed}/{i}/{k}", b"<p>menu<p>%d" % (seed * 7919 + i * 31 + k) * 50) for k in range(3)
        ]
        store.keep(batch)
        acknowledged.send([(c.url, c.body) for c in batch])
        if i % 7 == 3:
            store.compact()
        if i % 11 == 5:
            store.purge(f"http://a.test/{seed}/{i}/1")
            acknowledged.send([(f"http://a.test/{seed}/{i}/1", b"")])


def test_what_was_acknowledged_survives_kill_9(database_url: str) -> None:
    """Writers that also compact and purge are killed at random moments; the store opens, and nothing is missing."""
    rng = random.Random(7)
    expected: dict[str, bytes] = {}
    open_store(database_url).close()
    for seed in range(6):
        receiver, sender = spawn.Pipe(duplex=False)
        writer = spawn.Process(target=_write_until_killed, args=(database_url, seed, sender))
        writer.start()
        sender.close()
        expected.update(receiver.recv())
        time.sleep(rng.uniform(0.0, 0.6))
        os.kill(writer.pid or 0, signal.SIGKILL)
        writer.join()
        try:
            while True:
                expected.update(receiver.recv())
        except EOFError:
            pass
        receiver.close()
        store = open_store(database_url)
        found = {record.capture.url: store.read(record).body for record in store.captures()}
        missing = {url: body for url, body in expected.items() if body and found.get(url) != body}
        late = {url for url, body in expected.items() if not body and url in found}
        # a purge may have committed without its acknowledgement
        assert {url for url in missing if not url.endswith("/1")} == set()
        assert late == set()
        assert store.check()[1] == []
        store.close()


def test_a_full_disk_keeps_what_was_there(tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    store = open_store(url)
    kept = site_pages(20)
    store.keep(kept)
    database = store.database  # type: ignore[attr-defined]
    with database.write() as connection:
        n_pages = connection.exec_driver_sql("pragma page_count").scalar()
        connection.exec_driver_sql(f"pragma max_page_count={n_pages + 4}")
    noise = [page(f"http://b.test/{i}", random.Random(i).randbytes(20_000)) for i in range(20)]
    with pytest.raises(StoreUnavailable, match="full"):
        store.keep(noise)
    assert Counter(store.read(record) for record in store.captures()) == Counter(kept)
    with database.write() as connection:
        connection.exec_driver_sql("pragma max_page_count=100000")
    store.keep(noise)
    assert store.check() == (40, [])
    store.close()
