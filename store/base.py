"""The one interface to kept captures. `keep` is the only way in, `read` the only way out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from blocks.model import Capture, Headers

if TYPE_CHECKING:
    from blocks.fingerprints import Fingerprints


class StoreError(Exception):
    """The store could not do what was asked; the message is one sentence for people."""


class StoreUnavailable(StoreError):
    """The database does not answer or refuses to write (gone, locked, full): trying again later may work."""


class NotAStore(StoreError):
    """The URL names something that is no Pagemason store, or one that this program cannot open."""


class StoreTooNew(NotAStore):
    """The store was written by a newer version of the program."""


class DamagedPage(StoreError):
    """A capture's bytes are not what was kept; the message names the page."""


class NoSuchCapture(StoreError):
    """The capture is not in the store any more."""


@dataclass(frozen=True, slots=True)
class Freshening:
    """What a validation (304, HEAD) or an unsafe method changed about a kept capture.

    `headers` replace the kept ones, times are microseconds since the epoch. `invalid` means: do not
    use without validation (RFC 9111, section 4.4).
    """

    headers: Headers
    request_time: int
    time: int
    invalid: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A kept capture without its body. `capture.body` is empty; `Store.read` gives the whole.

    `place` is where the store saw it last (site, pack, slot): a hint that only the store understands.
    """

    id: int
    capture: Capture
    digest: bytes
    size: int
    freshening: Freshening | None = None
    place: tuple[int, int, int] = field(default=(0, 0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Bytes:
    """The four figures, in bytes.

    `original`: decoded bodies of all captures. `exact`: identical bodies of a site once. `block`: uncompressed
    bytes of the distinct stored blocks and differences, and recipes. `ondisk`: what the database occupies,
    indexes and catalogue rows included; only this one is a saving.
    """

    original: int = 0
    exact: int = 0
    block: int = 0
    ondisk: int = 0


@dataclass(frozen=True, slots=True)
class SiteStats:
    """Totals of one site; the row `(shared)` holds bytes on disk that no site owns."""

    site: str
    captures: int
    pages: int
    blocks: int
    bytes: Bytes


@dataclass(frozen=True, slots=True)
class Stats:
    """Totals of a store: the sums of the rows of `by_site`."""

    captures: int
    pages: int
    sites: int
    blocks: int
    bytes: Bytes
    by_site: tuple[SiteStats, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """Something `check` found wrong: the captures it damages, and what is wrong in a sentence."""

    what: str
    urls: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Alike:
    """Captures that may have a text in common with what was asked for: of each site in turn the one with most such
    texts, among equals the newest. `n_unread` is how many captures more there are that were not looked at, because
    that would take too long."""

    records: list[Record]
    n_unread: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a clean-up would do, or did: packs read and rewritten, packs dropped, bytes before and after."""

    rewrite: int = 0
    drop: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction that rewrote `packs` packs: when it ended, in seconds since the epoch, and bytes on disk."""

    time: int
    packs: int
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True)
class Budget:
    """What a store may occupy, in bytes on disk, and how old captures may be; 0 is no limit.

    A store above `high_water` of its bytes is brought down to `low_water`; a site above its bytes likewise.
    """

    max_store_bytes: int = 0
    max_site_bytes: int = 0
    max_age_seconds: int = 0
    high_water: float = 0.9
    low_water: float = 0.75

    def __bool__(self) -> bool:
        return bool(self.max_store_bytes or self.max_site_bytes or self.max_age_seconds)


class Store(Protocol):
    """Keeps captures and gives them back identical. Every method raises StoreError and no other error of the database.

    One object belongs to one thread or process at a time, except that `find`, `read`, `captures`, `of_site`
    and `stats` may be called from several threads.
    """

    def keep(self, captures: Sequence[Capture]) -> list[int]:
        """Keep all in one transaction and return their ids, in order. On return they are acknowledged."""
        ...

    def known(self, captures: Sequence[Capture]) -> list[bool]:
        """Tell of each whether a capture with its record id, URL, time and body digest is kept already; a kept one
        without a record id counts for any. Bodies are not compared byte by byte: this is how an import taken up
        again passes over what it has kept before."""
        ...

    def find(self, url: str, *, before: int | None = None, limit: int = 64) -> list[Record]:
        """Return the captures whose URL or key is `url`, newest first, received at or before `before` if given. A
        default port that is written counts as left out."""
        ...

    def read(self, record: Record) -> Capture:
        """Return the capture with its body, checked against its digest. DamagedPage when it is not identical,
        NoSuchCapture when it is gone."""
        ...

    def captures(self, pattern: str = "*") -> Iterator[Record]:
        """Yield the captures whose URL matches a glob pattern (or is it), by site, URL and time."""
        ...

    def of_site(self, site: str) -> list[Record]:
        """Return the captures of one site, by URL and time. Its heads are read, no other site's."""
        ...

    def alike(self, fingerprints: Fingerprints) -> Alike:
        """Return the public captures of all sites with a block of prose that meets one of these fingerprints
        (`blocks.fingerprints.meeting`): candidates, to be compared."""
        ...

    def freshen(self, url: str, time: int, digest: bytes, freshening: Freshening) -> int:
        """Attach a freshening to the captures of `url` (or key) with this time and digest; return how many."""
        ...

    def invalidate(self, url: str, before: int) -> int:
        """Mark the captures of `url` (or key) received at or before `before` as invalid; return how many."""
        ...

    def purge(self, pattern: str, *, dry_run: bool = False, later: bool = False) -> int:
        """Delete the captures whose URL matches; none of their own bytes remain. Return how many.

        Writing anew what holds such bytes can take seconds a site: `later` leaves it to `collect`.
        """
        ...

    def compact(self, *, dry_run: bool = False, gently: bool = False, jobs: int = 1) -> Plan:
        """Rewrite small packs into large, strongly compressed ones; `gently`, where that is worth it. With `jobs` above
        1 so many processes do, which open the store for themselves."""
        ...

    def collect(self, *, dry_run: bool = False, purged: bool = False) -> Plan:
        """Drop what no capture needs any more; `purged`, only at the sites where a purge has left something."""
        ...

    def evict(self, budget: Budget, now: int, *, dry_run: bool = False) -> Plan:
        """Delete what is too old, and what was not used for longest until the store is within its budget. `now` is
        in seconds since the epoch."""
        ...

    def note_uses(self, urls: Sequence[str], now: int) -> None:
        """Remember that pages were asked for at a time in seconds since the epoch: they are evicted later."""
        ...

    def size(self) -> int:
        """Return the bytes that the database occupies."""
        ...

    def check(self, *, repair: bool = False) -> tuple[int, list[Finding]]:
        """Re-read everything; return the number of captures and what is wrong. `repair` drops what is lost."""
        ...

    def stats(self) -> Stats:
        """Return the totals."""
        ...

    def last_compaction(self) -> Compaction | None:
        """Return the last compaction that rewrote something, by any process; None when there was none."""
        ...

    def purges(self) -> int:
        """Return a number that grows with every purge of this store, by any process: a cache above the store
        that remembers pages asks for it now and then, and forgets them when it has changed."""
        ...

    def unerased(self) -> bool:
        """Tell whether bytes of purged captures may still be in the database's files: on Postgres, where a table was
        too large, or in use for too long, to be written anew."""
        ...

    def erase(self) -> None:
        """See that nothing of purged captures is in the database's files, however long others have to wait."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...
