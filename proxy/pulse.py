"""Signs of life from a writer at long work, so that one that is slow is not taken for one that hangs.

A machine may leave a writer so little time that a batch takes minutes. What tells work from hanging is the processor
time that the process uses: stopped, or waiting for a database that never answers, it uses none.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

from proxy.operations import Working

BEAT_SECONDS = 5.0
"""How often a sign is given."""

LEAST_CPU_SECONDS = 0.005
"""Processor time between two signs that counts as work; looking takes some 0.0001."""


class Pulse:
    """Sends what a writer tells, and between that, while it works, a sign of life each `beat_seconds`."""

    def __init__(self, connection: Connection, beat_seconds: float = BEAT_SECONDS) -> None:
        self._connection, self._beat = connection, beat_seconds
        self._sending = threading.Lock()

    def tell(self, message: object) -> None:
        """Send a message. OSError when nobody is there."""
        with self._sending:
            self._connection.send(message)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Give signs of life while something is done."""
        done = threading.Event()
        thread = threading.Thread(target=self._give_signs, args=(done,), name="writer pulse", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _give_signs(self, done: threading.Event) -> None:
        used = time.process_time()
        while not done.wait(self._beat):
            before, used = used, time.process_time()
            if used - before >= LEAST_CPU_SECONDS:
                with suppress(OSError):  # nobody is there: the work finds out by itself
                    self.tell(Working())
