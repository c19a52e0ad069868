"""Which packs hold bytes of captures that are gone, and writing anew as few packs as that takes.

A pack is to be trimmed when captures of it have no row any more, or when it is a base with bytes that stood on such
captures and stand on no other. With it go all packs that need it, because they could not be read without. A pack
of neighbouring pages that nothing needs is written anew over the base it has; otherwise what must go is compacted by
itself, and when that is most of the site, the whole site.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Row, select
from sqlalchemy.exc import IntegrityError

from store import uses
from store.finding import live_rows
from store.models import COMPACTED, PRIVATE, Need, Pack
from store.packing.building import Builder, NewPack
from store.packing.kinds import is_page, pieces_of
from store.packing.known import Known
from store.packing.packs import DamagedPack, Head
from store.packing.shapes import beside
from store.packing.tokens import canonical
from store.parts import Parts
from store.reading import Gone
from store.upkeep.rewriting import ATTEMPTS, Changed, Places, Rewriter, drop_packs, recount

MOST = 0.5
"""When more than this share of a site's bytes is to be written anew, all of it is."""


@dataclass(frozen=True, slots=True)
class Trim:
    """What is to be done about one site: packs to write anew and packs to drop. `alone`: each over its own base."""

    rewrite: frozenset[int] = frozenset()
    drop: frozenset[int] = frozenset()
    alone: bool = False

    def __bool__(self) -> bool:
        return bool(self.rewrite or self.drop)


@dataclass(slots=True)
class _Site:
    """A site's packs, as read in one transaction. `heads` lacks those that are damaged."""

    packs: dict[int, Row[Any]]
    rows: dict[int, list[Row[Any]]]
    heads: dict[int, Head] = field(default_factory=dict)
    needed_by: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))

    def dead_slots(self, pack: int) -> list[int]:
        """Return the slots of a pack's captures that have no row."""
        live = {row.slot for row in self.rows.get(pack, ())}
        return [slot for slot in range(len(self.heads[pack].captures)) if slot not in live]

    def unused(self) -> frozenset[int]:
        """Return the packs without a row that nothing needs, but for others of them."""
        gone = self.packs.keys() - self.rows.keys()
        while kept := {pack for pack in gone if self.needed_by[pack] - gone}:
            gone -= kept
        return frozenset(gone)

    def closure(self, packs: set[int]) -> set[int]:
        """Return packs and all that need them, directly or not."""
        found, new = set(packs), set(packs)
        while new:
            new = set().union(*(self.needed_by[pack] for pack in new)) - found
            found |= new
        return found


def plan(store: Parts, site: int) -> Trim:
    """Return what is to be done about a site. Touches nothing."""
    with store.database.read() as connection:
        found = _read(connection, store, site)
        drop = found.unused()
        dead = {p for p in found.heads.keys() - drop if found.dead_slots(p)}
        gone = [(p, slot) for p in sorted(dead | (drop & found.heads.keys())) for slot in found.dead_slots(p)]
        if gone:
            dead |= _bases(connection, store, site, found, gone, dead | drop)
    dead = {pack for pack in found.closure(dead) if found.packs[pack].kind != PRIVATE} - drop
    public = {pack: row.raw for pack, row in found.packs.items() if row.kind != PRIVATE and pack not in drop}
    if sum(public[pack] for pack in dead) > MOST * sum(public.values()):
        return Trim(frozenset(public), drop)
    alone = all(_stands_alone(found, pack) for pack in dead)
    return Trim(frozenset(dead), drop, alone)


def _read(connection: Connection, store: Parts, site: int) -> _Site:
    columns = select(Pack.id, Pack.kind, Pack.base, Pack.raw).where(Pack.site == site)
    packs: dict[int, Row[Any]] = {row.id: row for row in connection.execute(columns)}  # type: ignore[misc]
    found = _Site(packs, live_rows(connection, site, aliases=True))
    for need in connection.execute(select(Need.needs, Need.pack).where(Need.site == site)):
        found.needed_by[need.needs].add(need.pack)
    for pack in packs:
        try:
            found.heads[pack] = store.reader.head(connection, site, pack)
        except (DamagedPack, Gone):  # check names it; nothing of it can be told apart
            continue
    return found


def _stands_alone(found: _Site, pack: int) -> bool:
    row = found.packs[pack]
    return (
        row.kind == COMPACTED
        and bool(row.base)
        and found.heads[pack].needs in ([], [row.base])
        and not (found.needed_by[pack])
    )


