"""A store that ends with its process: for tests, examples and experiments. Same rules, no packs, no database."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from blocks.fingerprints import Fingerprints, meeting
from blocks.model import Block, Capture, body_digest
from blocks.site import site_of, without_default_port
from store.base import (
    Alike,
    Budget,
    Bytes,
    Compaction,
    Finding,
    Freshening,
    NoSuchCapture,
    Plan,
    Record,
    SiteStats,
    Stats,
)
from store.packing.kinds import is_known, pieces_of
from store.packing.prose import in_turn, prose_of
from store.patterns import matcher

RUN_BYTES = 8
"""What a reference to a block is counted as in the `block` figure."""


@dataclass(slots=True)
class _Kept:
    record: Record
    site: str
    pieces: list[bytes]
    """Shared objects: equal pieces of one site's public captures are one bytes object."""


class MemoryStore:
    """Keeps captures in memory. Two blocks are one when their digests and then their bytes are equal."""

    def __init__(self, sites: Mapping[str, str] | None = None) -> None:
        self._sites = sites
        self._kept: dict[int, _Kept] = {}
        self._by_url: dict[str, list[int]] = defaultdict(list)
        self._blocks: dict[tuple[str, bytes], list[bytes]] = defaultdict(list)
        self._last_id = 0
        self._purges = 0
        self._uses: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<MemoryStore: {len(self._kept)} captures>"

    def keep(self, captures: Sequence[Capture]) -> list[int]:
        return [self._keep(capture) for capture in captures]

    def _keep(self, capture: Capture) -> int:
        self._last_id += 1
        record = Record(self._last_id, replace(capture, body=b""), body_digest(capture.body), len(capture.body))
        site = site_of(capture.url, self._sites)
        pieces = pieces_of(capture)
        if not capture.private:
            pieces = [self._shared(site, piece) for piece in pieces]
        self._kept[record.id] = _Kept(record, site, pieces)
        for name in _names(capture):
            self._by_url[name].append(record.id)
        return record.id

    def _shared(self, site: str, piece: bytes) -> bytes:
        candidates = self._blocks[site, Block(piece).digest]
        for known in candidates:
            if known == piece:
                return known
        candidates.append(piece)
        return piece

    def known(self, captures: Sequence[Capture]) -> list[bool]:
        return [self._is_known(capture) for capture in captures]

    def _is_known(self, capture: Capture) -> bool:
        ids = self._by_url.get(without_default_port(capture.url), ())
        return is_known(capture, (self._kept[i].record for i in ids))

    def find(self, url: str, *, before: int | None = None, limit: int = 64) -> list[Record]:
        records = [self._kept[i].record for i in self._by_url.get(without_default_port(url), ())]
        if before is not None:
            records = [record for record in records if record.capture.time <= before]
        return sorted(records, key=lambda r: (r.capture.time, r.id), reverse=True)[:limit]

    def read(self, record: Record) -> Capture:
        if record.id not in self._kept:
            raise NoSuchCapture(f"{record.capture.url}: capture {record.id} is not in the store any more")
        return replace(record.capture, body=b"".join(self._kept[record.id].pieces))

    def captures(self, pattern: str = "*") -> Iterator[Record]:
        matches = matcher(pattern)
        found = [kept for kept in self._kept.values() if matches(kept.record.capture.url)]
        found.sort(key=lambda k: (k.site, k.record.capture.url, k.record.capture.time, k.record.id))
        return iter([kept.record for kept in found])

    def of_site(self, site: str) -> list[Record]:
        found = [kept.record for kept in self._kept.values() if kept.site == site]
        return sorted(found, key=lambda r: (r.capture.url, r.capture.time, r.id))

    def alike(self, fingerprints: Fingerprints) -> Alike:
        found = ((k.site, self._n_meeting(k.record, fingerprints), k.record) for k in self._kept.values())
        return Alike(in_turn(row for row in found if row[1]))

    def _n_meeting(self, record: Record, fingerprints: Fingerprints) -> int:
        return int(meeting(prose_of(self.read(record)), fingerprints).sum())

    def freshen(self, url: str, time: int, digest: bytes, freshening: Freshening) -> int:
        ids = [i for i in self._by_url.get(without_default_port(url), ()) if self._is(i, time, digest)]
        for number in ids:
            kept = self._kept[number]
            kept.record = replace(kept.record, freshening=freshening)
        return len(ids)

    def _is(self, number: int, time: int, digest: bytes) -> bool:
        record = self._kept[number].record
        return record.capture.time == time and record.digest == digest

    def invalidate(self, url: str, before: int) -> int:
        records = self.find(url, before=before, limit=len(self._kept))
        for record in records:
            c = record.capture
            fresh = record.freshening or Freshening(c.headers, c.request_time, c.time)
            self._kept[record.id].record = replace(record, freshening=replace(fresh, invalid=True))
        return len(records)

    def purge(self, pattern: str, *, dry_run: bool = False, later: bool = False) -> int:
        gone = list(self.captures(pattern))
        if dry_run:
            return len(gone)
        self._remove(gone)
        self._purges += 1
        return len(gone)

    def _remove(self, gone: list[Record]) -> None:
        for record in gone:
            del self._kept[record.id]
            self._uses.pop(record.capture.url, None)
            for name in _names(record.capture):
                self._by_url[name].remove(record.id)
        self._rebuild()

    def _rebuild(self) -> None:
        self._blocks.clear()
        for kept in self._kept.values():
            if not kept.record.capture.private:
                kept.pieces = [self._shared(kept.site, piece) for piece in kept.pieces]

    def compact(self, *, dry_run: bool = False, gently: bool = False, jobs: int = 1) -> Plan:
        size = self.stats().bytes.ondisk
        return Plan(bytes_before=size, bytes_after=size)

    def collect(self, *, dry_run: bool = False, purged: bool = False) -> Plan:
        return self.compact()

    def evict(self, budget: Budget, now: int, *, dry_run: bool = False) -> Plan:
        before = self.size()
        oldest = (now - budget.max_age_seconds) * 1_000_000 if budget.max_age_seconds else 0
        gone = [kept for kept in self._kept.values() if kept.record.capture.time < oldest]
        limit = budget.max_store_bytes
        if limit and before > budget.high_water * limit:
            left = sum(kept.record.size for kept in self._kept.values())
            share = budget.low_water * limit / before
            coldest = sorted(self._kept.values(), key=self._last_use)
            room = left - int(left * share)
            for kept in coldest:
                if room > 0:
                    gone.append(kept)
                    room -= kept.record.size
        ids = {kept.record.id for kept in gone}
        if not dry_run and ids:
            self._remove([self._kept[number].record for number in sorted(ids)])
        return Plan(0, len(ids), before, self.size())

    def _last_use(self, kept: _Kept) -> int:
        capture = kept.record.capture
        return max(capture.time, self._uses.get(capture.url, 0))

    def note_uses(self, urls: Sequence[str], now: int) -> None:
        self._uses.update(dict.fromkeys(urls, now * 1_000_000))

    def size(self) -> int:
        return self.stats().bytes.ondisk

    def check(self, *, repair: bool = False) -> tuple[int, list[Finding]]:
        damaged = [
            kept.record for kept in self._kept.values() if body_digest(b"".join(kept.pieces)) != kept.record.digest
        ]
        findings = [Finding(f"{r.capture.url}: body is not what was kept", (r.capture.url,), (r.id,)) for r in damaged]
        return len(self._kept), findings

    def stats(self) -> Stats:
        sites: dict[str, list[_Kept]] = defaultdict(list)
        for kept in self._kept.values():
            sites[kept.site].append(kept)
        rows = tuple(_site_stats(site, sites[site]) for site in sorted(sites))
        total = Bytes(*(sum(getattr(r.bytes, f) for r in rows) for f in ("original", "exact", "block", "ondisk")))
        return Stats(
            sum(r.captures for r in rows),
            sum(r.pages for r in rows),
            len(rows),
            sum(r.blocks for r in rows),
            total,
            rows,
        )

    def last_compaction(self) -> Compaction | None:
        return None

    def purges(self) -> int:
        return self._purges

    def unerased(self) -> bool:
        return False

    def erase(self) -> None:
        """Nothing is left of what was purged."""

    def close(self) -> None:
        """Nothing is held."""


def _site_stats(site: str, kept: list[_Kept]) -> SiteStats:
    exact = {k.record.digest: k.record.size for k in kept}
    blocks = {id(piece): len(piece) for k in kept for piece in k.pieces}
    block_bytes = sum(blocks.values()) + RUN_BYTES * sum(len(k.pieces) for k in kept)
    original = sum(k.record.size for k in kept)
    pages = len({k.record.capture.url for k in kept})
    return SiteStats(
        site, len(kept), pages, len(blocks), Bytes(original, sum(exact.values()), block_bytes, block_bytes)
    )


def _names(capture: Capture) -> set[str]:
    """Return what a capture is found by."""
    return {without_default_port(name) for name in (capture.url, capture.key or capture.url)}
