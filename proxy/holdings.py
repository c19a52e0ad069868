"""Everything that is kept, as this process may see it: accepted a moment ago, hot, or in the store.

All methods belong to the event loop. A change (a capture, a 304's new headers, an invalidation, a purge) is
seen by the next look-up; the store learns of it through the feed, in the same order.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from blocks.model import Capture
from proxy.caching.model import Policy
from proxy.coding import decode, encode
from proxy.entry import Entry, received_entry, stored_entry
from proxy.feed import Feed, named
from proxy.losses import Losses
from proxy.memory import Memory
from proxy.operations import Freshen, Invalidate, Keep, Limits, Operation, Purge, Settled, Use
from proxy.pending import Freshened, Invalidated, Pending, Purged, apply
from proxy.reader import Reader
from proxy.recent import Recent
from store.base import Freshening, StoreError
from store.patterns import matcher

T = TypeVar("T")

MOST_CAPTURES = 64
"""Captures of one key that a look-up regards, the newest."""

MOST_REFUSED = 10_000
"""Changes that the store has not taken and that stay in force in this process."""

REFRESH_SECONDS = 3.0
"""What is hot is looked up again when it is asked for and the store was last asked so long ago: others write there."""

MOST_REFRESHED = 8
"""Look-ups of this kind at the same time."""

MOST_USES = 10_000
"""Keys whose use is noted from one message to the store to the next."""


@dataclass(frozen=True, slots=True)
class View:
    """What is known of a key, newest first; not `whole` when the store may hold older captures."""

    entries: list[Entry]
    source: str
    whole: bool


class Holdings:
    """See the module's description."""

    def __init__(self, reader: Reader, memory: Memory, losses: Losses, limits: Limits, policy: Policy) -> None:
        self._reader = reader
        self._memory = memory
        self._losses = losses
        self._limits = limits
        self._policy = policy
        self._pending = Pending()
        self.recent = Recent()
        self._feed: Feed | None = None
        self._last_number = 0
        self._last_time = 0
        self._running: dict[Hashable, asyncio.Future[Any]] = {}
        self._coders = ThreadPoolExecutor(2, "coding")
        self._purges: int | None = None
        self._refused: deque[int] = deque()
        self._used: set[str] = set()
        self._refreshed: set[asyncio.Task[None]] = set()

    def attach(self, feed: Feed) -> None:
        """Say where changes go."""
        self._feed = feed

    def at_hand(self, key: str) -> View | None:
        """Return what is known of a key without waiting, or None when nothing is."""
        known = self._memory.get(key)
        if known is not None:
            if time.monotonic() - known.seen >= REFRESH_SECONDS and len(self._refreshed) < MOST_REFRESHED:
                known.seen = time.monotonic()
                task = asyncio.ensure_future(self._refresh(key))
                self._refreshed.add(task)
                task.add_done_callback(self._refreshed.discard)
            return View(known.entries, "memory", known.whole)
        entries = self._pending.entries(key)
        return View(entries, "pending", False) if entries else None

    async def _refresh(self, key: str) -> None:
        with contextlib.suppress(StoreError):
            await self.look_up(key)

    async def look_up(self, key: str) -> View:
        """Return all that is known of a key. Raises StoreError when the store does not answer."""
        return await self._once(("key", key), lambda: self._look_up(key))

    async def _look_up(self, key: str) -> View:
        look_up = self._pending.begin()
        try:
            records = await self._reader.ask(lambda store: store.find(key, limit=MOST_CAPTURES))
            entries = self._pending.overlay(key, (stored_entry(record, self._policy) for record in records))
        finally:
            self._pending.end(look_up)
        known = self._memory.get(key)
        entries = newest_of_each(merged(known.entries if known else [], entries))
        self._memory.put(key, entries, whole=True)
        return View(entries, "store", True)

    async def history(self, key: str, most: int) -> list[Entry]:
        """Return all captures of a key, at most so many, newest first. Raises StoreError when the store does not
        answer."""
        look_up = self._pending.begin()
        try:
            records = await self._reader.ask(lambda store: store.find(key, limit=most))
            entries = self._pending.overlay(key, (stored_entry(record, self._policy) for record in records))
        finally:
            self._pending.end(look_up)
        return sorted(entries, key=lambda entry: entry.capture.time, reverse=True)[:most]

    async def form(self, entry: Entry, coding: str) -> bytes | None:
        """Return an entry's body in a content coding, made in a thread when it is not at hand.

        None when the body turns out to be opaque: its entry has changed, and the only form is "".
        Raises StoreError when the store does not answer or the body is damaged.
        """
        if coding not in entry.forms:
            await self._once((id(entry), coding), lambda: self._form(entry, coding))
            self._memory.weigh(entry.key)
        return entry.forms.get(coding)

    async def _form(self, entry: Entry, coding: str) -> None:
        loop = asyncio.get_running_loop()
        if entry.coding is None:
            limits = self._limits
            received = entry.received or ""
            undo = partial(decode, entry.forms[received], received)
            work = partial(undo, max_bytes=limits.max_body_bytes, max_ratio=limits.max_ratio)
            entry.decoded(await loop.run_in_executor(self._coders, work))
        if "" not in entry.forms:
            record = entry.record
            assert record is not None
            entry.forms[""] = (await self._reader.ask(lambda store: store.read(record))).body
        if coding not in entry.forms and entry.coding:
            body = entry.forms[""]
            entry.forms[coding] = await loop.run_in_executor(self._coders, encode, body, coding)

    async def _once(self, name: Hashable, act: Callable[[], Awaitable[T]]) -> T:
        """Do what many may ask for at the same time only once."""
        running = self._running.get(name)
        if running is None:
            running = asyncio.ensure_future(act())
            self._running[name] = running
            running.add_done_callback(partial(self._ended, name))
        result: T = await asyncio.shield(running)
        return result

    def _ended(self, name: Hashable, running: "asyncio.Future[Any]") -> None:
        self._running.pop(name, None)
        if not running.cancelled():
            running.exception()  # whoever asked may have gone; asyncio complains of exceptions nobody looked at

    def instant(self, seconds: float) -> int:
        """Return a time in microseconds that no other capture of this process has."""
        self._last_time = max(self._last_time + 1, int(seconds * 1e6))
        return self._last_time

    def keep(self, capture: Capture) -> tuple[Entry, bool]:
        """Keep a capture whose body is as received; return its entry, and whether it is on its way to the store.

        When it is not, the loss is counted, and the entry is hot all the same.
        """
        entry = received_entry(capture, self._policy)
        number = self._number()
        accepted = self._offer(Keep(number, capture))
        if accepted:
            self._pending.add(number, entry)
        known = self._memory.get(entry.key)
        others = known.entries if known else []
        self._memory.put(entry.key, newest_of_each([entry, *others]), whole=known is not None and known.whole)
        return entry, accepted

    def freshen(self, entry: Entry, freshening: Freshening) -> bool:
        """Give an entry the headers and times that a validation brought."""
        key, time = entry.key, entry.capture.time
        number = self._number()
        entry.freshen(freshening)
        self._memory.weigh(key)
        accepted = self._offer(Freshen(number, key, time, entry.digest, freshening))
        if accepted:
            self._pending.change(number, Freshened(key, time, freshening))
        return accepted

    def invalidate(self, key: str, before: int) -> None:
        """Mark what is kept under a key, received at or before `before`, as in need of validation."""
        number = self._number()
        change = Invalidated(key, before)
        self.recent.invalidate(key, before)
        self._pending.change(number, change)
        known = self._memory.get(key)
        for entry in known.entries if known else []:
            apply(change, entry)
        if not self._offer(Invalidate(number, key, before)):
            self._outlive(number)

    def purge(self, pattern: str, before: int) -> None:
        """Forget the captures whose URL matches, received at or before `before`, here and in the store."""
        matches = matcher(pattern)
        number = self._number()
        self.recent.purge(matches, before)
        self._pending.change(number, Purged(matches, before))
        self._memory.purge(matches)
        if not self._offer(Purge(number, pattern)):
            self._outlive(number)

    def use(self, key: str) -> None:
        """Note that a kept page was given to somebody."""
        if len(self._used) < MOST_USES:
            self._used.add(key)

    def tell_uses(self, now: int) -> None:
        """Tell the store which pages were used since the last time; `now` in seconds since the epoch."""
        if self._used:
            self._offer(Use(self._number(), tuple(self._used), now))
            self._used.clear()

    def settled(self, settled: list[Settled]) -> None:
        """Let go of what has been committed, and of captures that will not be.

        A change that the store has not taken stays in force here, as far as there is room.
        """
        for one in settled:
            if not one.reason or self._pending.holds(one.number):
                self._pending.settle(one.number)
            else:
                self._outlive(one.number)

    def _outlive(self, number: int) -> None:
        self._refused.append(number)
        if len(self._refused) > MOST_REFUSED:
            self._pending.settle(self._refused.popleft())

    async def heed_purges(self) -> None:
        """Forget what is hot when another process has purged the store."""
        try:
            purges = await self._reader.ask(lambda store: store.purges())
        except StoreError:
            return
        if self._purges is not None and purges != self._purges:
            self._memory.clear()
        self._purges = purges

    def close(self) -> None:
        """Let go of the threads."""
        self._coders.shutdown(wait=False, cancel_futures=True)

    def _number(self) -> int:
        self._last_number += 1
        return self._last_number

    def _offer(self, operation: Operation) -> bool:
        assert self._feed is not None
        if self._feed.offer(operation):
            return True
        self._losses.report("queue_full", named(operation))
        return False


