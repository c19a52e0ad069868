"""Where tasks run: processes of this machine, or a Ray cluster. Both take a function and its arguments by value, run
each to its end at least once, and give the answers in the order of the arguments.

A worker may be killed at any moment: its task is run again. A task that takes its worker down each time is given up
and named, so that one file cannot stop the others.
"""

import os
import resource
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from apps.batch.extras import code_version

ATTEMPTS = 3
"""How often a task is begun before it is given up."""

AHEAD = 2
"""Tasks given to each worker at a time, and waiting."""

CONNECT_SECONDS = 5.0
"""How long the head of a cluster may take to answer."""

Task = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a task: its result, or why there is none; and what it took of its worker, at the most in memory."""

    result: Any = None
    failure: str = ""
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    memory_bytes: int = 0
    worker: str = ""


class Engine(Protocol):
    """Runs tasks."""

    def run(self, task: Task, arguments: Sequence[Any]) -> Iterator[Answer]:
        """Yield the answer to each argument, in order."""
        ...

    def close(self) -> None:
        """Let go of the workers."""
        ...


def measured(task: Task, argument: Any, code: str = "") -> Answer:
    """Run a task in this process, and say what it took; but not when this process has other code than is named."""
    if code and code != code_version():
        return Answer(failure=f"the worker on {os.uname().nodename} has another version of Pagemason")
    begun, cpu = time.monotonic(), time.process_time()
    try:
        result, failure = task(argument), ""
    except Exception as exc:  # archives are hostile, and one file must not stop the others: it is named instead
        result, failure = None, f"{type(exc).__name__}: {exc}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    worker = f"{os.uname().nodename}:{os.getpid()}"
    return Answer(result, failure, time.process_time() - cpu, time.monotonic() - begun, peak, worker)


class Local:
    """Processes of this machine."""

    def __init__(self, n_workers: int) -> None:
        self._n = n_workers
        self._pool: ProcessPoolExecutor | None = None

    def run(self, task: Task, arguments: Sequence[Any]) -> Iterator[Answer]:
        """See `Engine`."""
        waiting: deque[tuple[Any, Future[Answer]]] = deque()
        left = deque(arguments)
        while left or waiting:
            while left and len(waiting) < AHEAD * self._n:
                argument = left.popleft()
                waiting.append((argument, self._submit(task, argument)))
            argument, future = waiting.popleft()
            try:
                yield future.result()
            except BrokenProcessPool:
                self.close()  # which of the tasks it was is not known: each is tried by itself
                suspects = [argument, *(argument for argument, _ in waiting)]
                waiting.clear()
                for suspect in suspects:
                    yield self._alone(task, suspect)

    def _submit(self, task: Task, argument: Any) -> "Future[Answer]":
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._n, mp_context=get_context("spawn"))
        try:
            return self._pool.submit(measured, task, argument)
        except BrokenProcessPool as exc:
            broken: Future[Answer] = Future()
            broken.set_exception(exc)
            return broken

    def _alone(self, task: Task, argument: Any) -> Answer:
        for _ in range(ATTEMPTS - 1):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                try:
                    return pool.submit(measured, task, argument).result()
                except BrokenProcessPool:
                    continue
        return Answer(failure=f"its worker was killed {ATTEMPTS} times")

    def close(self) -> None:
        """See `Engine`."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


class Ray:
    """A Ray cluster. Its nodes need the same files under the same paths, and Pagemason with its extras installed."""

    def __init__(self, address: str) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray

        self._ray: Any = ray
        # Workers find the code where it is here, when it is no installed package there.
        path = os.pathsep.join([str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")])
        environment = {"env_vars": {"PYTHONPATH": path.rstrip(os.pathsep)}}
        self._ours = not ray.is_initialized()
        if self._ours:
            _look_for(address)
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", runtime_env=environment)

    def run(self, task: Task, arguments: Sequence[Any]) -> Iterator[Answer]:
        """See `Engine`."""
        ray = self._ray
        remote = ray.remote(max_retries=ATTEMPTS - 1, num_cpus=1)(measured)
        n_workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting: deque[Any] = deque()
        left = deque(arguments)
        while left or waiting:
            while left and len(waiting) < 2 * AHEAD * n_workers:
                waiting.append(remote.remote(task, left.popleft(), code_version()))
            try:
                answer: Answer = ray.get(waiting.popleft())
            except ray.exceptions.RayError as exc:
                answer = Answer(failure=f"its worker was lost {ATTEMPTS} times ({type(exc).__name__})")
            yield answer

    def close(self) -> None:
        """See `Engine`."""
        if self._ours:
            self._ray.shutdown()


def _look_for(address: str) -> None:
    """Make sure that somebody answers where a cluster is said to be: Ray itself tries for minutes. ConnectionError."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit():
        try:
            socket.create_connection((host.rpartition("/")[2].strip("[]"), int(port)), CONNECT_SECONDS).close()
        except (OSError, OverflowError) as exc:
            raise ConnectionError(f"no cluster answers there: {exc}") from exc
