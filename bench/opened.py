"""A store's file, opened up: what its bytes are for. What is summed is what the database occupies."""

from collections import Counter
from typing import Any

import msgpack
import zstandard
from sqlalchemy import select

from store.database import PAGE_BYTES
from store.models import Pack
from store.packing.packs import decode
from store.sql import SqlStore

_COLUMNS = {"runs": "recipes", "tokens": "tokens", "urls": "urls", "keys": "urls", "digests": "digests"}
_COLUMNS |= {"records": "record ids", "dates": "record ids", "fields": "headers", "headers": "headers"}


def parts(store: SqlStore) -> dict[str, int]:
    """Return the bytes of a SQLite store by what they are for."""
    found: Counter[str] = Counter()
    with store.database.read() as connection:
        query = select(Pack.site, Pack.id, Pack.base, Pack.head, Pack.body)
        pairs = connection.execute(select(Pack.site, Pack.base).where(Pack.base.is_not(None))).all()
        bases = {(site, base) for site, base in pairs}
        for row in connection.execute(query).all():
            found["base" if (row.site, row.id) in bases else "payload"] += len(row.body)
            base_head = store.reader.raw_head(connection, row.site, row.base) if row.base else b""
            found.update(_head(row.head, base_head))
        packed = found.total()
        tables = connection.exec_driver_sql("select name, sum(pgsize) from dbstat group by name").all()
        sizes = {str(name): int(size) for name, size in tables}
        free = int(connection.exec_driver_sql("pragma freelist_count").scalar_one()) * PAGE_BYTES
        total = store.database.size(connection)
    found["rows of packs"] = sizes.pop("pack", 0) - packed
    found["rows of captures"] = sizes.pop("capture", 0)
    found["fingerprints"] = sizes.pop("fingerprint", 0)
    found["index of packs"] = sizes.pop("sqlite_autoindex_pack_1", 0)
    found["other tables"] = sum(sizes.values())
    found["free"] = free
    found["wal, pointers"] = total - found.total()
    return dict(found)


def _head(stored: bytes, base_head: bytes) -> dict[str, int]:
    """Share a compressed head out among its columns, in proportion to what each alone compresses to."""
    compressor = zstandard.ZstdCompressor(level=19)
    alone: Counter[str] = Counter()
    content: dict[str, Any] = msgpack.unpackb(decode(stored, base_head), unicode_errors="surrogatepass")
    for name, column in content.items():
        alone[_COLUMNS.get(name, "other of heads")] += len(
            compressor.compress(msgpack.packb(column, unicode_errors="surrogatepass"))
        )
    shares = {name: len(stored) * size // alone.total() for name, size in alone.items()}
    shares["other of heads"] += len(stored) - sum(shares.values())
    return shares
