"""Sites with bytes of purged captures that are still to be written anew: a row of `meta` each.

A row is there from the transaction that deletes captures until nothing of them is left, whoever sees to that, and
however often they were killed before.
"""

from sqlalchemy import Connection, delete, insert, select

from store.database import meta
from store.models import Meta

PREFIX = "gone "


def note(connection: Connection, site: int) -> None:
    """Note that captures of a site are gone, and their bytes are not. Call it after `purges` was counted."""
    connection.execute(delete(Meta).where(Meta.name == f"{PREFIX}{site}"))
    connection.execute(insert(Meta).values(name=f"{PREFIX}{site}", value=meta(connection, "purges")))


def noted(connection: Connection) -> dict[int, str]:
    """Return the sites, and which purge was the last of each."""
    rows = connection.execute(select(Meta.name, Meta.value).where(Meta.name.startswith(PREFIX)))
    return {int(row.name.removeprefix(PREFIX)): row.value for row in rows if row.name.removeprefix(PREFIX).isdecimal()}


def settle(connection: Connection, site: int, purge: str) -> None:
    """Note that nothing is left of a site's purges up to this one; a later one stays noted."""
    connection.execute(delete(Meta).where(Meta.name == f"{PREFIX}{site}", Meta.value == purge))
