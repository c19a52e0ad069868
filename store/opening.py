"""From a store URL to a store."""

from collections.abc import Mapping

from store.base import NotAStore, Store
from store.memory import MemoryStore


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
        return MemoryStore(sites)
    raise NotAStore(f"{url}: no store of this kind is known")
