"""Captures into packs: known blocks become runs, new ones are appended to the open pack. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import xxhash

from blocks.model import Capture, body_digest
from store.kinds import is_page, pieces_of
from store.known import LARGE_BYTES, Known, Runs
from store.models import ARRIVAL, COMPACTED, PRIVATE
from store.packs import MAX_READ_BYTES, Codec, Head, encode_head, encode_runs

PACK_CAPTURES = 200
"""Captures in a pack at the most: bounds what a look at one head costs."""

BASE_BYTES = 1 << 13
"""The first pack of a site with so many bytes becomes the dictionary of those that follow."""

MAX_NEEDS = 16
"""Other packs that one pack's recipes may refer to at the most."""

PACK_BODIES = 32 << 20
"""Bytes of bodies that a pack gives back at the most: what a builder holds in memory."""


@dataclass(frozen=True, slots=True)
class Make:
    """How packs are made. `pack_bytes` closes a pack; `remember` lets later packs refer to its blocks."""

    kind: int
    level: int
    pack_bytes: int
    remember: bool


ON_ARRIVAL = Make(ARRIVAL, level=6, pack_bytes=1 << 17, remember=True)
"""Small packs, so that a page may need a compacted base and pack beside its own."""

IN_COMPACTION = Make(COMPACTED, level=19, pack_bytes=448 << 10, remember=False)
"""A page needs its pack and the base, of the same size, and nothing else."""


@dataclass(frozen=True, slots=True)
class NewPack:
    """A pack to be written: its columns, and its captures in the order of their slots."""

    id: int
    kind: int
    base: int | None
    raw: int
    blocks: int
    recipes: int
    """Bytes of its encoded recipes."""
    needs: tuple[int, ...]
    head: bytes
    body: bytes
    captures: tuple[Capture, ...]
    sizes: tuple[int, ...]
    """Bytes of the captures' bodies."""
    exact: int
    """Bytes of bodies that the site did not have yet."""


@dataclass(slots=True)
class _Open:
    """The pack being filled."""

    id: int
    raw: bytearray = field(default_factory=bytearray)
    places: dict[bytes, int] = field(default_factory=dict)
    captures: list[Capture] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    runs: list[Runs] = field(default_factory=list)
    bodies: dict[bytes, Runs] = field(default_factory=dict)
    exact: int = 0
    n_bytes: int = 0


