"""From rows to captures: heads and raw bodies, each kept in a bounded memory. Safe for several threads."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Any, Generic, TypeVar

import xxhash
from sqlalchemy import bindparam, select

from blocks.model import Capture, has_digest
from store.base import DamagedPage, Record
from store.models import Pack
from store.packing.packs import DamagedPack, Head, decode, decode_head
from store.packing.tokens import restore
from store.snapshots import Query, Source, ask

V = TypeVar("V")

HEAD_BYTES, RAW_BYTES = 16 << 20, 64 << 20
"""What a reader keeps of heads and of raw bodies."""

_KEY = (Pack.site == bindparam("site"), Pack.id == bindparam("pack"))
_HEAD = Query(select(Pack.base, Pack.head).where(*_KEY))
_BODY = Query(select(Pack.base, Pack.raw, Pack.body).where(*_KEY))

PLAN_BYTES, RUN_BYTES = 8 << 20, 160
"""What a reader keeps of recipes that were read, and what a run takes there."""

FREED_BYTES = 4 << 20
"""What is freed in pieces up to this size is kept for what is needed next."""

Key = tuple[int, ...]
"""A pack: its site and its id; a capture: its slot as well."""


class Gone(Exception):
    """A pack is not there any more: another process has moved its captures. Look the capture up again."""


class Lru(Generic[V]):
    """The most recently used values, up to a number of bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._values: OrderedDict[Key, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> V | None:
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Key, value: V, size: int) -> None:
        with self._lock:
            self._bytes += size - self._values.pop(key, (None, 0))[1]
            self._values[key] = value, size
            while self._bytes > self._max_bytes and len(self._values) > 1:
                self._bytes -= self._values.popitem(last=False)[1][1]

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._bytes = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A recipe, ready to be followed: (source, start, stop) of each run, and the sources once."""

    runs: list[tuple[int, int, int]]
    sources: list[int]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A raw body in memory. `number` is another one each time a pack is loaded."""

    raw: bytes
    number: int


def keep_freed() -> None:
    """Have the C library keep the memory that raw bodies leave, for the next ones.

    Otherwise it goes back to the system and comes again a page at a time, each cleared first, which takes longer than
    the decompression. glibc does so with all that is smaller than the largest piece it was given back at once, and
    keeps twice as much at the most (mallopt(3), M_MMAP_THRESHOLD); others pay no heed.
    """
    bytes(FREED_BYTES)


