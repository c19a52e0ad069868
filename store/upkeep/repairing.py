"""What `check --repair` does: captures that cannot be read go, and whatever belongs to nothing; all else stays."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, func, select, update

from store import alike, freshenings, uses
from store.finding import CAPTURE
from store.models import FresheningRow, Meta, Pack
from store.parts import Parts
from store.reading import Reader


def drop_lost(store: Parts, site: int, ids: Collection[int]) -> None:
    """Delete all rows of a site's captures that are lost, and fingerprints that nobody can use."""
    numbers = sorted(ids)
    with store.database.write() as connection:
        alike.drop(connection, site, alike.wrong(connection, Reader(), site))
        for start in range(0, len(numbers), 500):
            some = numbers[start : start + 500]
            connection.execute(delete(CAPTURE).where(CAPTURE.c.site == site, CAPTURE.c.id.in_(some)))


def put_right(store: Parts) -> None:
    """Delete freshenings without a capture and lists of uses that cannot be read; let the counter be above all ids."""
    with store.database.write() as connection:
        for stray in freshenings.strays(connection):
            row = (FresheningRow.site == stray.site, FresheningRow.id == stray.id)
            connection.execute(delete(FresheningRow).where(*row))
        query = select(Meta.name, Meta.value).where(Meta.name.startswith(uses.PREFIX))
        for name, value in connection.execute(query).all():
            if uses.decode(value) is None:
                connection.execute(delete(Meta).where(Meta.name == name))
        highest = max(connection.execute(select(func.max(column))).scalar() or 0 for column in (Pack.id, CAPTURE.c.id))
        following = connection.execute(select(Meta.value).where(Meta.name == "next")).scalar() or ""
        if not following.isdecimal() or int(following) <= highest:
            connection.execute(update(Meta).where(Meta.name == "next").values(value=str(highest + 1)))
