"""The writer: a process of its own that decodes what was received and puts it into the store.

It is told operations in batches and answers, for each, when its transaction has committed or that it will not
be kept. What it is told keeps its order. A store that is gone, locked or full is tried again for a while; what
the store refuses for another reason is given up alone.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection

from blocks.model import Capture
from proxy.coding import content_encoding, decode
from proxy.operations import (
    Freshen,
    Invalidate,
    Keep,
    Limits,
    Operation,
    Purge,
    Settled,
    Started,
    Trying,
    Use,
    receive_operations,
)
from proxy.pulse import BEAT_SECONDS, Pulse
from proxy.upkeep import Chores, NoUpkeep, Upkeep
from store.base import Store, StoreError, StoreUnavailable
from store.opening import open_store

GROUP_BYTES = 32 << 20
"""Decoded bodies kept in one transaction."""

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0

TICK_SECONDS = 1.0
"""How often a writer without work looks for some of its own."""


class Writer:
    """Carries out operations on a store, in order; `tell` is given a sign of life or a list of Settled."""

    def __init__(
        self,
        opener: Callable[[], Store],
        limits: Limits,
        tell: Callable[[object], None],
        upkeep: Upkeep | None = None,
    ) -> None:
        self._upkeep = upkeep or NoUpkeep(Chores())
        self._opener = opener
        self._limits = limits
        self._tell = tell
        self._store: Store | None = None
        self._failing_since: float | None = None

    def close(self) -> None:
        """Let go of the store."""
        self._upkeep.close()
        if self._store is not None:
            self._store.close()

    def write(self, operations: Sequence[Operation], again: bool) -> None:
        """Carry out a batch and tell what became of each."""
        for group in _groups(operations):
            if isinstance(group, list):
                self._keep(group, again)
            else:
                self._change(group)

    def _keep(self, group: Iterable[Keep], again: bool) -> None:
        for part in _parts((keep, self._decode(keep.capture)) for keep in group):
            captures = [capture for _, capture in part]
            try:
                self._patiently(partial(self._keep_new, captures), again)
            except StoreUnavailable as exc:
                self._tell([_lost(keep, "store_unavailable", exc) for keep, _ in part])
            except Exception as exc:
                if len(part) == 1:
                    self._tell([_lost(part[0][0], "refused", exc)])
                else:
                    for keep, _ in part:
                        self._keep([keep], True)
            else:
                self._tell([Settled(keep.number) for keep, _ in part])

    def _keep_new(self, captures: list[Capture], store: Store, again: bool) -> None:
        self._upkeep.admit(store)
        _keep_new(captures, store, again)

    def idle(self) -> None:
        """Use a moment in which nothing is to be written."""
        self._upkeep.idle()

    def _change(self, operation: Freshen | Invalidate | Purge | Use) -> None:
        try:
            self._patiently(partial(self._carry_out, operation), True)
        except StoreUnavailable as exc:
            self._tell([_lost(operation, "store_unavailable", exc)])
        except Exception as exc:
            self._tell([_lost(operation, "refused", exc)])
        else:
            self._tell([Settled(operation.number)])

    def _carry_out(self, operation: Freshen | Invalidate | Purge | Use, store: Store, again: bool) -> None:
        if isinstance(operation, Freshen):
            for digest in {operation.digest} if operation.digest else _digests(store, operation):
                store.freshen(operation.key, operation.time, digest, operation.freshening)
        elif isinstance(operation, Invalidate):
            store.invalidate(operation.key, operation.before)
        elif isinstance(operation, Use):
            store.note_uses(operation.urls, operation.time)
        elif store.purge(operation.pattern, later=True):
            self._upkeep.purged()

    def _decode(self, capture: Capture) -> Capture:
        limits = self._limits
        decoded = decode(
            capture.body,
            content_encoding(capture.headers),
            max_bytes=limits.max_body_bytes,
            max_ratio=limits.max_ratio,
        )
        return replace(capture, body=decoded.body, coding=decoded.coding)

    def _patiently(self, act: Callable[[Store, bool], None], again: bool) -> None:
        """Act on the store, again and again while it is unavailable and patience lasts; `act` is told whether it
        may have been done already, as after a connection lost in the middle of a commit.

        Patience is counted from the first failure after a success: what follows a long outage gets one
        attempt each, so that the queue moves.
        """
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                if self._store is None:
                    self._store = self._opener()
                    self._upkeep.opened(self._store)
                act(self._store, again)
            except StoreUnavailable as exc:
                again = True
                now = time.monotonic()
                self._failing_since = self._failing_since or now
                if now - self._failing_since >= self._limits.patience_seconds:
                    raise
                self._tell(Trying(str(exc)))
                time.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            else:
                self._failing_since = None
                return


def _keep_new(captures: list[Capture], store: Store, again: bool) -> None:
    """Keep captures; `again` leaves out what a writer before this one has committed."""
    if again:
        known = store.known(captures)
        captures = [capture for capture, is_known in zip(captures, known, strict=True) if not is_known]
    if captures:
        store.keep(captures)


def _digests(store: Store, operation: Freshen) -> set[bytes]:
    records = store.find(operation.key, before=operation.time, limit=8)
    return {record.digest for record in records if record.capture.time == operation.time}


def _groups(operations: Sequence[Operation]) -> Iterator[list[Keep] | Freshen | Invalidate | Purge | Use]:
    """Yield the operations in order, neighbouring captures together."""
    keeps: list[Keep] = []
    for operation in operations:
        if isinstance(operation, Keep):
            keeps.append(operation)
            continue
        if keeps:
            yield keeps
            keeps = []
        yield operation
    if keeps:
        yield keeps


def _parts(kept: Iterable[tuple[Keep, Capture]]) -> Iterator[list[tuple[Keep, Capture]]]:
    """Yield them in transactions; one at a time is decoded, so that a batch of bombs does not fill the memory."""
    part: list[tuple[Keep, Capture]] = []
    size = 0
    for pair in kept:
        if part and size + len(pair[1].body) > GROUP_BYTES:
            yield part
            part, size = [], 0
        part.append(pair)
        size += len(pair[1].body)
    if part:
        yield part


def _lost(operation: Operation, reason: str, exc: Exception) -> Settled:
    what = str(exc) if isinstance(exc, StoreError) else f"{type(exc).__name__}: {exc}"
    return Settled(operation.number, reason=reason, sentence=what)


def serve(
    connection: Connection,
    opener: Callable[[], Store],
    limits: Limits,
    upkeep: Upkeep | None = None,
    *,
    beat_seconds: float = BEAT_SECONDS,
) -> None:
    """Write what comes through the connection until the proxy closes it or is gone."""
    pulse = Pulse(connection, beat_seconds)
    writer = Writer(opener, limits, pulse.tell, upkeep)
    with contextlib.suppress(EOFError, OSError), contextlib.closing(writer):
        pulse.tell(Started())
        while True:
            while not connection.poll(TICK_SECONDS):
                writer.idle()
            operations, again = receive_operations(connection)
            with pulse.working():
                writer.write(operations, again)


def main(connection: Connection, url: str, sites: Mapping[str, str], limits: Limits, chores: Chores) -> None:
    """Be the writer process. The proxy ends it: a terminal's Ctrl-C goes to both, and the queue is to be drained."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(5)  # pages are answered first
    serve(connection, lambda: open_store(url, sites=sites), limits, Upkeep(url, sites, chores))