def merged(mine: list[Entry], others: list[Entry]) -> list[Entry]:
    """Return both, newest first, `mine` where both have a capture: they may have its body. `others` are what the store
    holds: what another process did to a capture of mine is taken over, and what I had from there and is gone, goes."""
    known = {entry.capture.time: entry for entry in mine}
    for entry in others:
        if (same := known.get(entry.capture.time)) is not None:
            _heed(same, entry)
    times = {entry.capture.time for entry in others}
    entries = [entry for entry in mine if entry.record is None or entry.capture.time in times]
    entries += [entry for entry in others if entry.capture.time not in known]
    return sorted(entries, key=lambda entry: entry.capture.time, reverse=True)


def _heed(mine: Entry, other: Entry) -> None:
    """Let an entry follow what the store says of its capture, when that is newer."""
    if other.stored.time < mine.stored.time or other.record is None:
        return
    if other.stored.time > mine.stored.time and other.record.freshening is not None:
        mine.freshen(other.record.freshening)
    if other.stored.invalid and not mine.stored.invalid:
        mine.invalidate()


def newest_of_each(entries: list[Entry]) -> list[Entry]:
    """Leave out the captures that a newer one of the same selecting fields stands before."""
    seen = set()
    kept = []
    for entry in entries:
        name = (entry.capture.vary, entry.capture.private)
        if name not in seen:
            seen.add(name)
            kept.append(entry)
    return kept
