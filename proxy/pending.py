"""What the proxy has accepted and the store has not committed yet, laid over what the store answers."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from proxy.entry import Entry
from store.base import Freshening


@dataclass(frozen=True, slots=True)
class Freshened:
    """A change: the capture of `key` received at `time` has new headers and times."""

    key: str
    time: int
    freshening: Freshening


@dataclass(frozen=True, slots=True)
class Invalidated:
    """A change: the captures of `key` received at or before `before` need validation."""

    key: str
    before: int


@dataclass(frozen=True, slots=True)
class Purged:
    """A change: the captures received at or before `before` whose URL matches are gone."""

    matches: Callable[[str], bool]
    before: int


T = TypeVar("T")

Change = Freshened | Invalidated | Purged


@dataclass(slots=True)
class Pending:
    """Captures and changes by the number under which they were accepted.

    A look-up may have asked the database just before a commit and be answered just after it: what is
    settled stays here until every look-up that began earlier has ended.
    """

    _captures: dict[int, Entry] = field(default_factory=dict)
    _by_key: dict[str, dict[int, Entry]] = field(default_factory=dict)
    _changes: dict[str, dict[int, Freshened | Invalidated]] = field(default_factory=dict)
    _changed: dict[int, str] = field(default_factory=dict)
    _purges: dict[int, Purged] = field(default_factory=dict)
    _settled: deque[tuple[int, int]] = field(default_factory=deque)
    _looking: dict[int, int] = field(default_factory=dict)
    _clock: int = 0

    def __len__(self) -> int:
        return len(self._captures) + len(self._changed) + len(self._purges)

    def add(self, number: int, entry: Entry) -> None:
        """Accept a capture."""
        self._captures[number] = entry
        self._by_key.setdefault(entry.key, {})[number] = entry

    def change(self, number: int, change: Change) -> None:
        """Accept a change; it acts at once on the captures that are here."""
        if isinstance(change, Purged):
            self._purges[number] = change
            for known, entry in list(self._captures.items()):
                if change.matches(entry.capture.url):
                    self._forget(known)
        else:
            self._changed[number] = change.key
            self._changes.setdefault(change.key, {})[number] = change
            for entry in self._by_key.get(change.key, {}).values():
                apply(change, entry)

    def holds(self, number: int) -> bool:
        """Tell whether a capture was accepted under this number and is not settled."""
        return number in self._captures

    def settle(self, number: int) -> None:
        """Let go of what the store has committed, or will never have, once no older look-up runs."""
        self._clock += 1
        self._settled.append((self._clock, number))
        self._retire()

    def begin(self) -> int:
        """Note that a look-up begins; `end` takes what this returns."""
        self._clock += 1
        self._looking[self._clock] = self._clock
        return self._clock

    def end(self, look_up: int) -> None:
        """Note that a look-up has ended, and its answer been laid under what is pending."""
        self._looking.pop(look_up, None)
        self._retire()

    def entries(self, key: str) -> list[Entry]:
        """Return the captures of a key that are not committed, newest first."""
        entries = self._by_key.get(key)
        return list(reversed(entries.values())) if entries else []

    def overlay(self, key: str, stored: Iterable[Entry]) -> list[Entry]:
        """Return all that is known of a key, newest first: what is pending, and `stored` as changes leave it."""
        entries = self.entries(key)
        mine = {entry.capture.time for entry in entries}
        for entry in stored:
            if entry.capture.time not in mine and self._survives(key, entry):
                entries.append(entry)
        return entries

    def _survives(self, key: str, entry: Entry) -> bool:
        for purged in self._purges.values():
            if entry.capture.time <= purged.before and purged.matches(entry.capture.url):
                return False
        for change in self._changes.get(key, {}).values():
            apply(change, entry)
        return True

    def _retire(self) -> None:
        oldest = next(iter(self._looking), self._clock + 1)
        while self._settled and self._settled[0][0] < oldest:
            self._forget(self._settled.popleft()[1])

    def _forget(self, number: int) -> None:
        self._purges.pop(number, None)
        if (key := self._changed.pop(number, None)) is not None:
            _take(self._changes, key, number)
        if (entry := self._captures.pop(number, None)) is not None:
            _take(self._by_key, entry.key, number)


def _take(table: dict[str, dict[int, T]], key: str, number: int) -> None:
    del table[key][number]
    if not table[key]:
        del table[key]


def apply(change: Freshened | Invalidated, entry: Entry) -> None:
    """Let a change act on an entry of its key."""
    if isinstance(change, Freshened):
        if entry.capture.time == change.time:
            entry.freshen(change.freshening)
    elif entry.stored.time <= change.before and not entry.stored.invalid:
        entry.invalidate()
