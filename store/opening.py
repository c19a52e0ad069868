"""From a store URL to a store."""

from collections.abc import Mapping

from store.base import Store
from store.database import Database
from store.sql import SqlStore


def open_store(
    url: str,
    *,
    create: bool = True,
    read_only: bool = False,
    sites: Mapping[str, str] | None = None,
) -> Store:
    """Open the store that an SQLAlchemy URL names, migrating it when it is older than the program.

    `memory:` is a store that ends with the process. `sites` maps hosts to sites. With `create` false a
    store that is not there yet is NotAStore, as is whatever is no store at all; StoreTooNew when a newer
    program wrote it; StoreUnavailable when the database does not answer.
    """
    if url == "memory:":
        from store.memory import MemoryStore

        return MemoryStore(sites)
    database = Database(url, read_only=read_only)
    try:
        database.prepare(create=create)
    except BaseException:
        database.close()
        raise
    return SqlStore(database, sites)