class Builder:
    """Turns the captures of one site into packs. `ids` gives the numbers of packs, ascending."""

    def __init__(self, known: Known, ids: Iterable[int], make: Make = ON_ARRIVAL) -> None:
        self.known = known
        self._packs: list[NewPack] = []
        self._raws: dict[int, bytes | bytearray] = {}
        """Raw bodies of packs that the database may not have yet."""
        self._ids = iter(ids)
        self._make = make
        self._open: _Open | None = None

    def add(self, capture: Capture) -> None:
        """Take one capture."""
        if capture.private:
            self._alone(capture, PRIVATE)
            return
        digest = body_digest(capture.body)
        runs = self._body(digest, capture.body)
        if runs is not None:
            _put(self._opened(), capture, digest, runs)
        elif not is_page(capture) and len(capture.body) > LARGE_BYTES:
            self._alone(capture, self._make.kind)
        else:
            self._match(capture, digest)
        if self._open and self._is_full(self._open):
            self.flush()

    def _is_full(self, pack: _Open) -> bool:
        full = len(pack.raw) >= self._make.pack_bytes or len(pack.captures) >= PACK_CAPTURES
        return full or pack.n_bytes >= PACK_BODIES

    def take(self) -> list[NewPack]:
        """Return the packs that were closed since the last time, to be written before more is added."""
        packs, self._packs = self._packs, []
        self._raws.clear()
        return packs

    def flush(self) -> None:
        """Close the open pack; its blocks are known from now on."""
        pack, self._open = self._open, None
        if pack is None or not pack.captures:
            return
        raw = bytes(pack.raw)
        known = self.known
        n_blocks = sum(digest not in known.places for digest in pack.places)
        self._packs.append(self._closed(pack, raw, self._make.kind, known.base, n_blocks))
        known.bodies.update(pack.bodies)
        known.sizes[pack.id] = len(raw)
        self._raws[pack.id] = raw
        if not self._make.remember:
            return
        known.raws[pack.id] = raw
        for digest, offset in pack.places.items():
            known.places.setdefault(digest, (pack.id, offset))
        if not known.base and len(raw) >= BASE_BYTES:
            known.base = pack.id

    def _opened(self) -> _Open:
        if self._open is None:
            self._open = _Open(next(self._ids))
        return self._open

    def _alone(self, capture: Capture, kind: int) -> None:
        """Give a capture a pack of its own, without a base, that is not kept in memory."""
        digest = body_digest(capture.body)
        pack = _Open(next(self._ids), exact=len(capture.body))
        runs = ((pack.id, 0, len(capture.body)),) if capture.body else ()
        _put(pack, capture, digest, runs)
        self._packs.append(self._closed(pack, capture.body, kind, 0, min(len(runs), 1)))
        if kind != PRIVATE:
            self.known.bodies[digest] = runs
            self.known.sizes[pack.id] = len(capture.body)
            self._raws[pack.id] = capture.body

    def _match(self, capture: Capture, digest: bytes) -> None:
        """Find what of a page is known, within the bound on what reading it may cost."""
        pieces = pieces_of(capture)
        pack = self._opened()
        before = len(pack.raw), len(pack.places)
        runs = _runs(pieces, self.known, pack, None)
        allowed = self._affordable(runs, pack, len(capture.body))
        if allowed is not None:
            _undo(pack, *before)
            runs = _runs(pieces, self.known, pack, allowed)
        if len(pack.raw) > self._make.pack_bytes and pack.captures:
            _undo(pack, *before)
            self.flush()
            self._match(capture, digest)
            return
        pack.exact += len(capture.body)
        pack.bodies[digest] = runs
        _put(pack, capture, digest, runs)

    def _body(self, digest: bytes, body: bytes) -> Runs | None:
        """Return where a body that was kept before stands, compared byte by byte."""
        pack = self._open
        runs = self.known.bodies.get(digest) or (pack.bodies.get(digest) if pack else None)
        if runs is None or not self.known.holds(runs, body, self._raws | ({pack.id: pack.raw} if pack else {})):
            return None
        return runs

    def _affordable(self, runs: Runs, pack: _Open, size: int) -> frozenset[int] | None:
        """Return the packs that a page may refer to, those it uses most; None when it may use all it does."""
        used: dict[int, int] = {}
        for source, _, length in runs:
            if source != pack.id:
                used[source] = used.get(source, 0) + length
        base = self.known.base
        budget = max(MAX_READ_BYTES, size) - max(self._make.pack_bytes, len(pack.raw)) - self.known.sizes.get(base, 0)
        left = MAX_NEEDS - 1
        chosen = {base}
        for source in sorted(used, key=lambda s: (-used[s], s)):
            cost = self.known.sizes[source]
            if source != base and cost <= budget and left:
                budget, left = budget - cost, left - 1
                chosen.add(source)
        return None if chosen >= used.keys() else frozenset(chosen)

    def _closed(self, pack: _Open, raw: bytes, kind: int, base: int, n_blocks: int) -> NewPack:
        needs = sorted({run[0] for runs in pack.runs for run in runs} - {pack.id})
        sources = {pack.id: 0, **{need: i + 1 for i, need in enumerate(needs)}}
        recipes = [
            encode_runs(((sources[source], offset, length) for source, offset, length in runs), len(sources))
            for runs in pack.runs
        ]
        head = Head(needs, [replace(c, body=b"") for c in pack.captures], pack.digests, recipes)
        level = self._make.level
        codec = Codec(level, self.known.raw(base) if base else b"")
        return NewPack(
            pack.id,
            kind,
            base or None,
            len(raw),
            n_blocks,
            sum(map(len, recipes)),
            tuple(sorted({*needs, *([base] if base else [])})),
            Codec(level).encode(encode_head(head)),
            codec.encode(raw),
            tuple(pack.captures),
            tuple(sum(run[2] for run in runs) for runs in pack.runs),
            pack.exact,
        )


def base_pack(number: int, raw: bytes, n_blocks: int) -> NewPack:
    """Return a pack of blocks without captures, to be the base of others."""
    level = IN_COMPACTION.level
    body, head = Codec(level).encode(raw), Codec(level).encode(encode_head(Head()))
    return NewPack(number, COMPACTED, None, len(raw), n_blocks, 0, (), head, body, (), (), 0)


def _put(pack: _Open, capture: Capture, digest: bytes, runs: Runs) -> None:
    pack.captures.append(capture)
    pack.n_bytes += len(capture.body)
    pack.digests.append(digest)
    pack.runs.append(runs)


def _undo(pack: _Open, n_bytes: int, n_places: int) -> None:
    """Take back the blocks that were added since the pack had this size."""
    del pack.raw[n_bytes:]
    while len(pack.places) > n_places:
        pack.places.popitem()


def _runs(pieces: list[bytes], known: Known, pack: _Open, allowed: frozenset[int] | None) -> Runs:
    """Return where the pieces stand, neighbours joined; new ones are appended to the open pack.

    The piece after a known one is first looked for where that one ends: the order of a site's blocks seldom changes.
    """
    runs: list[list[int]] = []
    raws, places, raw, new = known.raws, known.places, pack.raw, pack.places
    here: bytes | bytearray = b""
    end = -1
    for piece in pieces:
        size = len(piece)
        if end >= 0 and here.startswith(piece, end):
            runs[-1][2] += size
            end += size
            continue
        digest = xxhash.xxh3_128_digest(piece)
        found = places.get(digest)
        if found and (allowed is None or found[0] in allowed) and raws[found[0]].startswith(piece, found[1]):
            source, offset = found
            here = raws[source]
        else:
            source, here = pack.id, raw
            offset = new.get(digest, -1)
            if offset < 0 or not raw.startswith(piece, offset):
                offset = len(raw)
                raw += piece
                new.setdefault(digest, offset)
        if runs and runs[-1][0] == source and runs[-1][1] + runs[-1][2] == offset:
            runs[-1][2] += size
        else:
            runs.append([source, offset, size])
        end = offset + size
    return tuple((source, offset, length) for source, offset, length in runs)
