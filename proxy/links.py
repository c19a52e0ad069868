"""The two ways to have a writer: a process of its own, and a thread for a store that lives in this process."""

import multiprocessing
import threading
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Protocol

from proxy import writer
from proxy.operations import Limits
from proxy.upkeep import Chores, NoUpkeep, Upkeep
from store.base import Store


class Link(Protocol):
    """A running writer and the proxy's end of the connection to it."""

    connection: Connection

    def kill(self) -> None:
        """End it at once, whatever it does."""
        ...

    def close(self, seconds: float) -> None:
        """Let it end by itself, and end it when it has not after some seconds."""
        ...


class ProcessLink:
    """A writer in a process of its own: it can be killed, and the proxy's event loop never waits for its work."""

    def __init__(self, url: str, sites: Mapping[str, str], limits: Limits, chores: Chores) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(
            target=writer.main, args=(theirs, url, dict(sites), limits, chores), name="pagemason writer", daemon=True
        )
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        """The process's id."""
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()

    def close(self, seconds: float) -> None:
        self.connection.close()
        self._process.join(seconds)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(5)
        if not self._process.is_alive():
            self._process.close()


class ThreadLink:
    """A writer in a thread, for a store that only this process can see."""

    def __init__(self, store: Store, limits: Limits, chores: Chores | None = None) -> None:
        self.connection, theirs = multiprocessing.Pipe()
        upkeep = NoUpkeep(chores or Chores())
        self._thread = threading.Thread(target=self._run, args=(theirs, store, limits, upkeep), daemon=True)
        self._thread.start()

    @staticmethod
    def _run(connection: Connection, store: Store, limits: Limits, upkeep: Upkeep) -> None:
        with connection:
            writer.serve(connection, lambda: store, limits, upkeep)

    def kill(self) -> None:
        """A thread cannot be ended: it ends when it finds its connection closed."""

    def close(self, seconds: float) -> None:
        self.connection.close()
        self._thread.join(seconds)
