"""Jobs that one process does at a time: whoever claims a job first does it, the others pass it over.

On Postgres a claim is an advisory lock, held by a connection of its own that does nothing else. It ends with the job,
and with the process or its connection, so nothing is left of a process that was killed. No transaction is open
meanwhile: its snapshot would keep vacuum from freeing anything. (A pooler between must pool sessions.) A lock on the
site's row (`for update skip locked`) would claim as well, but captures of the site write that row and would wait
for the job. A claim saves double work only: jobs that meet all the same find that rows have changed, and look again.
"""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from store.database import Database

EVICTION = "eviction"


def site_job(site: int) -> str:
    """Return the name of all work that writes a site's packs anew: compaction and collection."""
    return f"site {site}"


@contextmanager
def claimed(database: Database, job: str) -> Iterator[bool]:
    """Tell whether the job is this process's while the context lasts. On SQLite it always is: its processes are of one
    machine, and wait for each other's writes."""
    if database.is_sqlite:
        yield True
        return
    key = int.from_bytes(blake2b(f"pagemason {job}".encode(), digest_size=8).digest(), "big", signed=True)
    with database.alone() as connection:
        query = text("select pg_try_advisory_lock(:key)")
        mine = bool(connection.execute(query, {"key": key}).scalar_one())
        try:
            yield mine
        finally:
            if mine:
                with contextlib.suppress(DBAPIError):  # a connection that is lost has lost its lock as well
                    connection.execute(text("select pg_advisory_unlock(:key)"), {"key": key})