def _bases(
    connection: Connection, store: Parts, site: int, found: _Site, gone: list[tuple[int, int]], dead: set[int]
) -> set[int]:
    """Return the bases with blocks of captures that are gone and of no others."""
    bases = {row.base for pack, row in found.packs.items() if row.base and row.kind == COMPACTED} - dead
    bases &= found.heads.keys()
    if not bases:
        return set()
    spare = {base: b"\0".join(_uncovered(connection, store, site, found, base)) for base in bases}
    pieces: set[bytes] = set()
    for pack, slot in gone:
        try:
            capture = store.reader.capture(connection, site, pack, slot)
        except (DamagedPack, Gone):
            return bases
        if is_page(capture):
            body = canonical(capture.body, found.heads[pack].tokens[slot])
            capture = replace(capture, body=body)
        pieces.update(pieces_of(capture))
    suspicious = {piece for piece in pieces if any(piece in text for text in spare.values())}
    for pack in found.packs.keys() - dead - bases:
        if not suspicious:
            break
        try:
            raw = store.reader.raw(connection, site, pack)
        except (DamagedPack, Gone):
            continue
        suspicious = {piece for piece in suspicious if piece not in raw}
    return {base for base, text in spare.items() if any(piece in text for piece in suspicious)}


def _uncovered(connection: Connection, store: Parts, site: int, found: _Site, base: int) -> list[bytes]:
    """Return the stretches of a base that no recipe of a live capture refers to."""
    raw = store.reader.raw(connection, site, base)
    spans = []
    for pack in {base, *found.needed_by[base]} & found.heads.keys():
        head = found.heads[pack]
        for slot in {row.slot for row in found.rows.get(pack, ())}:
            packs = (pack, *head.needs)
            runs = head.recipes.recipe(slot).runs
            spans += [(run.offset, run.offset + run.length) for run in runs if packs[run.source] == base]
    parts, end = [], 0
    for start, stop in sorted(spans):
        if start > end:
            parts.append(raw[end:start])
        end = max(end, stop)
    return [*parts, raw[end:]] if end < len(raw) else parts


class _Leaf(Rewriter):
    """Writes packs of neighbouring pages anew, each over the base it has."""

    def run(self) -> None:
        old = self._survey()
        for pack in old:
            places = [place for place in self._places if place.pack == pack]
            known = self._known(pack)
            with self._store.database.read() as connection:
                head = self._store.reader.head(connection, self._site, pack)
            builder = Builder(known, self._numbers(), beside(known.sizes[known.base]))
            found: Places = {}
            for capture in self._captures(places, found):
                builder.add(capture, head.tokens[found[id(capture)][1]])
                self._write_all(builder.take(), found)
            builder.flush()
            self._write_all(builder.take(), found)
            self._drop([pack])

    def _write_all(self, packs: list[NewPack], places: Places) -> None:
        for pack in packs:
            self._write(pack, places)

    def _known(self, pack: int) -> Known:
        """Return what the base of a pack has, as far as the pack's pages show where."""
        store, site = self._store, self._site
        known = Known(site, "", self._load)
        with store.database.read() as connection:
            base = connection.execute(select(Pack.base).where(Pack.site == site, Pack.id == pack)).scalar()
            if base is None:
                raise Gone(f"pack {pack}")
            known.base, known.base_head = base, store.reader.raw_head(connection, site, base)
            for number in (base, pack):
                known.raws[number] = store.reader.raw(connection, site, number)
                known.sizes[number] = len(known.raws[number])
            known.learn(pack, store.reader.head(connection, site, pack), {})
        known.forget([pack])
        return known


def trim(store: Parts, site: int, *, erase: bool = True) -> None:
    """Do what is to be done about a site, until nothing is left to do, and count it again.

    What is unused is dropped last, because it tells what must go from bases, should all this end halfway. Where
    that does not matter, without `erase`, it goes first: the packs written anew take its room.
    """
    before = Trim()
    for _ in range(ATTEMPTS):
        todo = plan(store, site)
        if todo in (Trim(), before):  # what is damaged cannot be written anew
            break
        before = todo
        try:
            if not erase:
                _drop(store, site, todo.drop)
            if todo.rewrite:
                (_Leaf if todo.alone else Rewriter)(store, site, todo.rewrite).run()
            _drop(store, site, todo.drop)
        except (Changed, Gone, IntegrityError):  # someone else deletes or compacts here: look again
            continue
        finally:
            store.writer.forget()
            store.reader.forget()
    recount(store, site)
    with store.database.write() as connection:
        if not connection.execute(select(Pack.id).where(Pack.site == site).limit(1)).first():
            uses.put(connection, site, {})


def _drop(store: Parts, site: int, packs: frozenset[int]) -> None:
    with store.database.write() as connection:
        drop_packs(connection, site, sorted(packs))