class Reader:
    """Reads packs of one store within the transactions it is given."""

    def __init__(self) -> None:
        keep_freed()
        self._heads: Lru[Head] = Lru(HEAD_BYTES)
        self._base_heads: Lru[bytes] = Lru(HEAD_BYTES)
        self._raws: Lru[Loaded] = Lru(RAW_BYTES)
        self._plans: Lru[Plan] = Lru(PLAN_BYTES)
        self._numbers = count(1)

    def forget(self) -> None:
        """Drop all that is kept in memory."""
        self._heads.clear()
        self._base_heads.clear()
        self._raws.clear()
        self._plans.clear()

    def head(self, source: Source, site: int, pack: int) -> Head:
        """Return a pack's head. Gone when there is no such pack, DamagedPack when it cannot be read."""
        found = self._heads.get((site, pack))
        if found is not None:
            return found
        raw = self.raw_head(source, site, pack)
        head = decode_head(raw)
        self._heads.put((site, pack), head, 4 * len(raw) + 500)
        return head

    def raw_head(self, source: Source, site: int, pack: int) -> bytes:
        """Return a pack's raw head; those of bases are kept in memory. Gone, DamagedPack."""
        base, head = _only(ask(source, _HEAD, {"site": site, "pack": pack}), pack)
        dictionary = b""
        if base:
            found = self._base_heads.get((site, base))
            dictionary = self.raw_head(source, site, base) if found is None else found
            self._base_heads.put((site, base), dictionary, len(dictionary))
        return decode(head, dictionary)

    def raw(self, source: Source, site: int, pack: int) -> bytes:
        """Return a pack's raw body. Gone when there is no such pack, DamagedPack when it cannot be read."""
        return self._load(source, site, pack).raw

    def _load(self, source: Source, site: int, pack: int) -> Loaded:
        found = self._raws.get((site, pack))
        if found is not None:
            return found
        base, size, body = _only(ask(source, _BODY, {"site": site, "pack": pack}), pack)
        raw = decode(body, self.raw(source, site, base) if base else b"")
        if len(raw) != size:
            raise DamagedPack(f"pack {pack}: {size} bytes expected, {len(raw)} found")
        loaded = Loaded(raw, next(self._numbers))
        self._raws.put((site, pack), loaded, len(raw))
        return loaded

    def capture(self, source: Source, site: int, pack: int, slot: int) -> Capture:
        """Return the capture in a slot with its body, whose digest is checked. DamagedPack when it differs."""
        head = self.head(source, site, pack)
        return self._composed(head, site, pack, slot, lambda needed: self._load(source, site, needed))

    def remembered(self, site: int, pack: int, slot: int) -> Capture | None:
        """Return the capture in a slot if all it needs is in memory: the database is not asked. DamagedPack."""
        head = self._heads.get((site, pack))
        if head is None:
            return None

        def fetch(needed: int) -> Loaded:
            found = self._raws.get((site, needed))
            if found is None:
                raise Gone(f"pack {needed}")
            return found

        try:
            return self._composed(head, site, pack, slot, fetch)
        except Gone:
            return None

    def _composed(self, head: Head, site: int, pack: int, slot: int, fetch: Callable[[int], Loaded]) -> Capture:
        """Return the capture in a slot of a pack; `fetch` gives raw bodies."""
        packs = (pack, *head.needs)
        try:
            plan = self._plan(head, site, pack, slot)
            needed = {source: packs[source] for source in plan.sources}
        except (IndexError, ValueError) as error:
            raise DamagedPack(f"pack {pack}, slot {slot}: {error}") from error
        loaded = {source: fetch(number) for source, number in needed.items()}
        raws = {source: memoryview(found.raw) for source, found in loaded.items()}
        # a run beyond its source gives fewer bytes, which the digest does not agree with
        body = b"".join([raws[source][start:stop] for source, start, stop in plan.runs])
        if head.tokens[slot]:
            body = restore(body, head.tokens[slot])
        proof: tuple[bytes | int, ...] = (xxhash.xxh3_128_digest(body), *[found.number for found in loaded.values()])
        if head.proofs.get(slot) != proof:
            if not has_digest(body, head.digests[slot]):
                raise DamagedPack(f"pack {pack}, slot {slot}: the body's digest differs")
            head.proofs[slot] = proof
        return _with_body(head.captures[slot], body)

    def _plan(self, head: Head, site: int, pack: int, slot: int) -> Plan:
        plan = self._plans.get((site, pack, slot))
        if plan is None:
            sources, starts, stops = head.recipes.columns(slot)
            plan = Plan(list(zip(sources, starts, stops, strict=True)), sorted(set(sources)))
            self._plans.put((site, pack, slot), plan, RUN_BYTES * (1 + len(sources)))
        return plan


def _only(rows: list[Any], pack: int) -> Any:
    if not rows:
        raise Gone(f"pack {pack}")
    return rows[0]


def _with_body(c: Capture, body: bytes) -> Capture:
    """Return `dataclasses.replace(c, body=body)`, which takes as long as a small page's bytes."""
    return Capture(
        *(c.url, c.time, c.status, c.headers, body, c.coding, c.reason, c.http_version),
        *(c.request_time, c.key, c.vary, c.private, c.record_id, c.date),
    )


def damaged(record: Record, error: Exception) -> DamagedPage:
    """Return the error that names the page."""
    return DamagedPage(f"{record.capture.url}: capture {record.id} is damaged: {error}")
