"""From rows to captures: heads and raw bodies, each kept in a bounded memory. Safe for several threads."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import Generic, TypeVar

from sqlalchemy import Connection, bindparam, select

from blocks.model import Capture, body_digest, compose
from store.base import DamagedPage, Record
from store.models import Pack
from store.packs import DamagedPack, Head, decode, decode_head
from store.tokens import restore

V = TypeVar("V")

HEAD_BYTES, RAW_BYTES = 16 << 20, 64 << 20
"""What a reader keeps of heads and of raw bodies."""

_KEY = (Pack.site == bindparam("site"), Pack.id == bindparam("pack"))
_HEAD = select(Pack.base, Pack.head).where(*_KEY)
_BODY = select(Pack.base, Pack.raw, Pack.body).where(*_KEY)
"""Made once: making a statement takes longer than the database takes to answer it."""

Key = tuple[int, int]
"""A pack: its site and its id."""


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


class Reader:
    """Reads packs of one store over the connections it is given."""

    def __init__(self) -> None:
        self._heads: Lru[Head] = Lru(HEAD_BYTES)
        self._base_heads: Lru[bytes] = Lru(HEAD_BYTES)
        self._raws: Lru[bytes] = Lru(RAW_BYTES)

    def forget(self) -> None:
        """Drop all that is kept in memory."""
        self._heads.clear()
        self._base_heads.clear()
        self._raws.clear()

    def head(self, connection: Connection, site: int, pack: int) -> Head:
        """Return a pack's head. Gone when there is no such pack, DamagedPack when it cannot be read."""
        found = self._heads.get((site, pack))
        if found is not None:
            return found
        raw = self.raw_head(connection, site, pack)
        head = decode_head(raw)
        self._heads.put((site, pack), head, 4 * len(raw) + 500)
        return head

    def raw_head(self, connection: Connection, site: int, pack: int) -> bytes:
        """Return a pack's raw head; those of bases are kept in memory. Gone, DamagedPack."""
        row = connection.execute(_HEAD, {"site": site, "pack": pack}).first()
        if row is None:
            raise Gone(f"pack {pack}")
        base = b""
        if row.base:
            found = self._base_heads.get((site, row.base))
            base = self.raw_head(connection, site, row.base) if found is None else found
            self._base_heads.put((site, row.base), base, len(base))
        return decode(row.head, base)

    def raw(self, connection: Connection, site: int, pack: int) -> bytes:
        """Return a pack's raw body. Gone when there is no such pack, DamagedPack when it cannot be read."""
        found = self._raws.get((site, pack))
        if found is not None:
            return found
        row = connection.execute(_BODY, {"site": site, "pack": pack}).first()
        if row is None:
            raise Gone(f"pack {pack}")
        raw = decode(row.body, self.raw(connection, site, row.base) if row.base else b"")
        if len(raw) != row.raw:
            raise DamagedPack(f"pack {pack}: {row.raw} bytes expected, {len(raw)} found")
        self._raws.put((site, pack), raw, len(raw))
        return raw

    def capture(self, connection: Connection, site: int, pack: int, slot: int) -> Capture:
        """Return the capture in a slot with its body, whose digest is checked. DamagedPack when it differs."""
        head = self.head(connection, site, pack)
        return _composed(head, pack, slot, lambda needed: self.raw(connection, site, needed))

    def remembered(self, site: int, pack: int, slot: int) -> Capture | None:
        """Return the capture in a slot if all it needs is in memory: the database is not asked. DamagedPack."""
        head = self._heads.get((site, pack))
        if head is None:
            return None

        def fetch(needed: int) -> bytes:
            raw = self._raws.get((site, needed))
            if raw is None:
                raise Gone(f"pack {needed}")
            return raw

        try:
            return _composed(head, pack, slot, fetch)
        except Gone:
            return None


def _composed(head: Head, pack: int, slot: int, fetch: Callable[[int], bytes]) -> Capture:
    """Return the capture in a slot of a pack; `fetch` gives raw bodies."""
    recipe = head.recipes.recipe(slot)
    packs = (pack, *head.needs)
    try:
        body = compose(recipe, _Sources(lambda source: fetch(packs[source])))
    except (ValueError, IndexError) as error:
        raise DamagedPack(f"pack {pack}, slot {slot}: {error}") from error
    if head.tokens[slot]:
        body = restore(body, head.tokens[slot])
    if body_digest(body) != head.digests[slot]:
        raise DamagedPack(f"pack {pack}, slot {slot}: the body's digest differs")
    return replace(head.captures[slot], body=body)


class _Sources(dict[int, bytes]):
    """Raw bodies by number of source, fetched when first asked for."""

    def __init__(self, fetch: Callable[[int], bytes]) -> None:
        self._fetch = fetch

    def __missing__(self, source: int) -> bytes:
        self[source] = raw = self._fetch(source)
        return raw


def damaged(record: Record, error: Exception) -> DamagedPage:
    """Return the error that names the page."""
    return DamagedPage(f"{record.capture.url}: capture {record.id} is damaged: {error}")
