"""What was purged and invalidated of late: an answer that was on its way then may be older than that."""

from collections import OrderedDict, deque
from collections.abc import Callable

MOST_PURGES = 1_000
MOST_INVALIDATIONS = 10_000


class Recent:
    """Remembers changes with their times, in microseconds since the epoch."""

    def __init__(self) -> None:
        self._purges: deque[tuple[int, Callable[[str], bool]]] = deque(maxlen=MOST_PURGES)
        self._invalidations: OrderedDict[str, int] = OrderedDict()

    def purge(self, matches: Callable[[str], bool], time: int) -> None:
        """Note that the pages whose URL matches were purged."""
        self._purges.append((time, matches))

    def invalidate(self, key: str, time: int) -> None:
        """Note that what is kept under a key was invalidated."""
        self._invalidations[key] = time
        self._invalidations.move_to_end(key)
        if len(self._invalidations) > MOST_INVALIDATIONS:
            self._invalidations.popitem(last=False)

    def was_purged(self, url: str, since: int) -> bool:
        """Tell whether a URL was purged at or after a time."""
        return any(time >= since and matches(url) for time, matches in self._purges)

    def was_invalidated(self, key: str, since: int, before: int) -> bool:
        """Tell whether a key was invalidated between two times."""
        return since <= self._invalidations.get(key, since - 1) < before
