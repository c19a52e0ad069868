"""What reading costs: milliseconds for a page, cold and warm, MB/s of everything, bytes decompressed for a page."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from bench.baselines import dictionary_reader
from store import reading
from store.packing.packs import decode
from store.sql import SqlStore

MAX_PAGES, MIN_READS = 400, 60
"""Pages read one by one, evenly spread; fewer pages are read again until there are so many reads."""

WARM_READS = 3


def of_dictionary(path: Path, urls: Sequence[str]) -> dict[str, float]:
    """Return the figures of a file with a dictionary a site; its dictionaries are in memory."""
    read, close = dictionary_reader(path)
    seconds = [_timed(lambda u=url: read(u)) for url in _some(urls)]  # type: ignore[misc]
    start, n_bytes = time.perf_counter(), 0
    for url in urls:
        n_bytes += len(read(url))
    speed = n_bytes / 1e6 / (time.perf_counter() - start)
    close()
    return {**_percentiles("page", seconds), "MB/s": speed}


def of_store(store: SqlStore, urls: Sequence[str]) -> dict[str, float]:
    """Return the figures of a store. Cold: nothing of it is in memory. Warm: the page was just read."""

    def read(url: str) -> None:
        store.read(store.find(url, limit=1)[0])

    cold, warm, decompressed = [], [], []
    read(urls[0])
    for url in _some(urls):
        store.forget()
        with _counting() as sizes:
            cold.append(_timed(lambda u=url: read(u)))  # type: ignore[misc]
        decompressed.append(sum(sizes))
        warm.append(min(_timed(lambda u=url: read(u)) for _ in range(WARM_READS)))  # type: ignore[misc]
    store.forget()
    start, n_bytes = time.perf_counter(), 0
    for record in store.captures():
        n_bytes += len(store.read(record).body)
    speed = n_bytes / 1e6 / (time.perf_counter() - start)
    figures = {**_percentiles("cold page", cold), **_percentiles("warm page", warm), "MB/s": speed}
    figures["decompressed kB, median"] = statistics.median(decompressed) / 1e3
    figures["decompressed kB, max"] = max(decompressed) / 1e3
    return figures


@contextmanager
def _counting() -> Iterator[list[int]]:
    """Collect the sizes of all that is decompressed, heads included."""
    sizes: list[int] = []

    def counted(stored: bytes, base: bytes = b"") -> bytes:
        raw = decode(stored, base)
        sizes.append(len(raw))
        return raw

    with patch.object(reading, "decode", counted):
        yield sizes


def _some(urls: Sequence[str]) -> Sequence[str]:
    chosen = [*urls[:: max(1, len(urls) // MAX_PAGES)]]
    return chosen * -(-MIN_READS // max(1, len(chosen)))


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _percentiles(name: str, seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        f"{name} p50 ms": 1e3 * ordered[len(ordered) // 2],
        f"{name} p99 ms": 1e3 * ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)],
    }
