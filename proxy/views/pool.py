"""The processes that make views: a few, started when they are first needed, replaced when one dies."""

import asyncio
import logging
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from proxy.views import rendering

logger = logging.getLogger(__name__)

T = TypeVar("T")

N_PROCESSES = max(2, min(4, os.cpu_count() or 1))
"""Two at least: one may be reading other pages of a site while clients wait."""

MAX_WAITING = 16 * N_PROCESSES
"""Beyond so many, a page is given as it is."""

PAUSE_SECONDS = 1.0
"""After a process has died: a page that kills one must not keep the machine busy with starting others."""


class PoolBusy(Exception):
    """Too many pages wait."""


class ProcessDied(Exception):
    """The process that worked on it has died, or others had a moment ago."""


class RenderPool:
    """Runs functions of `making` in other processes. Belongs to one event loop."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._waiting = 0
        self._until = 0.0

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Return what a function returns. PoolBusy, ProcessDied, or what it raises."""
        loop = asyncio.get_running_loop()
        if self._waiting >= MAX_WAITING:
            raise PoolBusy
        if loop.time() < self._until:
            raise ProcessDied
        pool = self._pool = self._pool or self._open()
        self._waiting += 1
        try:
            return await loop.run_in_executor(pool, work, *arguments)
        except (BrokenProcessPool, RuntimeError) as exc:
            if pool is self._pool:
                logger.warning("a process that makes views has died: %s", exc)
                self._until = loop.time() + PAUSE_SECONDS
                self._pool = None
                pool.shutdown(wait=False, cancel_futures=True)
            raise ProcessDied from exc
        finally:
            self._waiting -= 1

    @property
    def pids(self) -> list[int]:
        """The ids of the processes."""
        return list((self._pool._processes or ()) if self._pool is not None else ())

    def close(self) -> None:
        """End the processes, whatever they do."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()

    def _open(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(N_PROCESSES, context, initializer=rendering.prepare)
