"""Hot pages in memory: everything known of a key, the least recently asked for leaves first."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from proxy.entry import Entry
from proxy.metrics import Metrics

_KEY_BYTES = 512
"""What a key costs beside its entries, generously."""


@dataclass(slots=True)
class Known:
    """What is known of one key, newest first, and the bytes it was last seen to take.

    Not `whole` when the store may hold other captures. `seen` is when the store was asked last, in monotonic seconds.
    """

    entries: list[Entry]
    whole: bool
    seen: float
    size: int = 0


class Memory:
    """Keys and what is known of them, in at most `limit` bytes."""

    def __init__(self, limit: int, metrics: Metrics) -> None:
        self._limit = limit
        self._metrics = metrics
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._known)

    @property
    def size(self) -> int:
        """Bytes taken."""
        return self._bytes

    def get(self, key: str) -> Known | None:
        """Return what is known of a key; None when it is not here."""
        known = self._known.get(key)
        if known is None:
            return None
        self._known.move_to_end(key)
        return known

    def put(self, key: str, entries: list[Entry], *, whole: bool, seen: float | None = None) -> None:
        """Remember what is known of a key; the store was asked at `seen`, now if that is not given."""
        self.drop(key)
        self._known[key] = Known(entries, whole, time.monotonic() if seen is None else seen)
        self.weigh(key)

    def weigh(self, key: str) -> None:
        """Count a key's bytes anew, after one of its entries has got another form, and make room."""
        known = self._known.get(key)
        if known is None:
            return
        size = _KEY_BYTES + sum(entry.size for entry in known.entries)
        self._bytes += size - known.size
        known.size = size
        while self._bytes > self._limit and self._known:
            self._bytes -= self._known.popitem(last=False)[1].size
            self._metrics.evictions.inc()
        self._show()

    def drop(self, key: str) -> None:
        """Forget a key."""
        known = self._known.pop(key, None)
        if known is not None:
            self._bytes -= known.size
            self._show()

    def purge(self, matches: Callable[[str], bool]) -> None:
        """Forget the keys with an entry whose URL matches."""
        for key in [
            key for key, known in self._known.items() if any(matches(entry.capture.url) for entry in known.entries)
        ]:
            self.drop(key)

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()
        self._bytes = 0
        self._show()

    def _show(self) -> None:
        self._metrics.memory_bytes.set(self._bytes)
        self._metrics.memory_pages.set(len(self._known))
