"""The bounded queue before the writer, and the thread that empties it.

The event loop offers operations and goes on; the thread sends them in batches, in order, and waits until the
writer has told what became of each. A writer that dies or hangs is replaced, and told again what it has not
settled.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

from proxy.links import Link
from proxy.losses import Losses
from proxy.metrics import Metrics
from proxy.operations import Freshen, Keep, Operation, Purge, Settled, Trying, Use, send_operations

logger = logging.getLogger(__name__)

BATCH_BYTES = 8 << 20
BATCH_ENTRIES = 256

SILENCE_SECONDS = 30.0
"""A writer that gives no sign of life for so long, with work before it, is replaced."""

START_SECONDS = 60.0
"""How long a writer may take to listen: a new process on a busy machine."""

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0


class Feed:
    """Operations on their way to the writer. `settled` is called, in the feed's thread, with what became of them.

    At most `max_bytes` of bodies and `max_entries` operations are on their way; changes, which have no body,
    may be as many again, because losing one is worse than losing a capture.
    """

    def __init__(
        self,
        start: Callable[[], Link],
        settled: Callable[[list[Settled]], None],
        losses: Losses,
        metrics: Metrics,
        *,
        max_bytes: int,
        max_entries: int,
        patience_seconds: float = 30.0,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        self._start = start
        self._settled = settled
        self._losses = losses
        self._metrics = metrics
        self._max_bytes, self._max_entries = max_bytes, max_entries
        self._patience, self._silence = patience_seconds, silence_seconds
        self._queue: deque[Operation] = deque()
        self._changed = threading.Condition()
        self._entries = self._bytes = 0
        self._closing = False
        self._failing_since: float | None = None
        self._link: Link | None = None
        self._thread = threading.Thread(target=self._run, name="writer feed", daemon=True)
        self._thread.start()

    def offer(self, operation: Operation) -> bool:
        """Take an operation to be written, or return False when there is no room. Never waits."""
        size = _size(operation)
        most = self._max_entries if isinstance(operation, Keep) else 2 * self._max_entries
        with self._changed:
            if self._closing or self._entries >= most or (size and self._bytes + size > self._max_bytes):
                return False
            self._queue.append(operation)
            self._count(1, size)
            self._changed.notify()
        return True

    def close(self, seconds: float) -> None:
        """Write what is queued, for some seconds at most; what remains then is lost, counted and said."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._patience = 0
            if (link := self._link) is not None:
                link.kill()
            self._thread.join(5)

    def _run(self) -> None:
        while batch := self._take():
            self._deliver(batch)
        if self._link is not None:
            self._link.close(5)

    def _take(self) -> list[Operation]:
        """Return the next batch, waiting for it; nothing when the feed is closed and empty."""
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            batch: list[Operation] = []
            size = 0
            while self._queue and len(batch) < BATCH_ENTRIES and size < BATCH_BYTES:
                batch.append(self._queue.popleft())
                size += _size(batch[-1])
            return batch

    def _deliver(self, batch: list[Operation]) -> None:
        waiting = {operation.number: operation for operation in batch}
        pause = FIRST_PAUSE_SECONDS
        again = False
        while waiting:
            try:
                self._tell(waiting, again)
            except (EOFError, OSError) as exc:
                self._replace(exc)
                again = True
                now = time.monotonic()
                self._failing_since = self._failing_since or now
                if now - self._failing_since >= self._patience:
                    sentence = "the writer process ended or did not answer"
                    self._settle(waiting, [Settled(number, reason="writer", sentence=sentence) for number in waiting])
                else:
                    time.sleep(pause)
                    pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    def _tell(self, waiting: dict[int, Operation], again: bool) -> None:
        """Send what is waiting and hear what became of it. OSError or EOFError when the writer fails."""
        link = self._link or self._started()
        # A stopped process leaves `send` waiting for room in the pipe: killing it is what ends that.
        watchdog = threading.Timer(self._silence, link.kill)
        watchdog.start()
        try:
            send_operations(link.connection, list(waiting.values()), again)
        finally:
            watchdog.cancel()
        while waiting:
            if not link.connection.poll(self._silence):
                raise TimeoutError("no sign of life")
            message = link.connection.recv()
            if isinstance(message, list):
                self._failing_since = None
                self._settle(waiting, message)
            elif isinstance(message, Trying):
                logger.warning("store: %s; trying again", message.sentence)

    def _started(self) -> Link:
        """Start a writer and wait until it listens."""
        self._link = link = self._start()
        if not link.connection.poll(START_SECONDS):
            raise TimeoutError("it did not start")
        link.connection.recv()
        return link

    def _replace(self, exc: Exception) -> None:
        logger.warning("the writer failed (%s) and is started again", exc or type(exc).__name__)
        self._metrics.writer_restarts.inc()
        if (link := self._link) is not None:
            self._link = None
            link.kill()
            link.close(1)

    def _settle(self, waiting: dict[int, Operation], settled: Iterable[Settled]) -> None:
        done = [one for one in settled if one.number in waiting]
        n_bytes = 0
        for one in done:
            operation = waiting.pop(one.number)
            n_bytes += _size(operation)
            if one.reason:
                self._losses.report(one.reason, named(operation), one.sentence)
            elif isinstance(operation, Keep):
                self._metrics.captures_committed.inc()
        with self._changed:
            self._count(-len(done), -n_bytes)
        self._settled(done)

    def _count(self, n_entries: int, n_bytes: int) -> None:
        self._entries += n_entries
        self._bytes += n_bytes
        self._metrics.queue_entries.set(self._entries)
        self._metrics.queue_bytes.set(self._bytes)


def _size(operation: Operation) -> int:
    return len(operation.capture.body) if isinstance(operation, Keep) else 0


def named(operation: Operation) -> str:
    """Return what an operation is about, for people."""
    if isinstance(operation, Keep):
        return operation.capture.url
    if isinstance(operation, Purge):
        return f"purge of {operation.pattern}"
    if isinstance(operation, Use):
        return f"uses of {len(operation.urls)} pages"
    what = "freshening" if isinstance(operation, Freshen) else "invalidation"
    return f"{what} of {operation.key}"
