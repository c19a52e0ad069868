"""Sites and URLs as 48-bit numbers: the first columns of every key."""

from hashlib import blake2b

from sqlalchemy import Connection, bindparam, select

from store.models import Site

BITS = 48
PROBES = 16
"""Sites whose names hash alike take the following numbers; so many are looked at."""

_NAME = select(Site.name).where(Site.id == bindparam("number"))


def number_of(text: str) -> int:
    """Return the first 48 bits of BLAKE2b of a text. It finds candidates: compare the text as well."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=BITS // 8).digest(), "big")


def site_id(connection: Connection, name: str) -> tuple[int, bool]:
    """Return a site's number and whether it has a row already."""
    first = number_of(name)
    for number in range(first, first + PROBES):  # one at a time: a range would be asked of every shard
        found = connection.execute(_NAME, {"number": number}).scalar()
        if found is None or found == name:
            return number, found is not None
    raise OverflowError(f"site {name!r}: {PROBES} sites with the same number")  # 2**48 to the 15th against it
