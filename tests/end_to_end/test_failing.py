"""Disks fill up, databases stop, processes are killed: pages pass, what is lost is counted, the rest is there."""

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import psutil
import pytest

from store.opening import open_store
from tests.end_to_end.program import Program, ask
from tests.origin import Origin, Page

COMMITTED = "pagemason_captures_committed_total"


def page_of(path: str) -> Page:
    """Return a page of some kB that is the same for the same path, and mostly new for another."""
    words = random.Random(path)
    lines = b"".join(b"<p>%d of %s</p>\n" % (words.getrandbits(64), path.encode()) for _ in range(60))
    return Page(b"<html><table><tr><td>menu of all pages</td></tr></table>" + lines + b"</html>")


class Traffic:
    """A client that asks for one new page after the other, until told to stop; `bodies` are what it was given."""

    def __init__(self, program: Program, origin: Origin, prefix: str) -> None:
        self.bodies: dict[str, bytes] = {}
        self.slowest_seconds = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(program, origin, prefix))
        self._thread.start()

    def _run(self, program: Program, origin: Origin, prefix: str) -> None:
        connection = program.connect(origin.url("/"))
        try:
            n = 0
            while not self._stop.is_set():
                n += 1
                url = origin.url(f"/{prefix}/{n}")
                before = time.monotonic()
                self.bodies[url] = ask(connection, url).body
                self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - before)
                self._stop.wait(0.002)
        except (OSError, HTTPException):
            pass  # the proxy was killed: that is what some tests are about
        finally:
            connection.close()

    def stop(self) -> None:
        """End it."""
        self._stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive()


@pytest.fixture
def pages(origin: Origin) -> Origin:
    origin.otherwise = page_of
    return origin


def wait_for(true: Callable[[], bool], what: str, timeout_seconds: float = 60) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + timeout_seconds
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def kept_in(store_url: str) -> dict[str, bytes]:
    """Return the bodies a store has, by URL, after a check of all of it."""
    store = open_store(store_url)
    try:
        n_captures, findings = store.check()
        assert findings == []
        bodies = {}
        for record in store.captures():
            assert record.capture.url not in bodies, "kept twice"
            bodies[record.capture.url] = store.read(record).body
        assert len(bodies) == n_captures
        return bodies
    finally:
        store.close()


@pytest.mark.parametrize("seed", range(int(os.environ.get("PAGEMASON_CRASHES", "3"))))
def test_a_killed_proxy_has_kept_what_it_said_it_had(tmp_path: Path, pages: Origin, seed: int) -> None:
    with Program(tmp_path) as program:
        traffic = [Traffic(program, pages, f"{seed}-{n}") for n in range(3)]
        time.sleep(0.3 + random.Random(seed).random())
        acknowledged = program.metric(COMMITTED)
        children = psutil.Process(program.process.pid).children(recursive=True)
        program.stop(signal.SIGKILL)
        for one in traffic:
            one.stop()
        psutil.wait_procs(children, timeout=60)  # the writer writes what it was given, then finds its proxy gone
    bodies = kept_in(program.store)
    assert len(bodies) >= acknowledged
    for url, body in bodies.items():
        assert body == page_of(url.removeprefix(pages.url(""))).body


def test_a_killed_writer_is_replaced_and_nothing_is_lost(tmp_path: Path, pages: Origin) -> None:
    with Program(tmp_path) as program:
        traffic = Traffic(program, pages, "x")
        for _ in range(3):
            time.sleep(0.4)
            for child in psutil.Process(program.process.pid).children():
                if "resource_tracker" not in " ".join(child.cmdline()):
                    child.kill()
        time.sleep(0.4)
        traffic.stop()
        program.settle()
        assert program.metric("pagemason_writer_restarts_total") >= 1
        assert program.metric("pagemason_not_kept_total") == 0
        assert program.stop() == 0
    assert kept_in(program.store) == traffic.bodies


