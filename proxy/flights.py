"""One fetch for many: which keys are being fetched, and who waits for them (RFC 9111, section 4)."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from proxy.entry import Entry

REMEMBERED = 10_000
"""Keys remembered whose answers could not be shared."""

APART_SECONDS = 60.0
"""How long nobody waits for a fetch of a key whose last answer could not be shared."""


@dataclass(slots=True, eq=False)
class Flight:
    """A fetch under way. The future is done when it has ended: with an entry that others may be given, or None."""

    key: str
    landed: "asyncio.Future[Entry | None]"


class Flights:
    """The fetches under way, one a key. Waiting is worth it only where answers are for everyone.

    A key whose answer turned out to be one person's is remembered for a while: its requests go on at once,
    and do not line up behind each other.
    """

    def __init__(self) -> None:
        self._flights: dict[str, Flight] = {}
        self._apart: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._flights)

    def of(self, key: str) -> Flight | None:
        """Return the fetch of a key that is under way."""
        return self._flights.get(key)

    def apart(self, key: str, now: float) -> bool:
        """Tell whether fetches of a key go their own ways, at a monotonic time in seconds."""
        return self._apart.get(key, 0.0) > now

    def begin(self, key: str) -> Flight:
        """Note that a fetch of a key begins, for others to wait for."""
        flight = Flight(key, asyncio.get_running_loop().create_future())
        self._flights[key] = flight
        return flight

    def leave(self, key: str) -> None:
        """Let nobody else wait for the fetch of a key that is under way: its answer is of before a purge."""
        self._flights.pop(key, None)

    def land(self, flight: Flight, entry: Entry | None, *, answered: bool) -> None:
        """Note that a fetch has ended: with an entry for everyone, with another answer, or with none at all.

        Those who waited for an answer that is for one alone go on by themselves; without any answer the first
        of them fetches for the others.
        """
        if flight.landed.done():
            return
        if self._flights.get(flight.key) is flight:
            del self._flights[flight.key]
        if answered and entry is None:
            self._apart[flight.key] = flight.landed.get_loop().time() + APART_SECONDS
            self._apart.move_to_end(flight.key)
            while len(self._apart) > REMEMBERED:
                self._apart.popitem(last=False)
        elif answered:
            self._apart.pop(flight.key, None)
        flight.landed.set_result(entry)
