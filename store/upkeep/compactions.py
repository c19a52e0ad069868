"""When the store was last compacted, and what that won: a row of `meta`."""

import re
import time

from sqlalchemy import Connection, delete, insert, select

from store.base import Compaction, Plan
from store.models import Meta

NAME = "compacted"

PATTERN = re.compile(r"(\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18})")
"""Seconds since the epoch, packs rewritten, bytes on disk before and after."""


def note(connection: Connection, plan: Plan) -> None:
    """Note a compaction that ends now."""
    value = f"{int(time.time())} {plan.rewrite} {plan.bytes_before} {plan.bytes_after}"
    connection.execute(delete(Meta).where(Meta.name == NAME))
    connection.execute(insert(Meta).values(name=NAME, value=value))


def load(connection: Connection) -> Compaction | None:
    """Return the last compaction, None when there was none or it cannot be read."""
    value = connection.execute(select(Meta.value).where(Meta.name == NAME)).scalar()
    match = PATTERN.fullmatch(value or "")
    return Compaction(*(int(number) for number in match.groups())) if match else None
