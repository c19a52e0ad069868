"""Fingerprints of a pack's prose, to and from the bytes of its row (docs/format.md, "Fingerprints"). Pure."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import zip_longest

import numpy as np

from blocks.encoding import encoding_of
from blocks.fingerprints import FINGERPRINT_BYTES, Fingerprints, fingerprints_of
from blocks.model import Capture
from store.base import Record
from store.packing.kinds import is_page, pieces_of
from store.packing.packs import Codec, DamagedPack, decode

MOST_BLOCKS = (1 << 16) - 1
"""Blocks of one capture that have fingerprints."""

_LEVEL = 19
_HEADER = np.dtype([("pack", "<u8"), ("n_captures", "<u4")])


def prose_of(capture: Capture) -> Fingerprints:
    """Return the fingerprints of a capture's distinct blocks of prose, in order; none of what is private or no page."""
    if capture.private or not is_page(capture):
        return np.empty((0, FINGERPRINT_BYTES), np.uint8)
    pieces = list(dict.fromkeys(pieces_of(capture)))
    return fingerprints_of(pieces, encoding_of(capture.body, capture.header("content-type")))[1][:MOST_BLOCKS]


def encode_prose(pack: int, found: Sequence[Fingerprints]) -> bytes:
    """Return the row of a pack, given the fingerprints of each of its captures."""
    header = np.array([(pack, len(found))], _HEADER).tobytes()
    counts = np.array([len(one) for one in found], "<u2").tobytes()
    return Codec(_LEVEL).encode(b"".join([header, counts, *(one.tobytes() for one in found)]))


def decode_prose(pack: int, data: bytes) -> tuple[list[int], Fingerprints]:
    """Return how many blocks of prose each capture of a pack has, and their fingerprints. DamagedPack."""
    raw = decode(data)
    if len(raw) < _HEADER.itemsize:
        raise DamagedPack("fingerprints: too short")
    number, n_captures = np.frombuffer(raw, _HEADER, 1)[0].tolist()
    begin = _HEADER.itemsize + 2 * n_captures
    if number != pack or len(raw) < begin:
        raise DamagedPack("fingerprints: of another pack")
    counts = np.frombuffer(raw, "<u2", n_captures, _HEADER.itemsize).tolist()
    if len(raw) != begin + FINGERPRINT_BYTES * sum(counts):
        raise DamagedPack("fingerprints: more or fewer than there should be")
    return counts, np.frombuffer(raw, np.uint8, -1, begin).reshape(-1, FINGERPRINT_BYTES)


def in_turn(found: Iterable[tuple[Hashable, int, Record]]) -> list[Record]:
    """Return captures, given with their sites and how many fingerprints meet: those with most of each site in turn,
    among equals the newest."""
    by_site: dict[Hashable, list[tuple[int, Record]]] = defaultdict(list)
    for site, n_hits, record in found:
        by_site[site].append((n_hits, record))
    columns = [sorted(rows, key=_most_and_newest) for rows in by_site.values()]
    columns.sort(key=lambda column: _most_and_newest(column[0]))
    return [row[1] for turn in zip_longest(*columns) for row in turn if row is not None]


def _most_and_newest(row: tuple[int, Record]) -> tuple[int, int, str, int]:
    n_hits, record = row
    return -n_hits, -record.capture.time, record.capture.url, record.id
