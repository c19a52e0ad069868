"""When pages were last asked for: per site a short list of URLs and minutes, in a row of `meta`.

Pages that are in no list count as used when they were received. The lists are written now and then, many uses
together; losing one costs nothing but a worse choice at the next eviction.
"""

import base64
import binascii
from collections import OrderedDict
from collections.abc import Iterable
from hashlib import blake2b

import msgpack
from sqlalchemy import Connection, delete, insert, select

from store.models import Meta

MAX_USES = 4096
"""URLs of a site whose last use is remembered, the most recent."""

Uses = dict[int, int]
"""URLs, as `names.number_of` gives them, and minutes since the epoch."""

PREFIX = "used "


def encode(uses: Uses) -> str:
    """Return a list as text."""
    packed: bytes = msgpack.packb(uses)
    return base64.b64encode(blake2b(packed, digest_size=8).digest() + packed).decode()


def decode(text: str) -> Uses | None:
    """Return the list, None when the text is none."""
    try:
        data = base64.b64decode(text, validate=True)
        found = msgpack.unpackb(data[8:], strict_map_key=False)
    except (binascii.Error, ValueError):
        return None
    if blake2b(data[8:], digest_size=8).digest() != data[:8] or not isinstance(found, dict):
        return None
    return found


def load(connection: Connection, site: int) -> Uses:
    """Return a site's uses; none when the list cannot be read."""
    text = connection.execute(select(Meta.value).where(Meta.name == f"{PREFIX}{site}")).scalar()
    return decode(text) or {} if text else {}


def note(connection: Connection, site: int, urls: Iterable[int], minute: int) -> None:
    """Note that URLs were used."""
    uses = load(connection, site)
    for url in urls:
        uses[url] = max(minute, uses.get(url, 0))
    latest = OrderedDict(sorted(uses.items(), key=lambda use: -use[1])[:MAX_USES])
    put(connection, site, dict(latest))


def put(connection: Connection, site: int, uses: Uses) -> None:
    """Write a site's list in place of the one it has."""
    connection.execute(delete(Meta).where(Meta.name == f"{PREFIX}{site}"))
    if uses:
        connection.execute(insert(Meta).values(name=f"{PREFIX}{site}", value=encode(uses)))
