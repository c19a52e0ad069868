"""What of a page its site has: neighbouring known blocks become runs, the rest is appended to the open pack. Pure.

A known stretch that is short and stands beside new blocks is appended again with them: its run would cost more than
the few bytes by which the pack's compression tells it from the text it has seen. Measured in docs/format.md.
"""

from dataclasses import dataclass, field
from itertools import accumulate, compress
from operator import ne

import xxhash

from store.packing.known import Known, Runs

NEW = 0
"""The source of a segment that the site does not have; packs' ids begin at 1."""

SELF = -1
"""The source of a segment that stands further up in the body itself, and nowhere else."""


@dataclass(slots=True)
class Tail:
    """The end of the open pack: its raw body, and where its blocks stand by digest. `cut` takes back what was added."""

    id: int
    raw: bytearray = field(default_factory=bytearray)
    places: dict[bytes, int] = field(default_factory=dict)

    def mark(self) -> tuple[int, int]:
        """Return how much there is, for `cut`."""
        return len(self.raw), len(self.places)

    def cut(self, mark: tuple[int, int]) -> None:
        """Take back all that was added since `mark`."""
        del self.raw[mark[0] :]
        while len(self.places) > mark[1]:
            self.places.popitem()


@dataclass(slots=True)
class Segment:
    """A stretch of a body: `start` to `stop` stands at `offset` of a source, or is NEW."""

    source: int
    offset: int
    start: int
    stop: int
    digest: bytes = b""
    """Of the block to refer to, when the source is SELF."""


_NONE = b"", 1 << 62
"""After the last new block."""

Match = tuple[list[Segment], dict[bytes, int]]
"""A body's segments, in order, and by digest where each new block starts, in order."""


def match(body: bytes, pieces: list[bytes], known: Known, tail: Tail, join_bytes: int) -> Match:
    """Return what of a body is known, and what is new; a block that stands further up counts as new when it follows new
    ones and is shorter than `join_bytes`.

    The block after a known one is first looked for where that one ends: the order of a site's blocks seldom changes.
    """
    known.place()
    if not known.places and not tail.places:
        return _first(body, pieces, join_bytes)
    segments: list[Segment] = []
    fresh: dict[bytes, int] = {}
    places, raws, own, raw = known.places, known.raws, tail.places, tail.raw
    look, digest_of = places.get, xxhash.xxh3_128_digest
    here: bytes | bytearray = b""
    end, at = 1, 0  # beyond what is here: nothing begins there
    segment = Segment(-2, 0, 0, 0)
    for piece in pieces:
        if here.startswith(piece, end):
            size = len(piece)
            end += size
            at += size
            continue
        segment.stop = at
        digest = digest_of(piece)
        size = len(piece)
        source, offset, first = NEW, 0, b""
        found = look(digest)
        if found and raws[found[0]].startswith(piece, found[1]):
            source, offset = found
            here, end = raws[source], offset + size
        elif (mine := own.get(digest)) is not None and raw.startswith(piece, mine):
            source, offset, here, end = tail.id, mine, raw, mine + size
        else:
            here, end = b"", 1
            before = fresh.setdefault(digest, at)
            if before != at and (segment.source or size >= join_bytes) and body.startswith(piece, before):
                source, first = SELF, digest
        if source != segment.source or (source and (first or offset != segment.offset + at - segment.start)):
            segment = Segment(source, offset, at, at + size, first)
            segments.append(segment)
        at += size
    segment.stop = at
    return segments, fresh


def _first(body: bytes, pieces: list[bytes], join_bytes: int) -> Match:
    """Do what `match` does where nothing is known yet: a page only has to be compared with itself."""
    digests = list(map(xxhash.xxh3_128_digest, pieces))
    starts = list(accumulate(map(len, pieces), initial=0))
    fresh: dict[bytes, int] = {}
    firsts = list(map(fresh.setdefault, digests, starts))
    segments: list[Segment] = []
    done = 0
    for index in compress(range(len(pieces)), map(ne, firsts, starts)):
        at, piece = starts[index], pieces[index]
        follows_new = at > done or not done
        if (follows_new and len(piece) < join_bytes) or not body.startswith(piece, firsts[index]):
            continue
        if follows_new:
            segments.append(Segment(NEW, 0, done, at))
        done = at + len(piece)
        segments.append(Segment(SELF, 0, at, done, digests[index]))
    if done < len(body):
        segments.append(Segment(NEW, 0, done, len(body)))
    return segments, fresh


def restrict(segments: list[Segment], sources: frozenset[int]) -> list[Segment]:
    """Return the segments with those of other sources made NEW: known elsewhere, they are kept here once more."""
    return [s if s.source in sources else Segment(NEW, 0, s.start, s.stop) for s in segments]


def append(body: bytes, segments: list[Segment], new: dict[bytes, int], tail: Tail, join_bytes: int) -> Runs:
    """Append what is new to the open pack and return the body's runs; known stretches below `join_bytes` go along."""
    runs: list[tuple[int, int, int]] = []
    place = tail.places.setdefault
    blocks = iter(new.items())
    digest, start = next(blocks, _NONE)
    previous = -1
    for index, segment in enumerate(segments):
        size = segment.stop - segment.start
        beside = previous == NEW or (index + 1 < len(segments) and segments[index + 1].source == NEW)
        previous = segment.source
        if segment.source != NEW and not (beside and size < join_bytes):
            source, offset = segment.source, segment.offset
            if segment.digest:
                source, offset = tail.id, tail.places[segment.digest]
        else:
            previous, source, offset = NEW, tail.id, len(tail.raw)
            tail.raw += body[segment.start : segment.stop]
            stop, shift = segment.stop, offset - segment.start
            while start < stop:
                place(digest, start + shift)
                digest, start = next(blocks, _NONE)
        if runs and runs[-1][0] == source and runs[-1][1] + runs[-1][2] == offset:
            runs[-1] = source, runs[-1][1], runs[-1][2] + size
        else:
            runs.append((source, offset, size))
    return tuple(runs)
