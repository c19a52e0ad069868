"""Reads from the store off the event loop, with a deadline: a hung or dead database is a miss, not a wait."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from proxy.metrics import Metrics
from store.base import Store, StoreError, StoreUnavailable

T = TypeVar("T")
Job = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]

FAILURES_TO_OPEN = 3
"""Failures in a row after which the store is left alone for a while."""

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 15.0


class Breaker:
    """Says whether the store is worth asking: after some failures in a row only one question a pause is."""

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0
        self._pause = FIRST_PAUSE_SECONDS

    @property
    def closed(self) -> bool:
        """Whether the store answers, as far as is known."""
        return self._failures < FAILURES_TO_OPEN

    def allows(self, now: float) -> bool:
        """Tell whether to ask, at a monotonic time in seconds; the one question after a pause is taken by asking."""
        if self.closed:
            return True
        if now < self._until:
            return False
        self._until = now + self._pause
        return True

    def failed(self, now: float) -> None:
        """Note a failure."""
        self._failures += 1
        if self._failures > FAILURES_TO_OPEN:
            self._pause = min(LONGEST_PAUSE_SECONDS, self._pause * 2)
        self._until = now + self._pause

    def succeeded(self) -> None:
        """Note an answer."""
        self._failures = 0
        self._pause = FIRST_PAUSE_SECONDS


class Reader:
    """A few threads that ask the store. Only `ask` is for others, and only on the event loop.

    The threads are daemons: one that hangs in a dead database must not keep the process from ending.
    """

    def __init__(self, store: Store, metrics: Metrics, *, threads: int = 4, deadline_seconds: float = 2.0) -> None:
        self._store = store
        self._metrics = metrics
        self._deadline = deadline_seconds
        self._breaker = Breaker()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._running = 0
        self._most = threads * 64
        self._threads = [
            threading.Thread(target=self._work, name=f"store reader {n}", daemon=True) for n in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def well(self) -> bool:
        """Whether the store answers, as far as is known."""
        return self._breaker.closed

    async def ask(self, question: Callable[[Store], T], *, deadline_seconds: float | None = None) -> T:
        """Return what `question(store)` returns. StoreUnavailable when it takes too long or is not worth asking;
        what the question raises otherwise."""
        loop = asyncio.get_running_loop()
        if not self._breaker.allows(loop.time()):
            raise self._failure("paused", "the store does not answer and is left alone for a moment")
        if self._running >= self._most:
            raise self._failure("busy", "too many look-ups wait for the store")
        future: asyncio.Future[Any] = loop.create_future()
        self._running += 1
        self._jobs.put((lambda: question(self._store), loop, future))
        try:
            answer: T = await asyncio.wait_for(future, deadline_seconds or self._deadline)
        except TimeoutError:
            self._breaker.failed(loop.time())
            raise self._failure("deadline", "the store did not answer in time") from None
        except StoreUnavailable:
            self._breaker.failed(loop.time())
            self._metrics.read_failures.labels("unavailable").inc()
            raise
        except StoreError:
            self._breaker.succeeded()
            self._metrics.read_failures.labels("damaged").inc()
            raise
        self._breaker.succeeded()
        return answer

    def close(self) -> None:
        """Let the threads end when they have nothing left to do; wait for them a moment only."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(0.2)

    @property
    def idle(self) -> bool:
        """Whether no thread is inside the store any more."""
        return not any(thread.is_alive() for thread in self._threads)

    def _failure(self, reason: str, sentence: str) -> StoreUnavailable:
        self._metrics.read_failures.labels(reason).inc()
        return StoreUnavailable(sentence)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            question, loop, future = job
            answer: Any = None
            error: BaseException | None = None
            if not future.cancelled():
                try:
                    answer = question()
                except BaseException as exc:
                    error = exc
            try:
                loop.call_soon_threadsafe(self._done, future, answer, error)
            except RuntimeError:
                return  # the loop is closed: nobody waits any more

    def _done(self, future: "asyncio.Future[Any]", answer: Any, error: BaseException | None) -> None:
        self._running -= 1
        if future.cancelled():
            return
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)
