"""Sites and URLs as 48-bit numbers: the first columns of every key."""

from hashlib import blake2b

from sqlalchemy import bindparam, select

from store.models import Site
from store.snapshots import Query, Source, ask

BITS = 48
PROBES = 16
"""Sites whose names hash alike take the following numbers; so many are looked at."""

_NAME = Query(select(Site.name).where(Site.id == bindparam("number")))


def number_of(text: str) -> int:
    """Return the first 48 bits of BLAKE2b of a text. It finds candidates: compare the text as well."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=BITS // 8).digest(), "big")


def site_id(source: Source, name: str) -> tuple[int, bool]:
    """Return a site's number and whether it has a row already."""
    first = number_of(name)
    for number in range(first, first + PROBES):  # one at a time: a range would be asked of every shard
        found = ask(source, _NAME, {"number": number})
        if not found or found[0][0] == name:
            return number, bool(found)
    raise OverflowError(f"site {name!r}: {PROBES} sites with the same number")  # 2**48 to the 15th against it
