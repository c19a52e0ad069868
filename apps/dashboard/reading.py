"""How the pages of a site are read for the dashboard: in this process, or in one of its own.

A process of its own has an interpreter's lock of its own and less priority: neither answers nor the proxy wait for it.
It is started at the first question, ends with this process or when nobody asks for a while, and is started again at the
next question.
"""

import contextlib
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from apps.site_blocks import SiteBlocks, spread
from extract.protocol import Page, page_of
from extract.registry import extractor
from proxy.views.rendering import evidence_of, pages_of
from store.base import SiteStats, Store, StoreError, StoreUnavailable

BLOCKS = ""
"""In the place of a method's name: on how many pages each block stands."""

Key = tuple[str, str]
"""A site, and the name of a method or BLOCKS."""

Tell = Callable[[int, int], bool]
"""Is told how many captures of how many have been read; says whether to go on."""

TELL_SECONDS = 0.1
"""How often another process tells how far it is."""

KNOWN_AT_ONCE = 250
"""Blocks that come over the pipe in one piece: taking a piece holds the interpreter's lock, about 3 ms."""

LESS_PRIORITY = 10

IDLE_SECONDS = 300.0
"""How long the process stays without a question: it holds some 130 MB."""


class Reading(Protocol):
    """Reads sites, one at a time."""

    @property
    def rests(self) -> bool:
        """Whether it should rest while an answer is made, since both need the same interpreter's lock."""
        ...

    def read(self, key: Key, stats: SiteStats, tell: Tell) -> Any:
        """Return what is known of a site, None when it was told to stop. StoreError."""
        ...

    def close(self) -> None:
        """End, from any thread; what is being read is given up."""
        ...


class Here:
    """Reads in this process; `tell` may rest."""

    rests = True

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, key: Key, stats: SiteStats, tell: Tell) -> Any:
        site, method = key
        if method == BLOCKS:
            return self._count(site, stats, tell)
        return evidence_of(extractor(method), self._pages(site, tell))

    def close(self) -> None:
        """Nothing to do."""

    def _pages(self, site: str, tell: Tell) -> Iterator[Page]:
        rows = pages_of(self._store, site)
        for number, row in enumerate(rows, 1):
            yield page_of(*row)
            if not tell(number, len(rows)):
                raise StoreUnavailable("the dashboard ends")

    def _count(self, site: str, stats: SiteStats, tell: Tell) -> SiteBlocks | None:
        found = SiteBlocks(site, stats, time.monotonic())
        records = self._store.of_site(site)
        found.n_site_captures = len(records)
        sample = spread(records)
        for number, record in enumerate(sample, 1):
            with suppress(StoreError):  # a page that is damaged or gone by now is left out
                found.add(record, self._store.read(record))
            if not tell(number, len(sample)):
                return None
        found.finish()
        found.made = time.monotonic()
        return found


class There:
    """Reads a store in a process of its own. Its messages: progress as two numbers, pieces of `SiteBlocks.known` as
    lists, and at last the value in a tuple of one, or a text that says what went wrong."""

    rests = False

    def __init__(self, store: str, sites: Mapping[str, str]) -> None:
        self._setting = store, dict(sites)
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._lock = threading.Lock()
        self._closed = False

    def read(self, key: Key, stats: SiteStats, tell: Tell) -> Any:
        connection = self._connected()
        try:
            connection.send((key, stats))
            return self._answer(connection, tell)
        except (OSError, EOFError, pickle.UnpicklingError) as exc:
            self._end()
            raise StoreUnavailable("the process that reads sites has ended; it is started again when needed") from exc

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()  # who waits for its answer learns that by the end of the pipe
                self._process.wait()

    def _answer(self, connection: Connection, tell: Tell) -> Any:
        known: list[Any] = []
        while True:
            match connection.recv():
                case list(piece):
                    known += piece
                case (value,):
                    if isinstance(value, SiteBlocks):
                        value.known = known
                    return value
                case (int(n), int(of)):
                    tell(n, of)
                case what:
                    raise StoreError(str(what))

    def _connected(self) -> Connection:
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the dashboard ends")
            if self._connection is not None and self._process is not None and self._process.poll() is not None:
                self._connection.close()
                self._connection = None
            if self._connection is None:
                ours, theirs = socket.socketpair()
                with theirs:
                    command = [sys.executable, "-m", "apps.dashboard.reading", str(theirs.fileno())]
                    folder = Path(__file__).resolve().parent.parent.parent
                    self._process = subprocess.Popen(
                        command, cwd=folder, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
                    )
                self._connection = Connection(ours.detach())
                self._connection.send(self._setting)
            return self._connection

    def _end(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            if self._process is not None:
                self._process.kill()
                self._process.wait()


def give_way(less: int) -> None:
    """Let this process take less of a busy machine, and never push another one from its core by waking up."""
    with suppress(OSError):
        os.nice(less)
    with suppress(OSError, AttributeError):  # Linux only
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def main(connection: Connection) -> None:
    """Answer questions until nobody asks, or nobody is there to ask."""
    give_way(LESS_PRIORITY)
    with suppress(EOFError, ConnectionError, KeyboardInterrupt):
        url, sites = connection.recv()
        with _opened(url, sites) as reading:
            while connection.poll(IDLE_SECONDS):
                key, stats = connection.recv()
                _reply(connection, reading, key, stats)


@contextlib.contextmanager
def _opened(url: str, sites: Mapping[str, str]) -> Iterator[Here]:
    from store.opening import open_store

    store = open_store(url, create=False, read_only=True, sites=sites)
    try:
        yield Here(store)
    finally:
        store.close()


def _reply(connection: Connection, reading: Here, key: Key, stats: SiteStats) -> None:
    told = 0.0

    def tell(n: int, of: int) -> bool:
        nonlocal told
        if time.monotonic() - told > TELL_SECONDS:
            told = time.monotonic()
            connection.send((n, of))
        return True

    try:
        value = reading.read(key, stats, tell)
    except StoreError as exc:
        connection.send(str(exc))
        return
    except ConnectionError:
        raise
    except Exception as exc:  # any method, on any pages
        connection.send(f"{type(exc).__name__}: {exc}")
        return
    if isinstance(value, SiteBlocks):
        known, value.known = value.known, []
        for first in range(0, len(known), KNOWN_AT_ONCE):
            connection.send(known[first : first + KNOWN_AT_ONCE])
    connection.send((value,))


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
