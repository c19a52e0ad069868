"""Captures into packs: known blocks become runs, new ones are appended to the open pack. Pure."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

import xxhash

from blocks.model import Capture, body_digest
from store.models import PRIVATE
from store.packing import recipes
from store.packing.cutting import Cut, cut
from store.packing.filling import OpenPack
from store.packing.kinds import is_page
from store.packing.known import LARGE_BYTES, Form, Known, Runs
from store.packing.lookup import Lookup, Parts
from store.packing.making import ON_ARRIVAL, Make
from store.packing.matching import NEW, SELF, Tail, append, match, restrict
from store.packing.packs import MAX_READ_BYTES, Codec
from store.packing.tokens import Pairs, canonical

logger = logging.getLogger(__name__)

PACK_CAPTURES = 200
"""Captures in a pack at the most: bounds what a look at one head costs."""

BASE_BYTES = 1 << 13
"""The first pack of a site with so many bytes becomes the dictionary of those that follow."""

MAX_NEEDS = 16
"""Other packs that one page may need at the most."""

BASE_HEAD_BYTES = 1 << 15
"""The raw head of a base made in compaction: every page of the site decompresses it."""

PACK_BODIES = 32 << 20
"""Bytes of bodies that a pack gives back at the most: what a builder holds in memory."""


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


class Builder:
    """Turns the captures of one site into packs. `ids` gives the numbers of packs, ascending; `plain` encodes those
    without a base, as `make` says: making a codec takes as long as encoding a small page. `cut` cuts pages."""

    def __init__(
        self, known: Known, ids: Iterable[int], make: Make = ON_ARRIVAL, plain: Codec | None = None, cut: Cut = cut
    ) -> None:
        self.known = known
        self._packs: list[NewPack] = []
        self._raws: dict[int, bytes | bytearray] = {}
        """Raw bodies of packs that the database may not have yet."""
        self._ids = iter(ids)
        self._make = make
        self._lookup = Lookup(known, make, self._raws, cut)
        self._open: OpenPack | None = None
        self._codecs: dict[int, tuple[Codec, Codec]] = {0: (plain, plain)} if plain else {}
        self._is_base = False
        """Whether the open pack is to be the base."""
        self._plain: set[int] = set()
        """Packs without a base."""

    def add(self, capture: Capture, pairs: Pairs | None = None) -> None:
        """Take one capture. `pairs` are the tokens to replace in it, found here when they are None."""
        if capture.private:
            self._alone(capture, PRIVATE)
            return
        digest = body_digest(capture.body)
        form = self._body(digest, capture.body)
        if form is not None and self._opened().captures and self._is_too_much(capture, digest, form):
            self.flush()
        if form is not None and not self._is_too_much(capture, digest, form):
            self._put(capture, digest, form)
        elif not is_page(capture) and len(capture.body) > LARGE_BYTES:
            self._alone(capture, self._make.kind)
        else:
            self._fit(capture, digest, pairs)
        if self._open and not self._is_base and self._is_full(self._open):
            self.flush()

    def sample(self, capture: Capture, pairs: Pairs) -> bool:
        """Take one capture whose blocks the base has into the base; False when its head has no room for it."""
        if not is_page(capture) and len(capture.body) > LARGE_BYTES:
            return False
        pack = self._opened()
        digest = body_digest(capture.body)
        mark = pack.tail.mark()
        before = self._body(digest, capture.body)
        form = before or self._form(self._lookup.first(capture, pack, pairs), pack.tail)
        if pack.head_with(capture, form) > BASE_HEAD_BYTES:
            pack.tail.cut(mark)
            return False
        if before:
            self._put(capture, digest, form)
        else:
            self._keep(capture, digest, form, canonical(capture.body, form[1]))
        return True

    def base(self, blocks: list[bytes]) -> None:
        """Make these blocks the site's base: the raw body of the open pack, which only `flush` closes."""
        self._is_base = True
        tail = self._opened().tail
        for block in blocks:
            segments, new = match(block, [block], self.known, tail, 0)
            append(block, segments, new, tail, 0)

    def take(self) -> list[NewPack]:
        """Return the packs that were closed since the last time, to be written before more is added."""
        packs, self._packs = self._packs, []
        self._raws.clear()
        return packs

    def flush(self) -> None:
        """Close the open pack; its blocks are known from now on when the make says so, or it is to be the base."""
        pack, self._open = self._open, None
        is_base, self._is_base = self._is_base, False
        if pack is None or not (pack.captures or (is_base and pack.tail.raw)):
            return
        raw, known = bytes(pack.tail.raw), self.known
        known.place()
        places = pack.tail.places
        if known.places:
            places = {digest: offset for digest, offset in places.items() if digest not in known.places}
        closed, head = self._closed(pack, raw, self._make.kind, pack.base, len(places))
        self._packs.append(closed)
        known.bodies.update(pack.bodies)
        known.sizes[pack.id] = len(raw)
        self._raws[pack.id] = raw
        if not (self._make.remember or is_base):
            return
        known.raws[pack.id] = raw
        known.unplaced[pack.id] = places
        known.canonicals.update(pack.canonicals)
        if not known.base and (is_base or len(raw) >= BASE_BYTES):
            known.base, known.base_head = pack.id, head

    def _is_full(self, pack: OpenPack) -> bool:
        full = len(pack.tail.raw) >= self._make.pack_bytes or len(pack.captures) >= PACK_CAPTURES
        return full or pack.n_bytes >= PACK_BODIES or pack.base != self.known.base

    def _opened(self) -> OpenPack:
        if self._open is None:
            self._open = OpenPack(Tail(next(self._ids)), self.known.base)
        return self._open

    def _alone(self, capture: Capture, kind: int) -> None:
        """Give a capture a pack of its own, without a base, that is not kept in memory."""
        digest = body_digest(capture.body)
        pack = OpenPack(Tail(next(self._ids)), exact=len(capture.body))
        runs = ((pack.id, 0, len(capture.body)),) if capture.body else ()
        pack.put(capture, digest, (runs, ()))
        self._packs.append(self._closed(pack, capture.body, kind, 0, min(len(runs), 1))[0])
        if kind != PRIVATE:
            self.known.bodies[digest] = runs, ()
            self.known.sizes[pack.id] = len(capture.body)
            self._raws[pack.id] = capture.body

    def _body(self, digest: bytes, body: bytes) -> Form | None:
        """Return how a body that was kept before is kept, compared byte by byte."""
        pack = self._open
        form = self.known.bodies.get(digest) or (pack.bodies.get(digest) if pack else None)
        more = self._raws | ({pack.id: pack.tail.raw} if pack else {})
        return form if form is not None and self.known.holds(form, body, more) else None

    def _fit(self, capture: Capture, digest: bytes, pairs: Pairs | None) -> None:
        """Put a body into the open pack, or into the next one when that gets too full."""
        parts = self._lookup.first(capture, self._opened(), pairs)
        form = self._fitting(capture, digest, parts)
        if form is None:
            self.flush()
            if not self._make.remember:  # what it has found is in a pack that no other may need
                parts = self._lookup.again(capture, self._opened(), parts)
            form = self._form(parts, self._opened().tail)
        if self._is_too_much(capture, digest, form):
            form = self._without_base(capture, digest, form, parts)
        is_first = pairs is None and self._lookup.knows_no_tokens() and is_page(capture)
        self._keep(capture, digest, form, parts.body)
        if is_first:
            self.known.unread.append(self._opened().id)

    def _fitting(self, capture: Capture, digest: bytes, parts: Parts) -> Form | None:
        """Append what of a body is new to the open pack; None, and nothing appended, when that would get too full."""
        pack, most = self._opened(), self._make.pack_bytes
        if pack.captures and len(pack.tail.raw) + parts.used()[NEW] > most:
            return None
        mark = pack.tail.mark()
        form = self._form(parts, pack.tail)
        if pack.captures and (len(pack.tail.raw) > most or self._is_too_much(capture, digest, form)):
            pack.tail.cut(mark)
            return None
        return form

    def _keep(self, capture: Capture, digest: bytes, form: Form, body: bytes) -> None:
        """Put a body that the site does not have into the open pack, once its recipe was tried; `body` has the site's
        tokens."""
        pack = self._opened()
        if not self.known.holds((form[0], ()), body, self._raws | {pack.id: pack.tail.raw}):
            logger.error("%s: its recipe does not give the page back; kept whole instead", capture.url)
            form = ((pack.id, len(pack.tail.raw), len(capture.body)),), ()
            pack.tail.raw += capture.body
        else:
            pack.canonicals[xxhash.xxh3_128_digest(body)] = form[0]
        pack.exact += len(capture.body)
        pack.bodies[digest] = form
        self._put(capture, digest, form)

    def _without_base(self, capture: Capture, digest: bytes, form: Form, parts: Parts) -> Form:
        """Make the open pack, which is empty but for this page, one without a base, if reading it then costs less."""
        pack = self._opened()
        with_base = self._reading(capture, digest, form)
        plain = self._open = OpenPack(Tail(pack.id))
        join_bytes = self._make.join_bytes
        found = match(parts.body, parts.pieces, Known(0, "", bytes), plain.tail, join_bytes)
        alone = append(parts.body, *found, plain.tail, join_bytes), parts.pairs
        if self._reading(capture, digest, alone) < with_base:
            return alone
        self._open = pack
        return form

    def _put(self, capture: Capture, digest: bytes, form: Form) -> None:
        pack = self._opened()
        pack.beside, pack.elsewhere = self._needed(form)
        pack.put(capture, digest, form)

    def _needed(self, form: Form) -> tuple[int, int]:
        """Return `beside` and `elsewhere` of the open pack with a capture of this form."""
        pack, sizes, base = self._opened(), self.known.sizes, self.known.base
        sources = {run[0] for run in form[0]}
        others = sources - {pack.id, base}
        needed = sum(sizes[source] for source in others)
        if pack.id in sources:
            return max(pack.beside, needed), pack.elsewhere
        if base in sources or others - self._plain:
            needed += sizes.get(base, 0)
        return pack.beside, max(pack.elsewhere, needed)

    def _reading(self, capture: Capture, digest: bytes, form: Form) -> int:
        """Return what reading any capture of the open pack decompresses at the most, with this one in it."""
        pack, known = self._opened(), self.known
        beside, elsewhere = self._needed(form)
        base, base_head = (known.sizes[pack.base], len(known.base_head)) if pack.base else (0, 0)
        raw = len(pack.tail.raw)
        bodies = max(raw + base + beside if raw else 0, elsewhere) + base_head
        at_most = bodies + pack.head_with(capture, form)
        return at_most if at_most <= self._make.read_bytes else bodies + pack.exact_head_with(capture, digest, form)

    def _is_too_much(self, capture: Capture, digest: bytes, form: Form) -> bool:
        """Tell whether the open pack cannot take a capture: it would need too many packs, or reading cost too much."""
        pack = self._opened()
        if len(pack.needs | {run[0] for run in form[0]}) > recipes.MAX_SOURCES:
            return True
        return 0 < self._make.read_bytes < self._reading(capture, digest, form)

    def _form(self, parts: Parts, tail: Tail) -> Form:
        """Append what of a body is new to the open pack, within the bound on what reading it may cost."""
        segments, new = parts.found
        allowed = self._affordable(parts.used(), tail, len(parts.body))
        if allowed is not None:
            segments = restrict(segments, allowed)
        return append(parts.body, segments, new, tail, self._make.join_bytes), parts.pairs

    def _affordable(self, used: dict[int, int], tail: Tail, size: int) -> frozenset[int] | None:
        """Return the packs that a page may refer to, those it uses most; None when it may use all it does."""
        sizes, base = self.known.sizes, self.known.base
        others = used.keys() - {NEW, SELF, tail.id}
        budget = max(MAX_READ_BYTES, size) - max(self._make.pack_bytes, len(tail.raw)) - sizes.get(base, 0)
        left = MAX_NEEDS - 1
        chosen = {base}
        for source in sorted(others, key=lambda s: (-used[s], s)):
            if source != base and sizes[source] <= budget and left:
                budget, left = budget - sizes[source], left - 1
                chosen.add(source)
        return None if chosen >= others else frozenset({*chosen, SELF, tail.id})

    def _codecs_of(self, base: int) -> tuple[Codec, Codec]:
        """Return what encodes heads and bodies with a base, 0 for none; a dictionary is digested once."""
        if base not in self._codecs:
            known = self.known
            head, raw = (known.base_head, known.raw(base)) if base else (b"", b"")
            self._codecs[base] = self._make.codec(head), self._make.codec(raw)
        return self._codecs[base]

    def _closed(self, pack: OpenPack, raw: bytes, kind: int, base: int, n_blocks: int) -> tuple[NewPack, bytes]:
        head, n_recipes = pack.head()
        needs = sorted(pack.needs)
        if not base:
            self._plain.add(pack.id)
        head_codec, body_codec = self._codecs_of(base)
        new = NewPack(
            *(pack.id, kind, base or None, len(raw), n_blocks, n_recipes),
            tuple(sorted({*needs, *([base] if base else [])})),
            head_codec.encode(head),
            body_codec.encode(raw),
            tuple(pack.captures),
            tuple(_size(form[0]) for form in pack.forms),
            pack.exact,
        )
        return new, head


def _size(runs: Runs) -> int:
    return sum(run[2] for run in runs)
