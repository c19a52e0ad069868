"""Work on the store that nobody waits for: what a purge leaves to do, eviction when it is over its budget, compaction
when it is quiet.

The writer process decides when; a process of its own, at low priority, does it, so that captures are written
meanwhile. It may be killed at any moment. The store's URL, which may hold a password, reaches it by its standard
input; when that ends, so does the process.
"""

import contextlib
import json
import math
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from settings import Settings
from store.base import Budget, Store, StoreUnavailable

LOOK_SECONDS = 60.0
"""How often age and the sizes of sites are looked after."""

PAUSE_SECONDS = 2.0
"""Between two runs at the least."""

PATIENCE_SECONDS = 600.0
"""How long a compaction may take, which for a large site is hours, while bytes of purged pages wait to be erased."""


@dataclass(frozen=True, slots=True)
class Chores:
    """When to do what; picklable."""

    budget: Budget = field(default_factory=Budget)
    compact_idle_seconds: float = 0.0


def budget_of(settings: Settings) -> Budget:
    """Return the limits that the settings put to the store."""
    return Budget(
        settings.max_store_bytes,
        settings.max_site_bytes,
        int(settings.max_age_days * 86_400),
        settings.high_water,
        min(settings.low_water, settings.high_water),
    )


def chores_of(settings: Settings) -> Chores:
    """Return what the settings want done in the background."""
    return Chores(budget_of(settings), settings.compact_idle_seconds)


class Upkeep:
    """Starts the process when there is something to do, one at a time. Belongs to the writer."""

    def __init__(self, url: str, sites: Mapping[str, str], chores: Chores) -> None:
        self._url, self._sites, self._chores = url, dict(sites), chores
        self._process: subprocess.Popen[bytes] | None = None
        self._started = self._written = time.monotonic()
        self._looked = 0.0
        self._compacted = True
        self._purged = False
        self._task = ""

    @property
    def running(self) -> bool:
        """Whether the process is at work."""
        return self._process is not None and self._process.poll() is None

    def opened(self, store: Store) -> None:
        """Take up what was left to do when the last process ended."""
        self._purged = bool(store.collect(dry_run=True, purged=True).notes)

    def purged(self) -> None:
        """See soon that no bytes of what was purged are left."""
        self._purged = True
        self._collect()

    def _collect(self) -> bool:
        if started := self._purged and self._start("collect", PATIENCE_SECONDS):
            self._purged = False
        return started

    def admit(self, store: Store) -> None:
        """Make sure that there is room for more; StoreUnavailable while there is none."""
        self._collect()
        limit = self._chores.budget.max_store_bytes
        self._written, self._compacted = time.monotonic(), False
        if not limit:
            return
        size = store.size()
        if size > self._chores.budget.high_water * limit:
            self._start("evict", 0.0)
        if size > limit:
            raise StoreUnavailable(f"the store has {size} bytes, its limit is {limit}: room is being made")

    def idle(self) -> None:
        """Look whether there is something to do while nothing is to be written."""
        chores, now = self._chores, time.monotonic()
        ages = chores.budget.max_site_bytes or chores.budget.max_age_seconds
        quiet = now - self._written >= chores.compact_idle_seconds > 0
        if self._collect():
            return
        if ages and now - self._looked >= LOOK_SECONDS and self._start("evict"):
            self._looked = now
        elif quiet and not self._compacted and self._start("compact"):
            self._compacted = True

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()

    def _start(self, task: str, patience: float = math.inf) -> bool:
        """Start the process with a task, unless one is at work or was a moment ago; tell whether it was started.
        Compaction is broken off after so many seconds of `patience`, and goes on when it is quiet again."""
        now = time.monotonic()
        in_its_way = self.running and (self._task != "compact" or now - self._started < patience)
        if in_its_way or (self._process is not None and now - self._started < PAUSE_SECONDS):
            return False
        if self.running:
            self._compacted = False
        self.close()
        self._started, self._task = now, task
        work = {"task": task, "url": self._url, "sites": self._sites, "budget": asdict(self._chores.budget)}
        command = [sys.executable, "-m", "proxy.chores"]
        folder = Path(__file__).resolve().parent.parent
        self._process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(work).encode() + b"\n")
            self._process.stdin.flush()
        return True


class NoUpkeep(Upkeep):
    """For a store that no other process can see: eviction only, in between."""

    def __init__(self, chores: Chores) -> None:
        super().__init__("", {}, chores)

    def admit(self, store: Store) -> None:
        if self._chores.budget:
            store.evict(self._chores.budget, int(time.time()))

    def opened(self, store: Store) -> None:
        """Nothing is ever left to do."""

    def purged(self) -> None:
        """Nothing is left to do."""

    def idle(self) -> None:
        """Nothing to do."""