def test_sigterm_writes_out_the_queue(tmp_path: Path, pages: Origin) -> None:
    with Program(tmp_path) as program:
        traffic = Traffic(program, pages, "x")
        time.sleep(1)
        traffic.stop()
        assert program.stop() == 0
    assert kept_in(program.store) == traffic.bodies


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a tmpfs can only be mounted by root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write to a file until the disk is full."""
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


def test_a_full_disk_loses_pages_not_answers_and_recovers(tmp_path: Path, tiny_disk: Path, pages: Origin) -> None:
    ballast = tiny_disk / "ballast"
    with Program(tmp_path, "--set=queue_bytes=300000", store=f"sqlite:///{tiny_disk / 'store.db'}") as program:
        assert program.get(pages.url("/first")).status == 200
        program.settle()
        fill(ballast)
        traffic = Traffic(program, pages, "full")
        wait_for(lambda: program.metric("pagemason_not_kept_total") > 10, "losses are counted")
        traffic.stop()
        assert all(body == page_of(url.removeprefix(pages.url(""))).body for url, body in traffic.bodies.items())
        assert "not kept" in program.log.read_text()
        ballast.unlink()
        program.settle(60)
        lost = program.metric("pagemason_not_kept_total")
        assert program.get(pages.url("/after")).status == 200
        program.settle()
        assert program.metric("pagemason_not_kept_total") == lost
        assert program.stop() == 0
    bodies = kept_in(program.store)
    assert {pages.url("/first"), pages.url("/after")} <= set(bodies)
    assert len(bodies) == len(traffic.bodies) + 2 - lost


def test_a_postgres_that_stops_and_dies_slows_nothing_down(
    tmp_path: Path, pages: Origin, pg_server: Any, pg_url: str
) -> None:
    with Program(tmp_path, store=pg_url) as program:
        assert program.get(pages.url("/first")).status == 200
        program.settle()
        postmaster = pg_server.get_pid()
        family = [postmaster, *(child.pid for child in psutil.Process(postmaster).children())]
        for pid in family:
            os.kill(pid, signal.SIGSTOP)
        stopped = Traffic(program, pages, "stopped")
        time.sleep(6)
        for pid in family:
            os.kill(pid, signal.SIGKILL)
        dead = Traffic(program, pages, "dead")
        time.sleep(2)
        for traffic in (stopped, dead):
            traffic.stop()
            assert len(traffic.bodies) > 20
            assert traffic.slowest_seconds < 5
        assert program.metric("pagemason_store_read_failures_total") > 0
        assert program.dashboard("/-/ready").status == 503
        assert program.get(pages.url("/first")).is_hit  # a hot page
        wait_for(lambda: not psutil.pid_exists(postmaster), "the postmaster is gone")
        pg_server.start()
        program.settle(90)
        wait_for(lambda: program.dashboard("/-/ready").status == 200, "it recovers")
        assert program.get(pages.url("/after")).status == 200
        program.settle()
        lost = program.metric("pagemason_not_kept_total")
        assert "trying again" in program.log.read_text()
        assert program.stop() == 0
    bodies = kept_in(program.store)
    expected = {**stopped.bodies, **dead.bodies}
    assert {pages.url("/first"), pages.url("/after")} <= set(bodies)
    assert len(bodies) == len(expected) + 2 - lost
    assert all(bodies[url] == body for url, body in expected.items() if url in bodies)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_two_proxies_on_one_store_lose_nothing(
    tmp_path: Path, pages: Origin, kind: str, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}" if kind == "sqlite" else request.getfixturevalue("pg_url")
    for name in "ab":
        (tmp_path / name).mkdir()
    with Program(tmp_path / "a", store=url) as one, Program(tmp_path / "b", store=url) as two:
        traffic = [Traffic(program, pages, f"{n}") for n, program in enumerate((one, two, one, two))]
        time.sleep(2)
        for each in traffic:
            each.stop()
        known = next(iter(traffic[0].bodies))
        one.settle()
        assert two.get(known).is_hit  # what one has kept the other gives
        assert one.stop() == two.stop() == 0
        for program in (one, two):
            assert "not kept" not in program.log.read_text()
    expected: dict[str, bytes] = {}
    for each in traffic:
        expected |= each.bodies
    assert kept_in(url) == expected
