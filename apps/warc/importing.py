"""Entries into a store: in batches, each a transaction; what is kept already is passed over.

Reading, unpacking and decoding go on in a thread of their own while the batch before is being stored. Memory is
bounded by a few batches.
"""

import base64
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha1
from queue import Empty, Full, Queue
from threading import Event, Thread

from apps.warc.entries import Entry, Kind, Note, Revisit
from blocks.model import Capture
from store.base import Store

BATCH_BYTES = 8 << 20
"""Bodies of one transaction: enough for well filled packs, and little to do again after a crash."""

BATCH_ENTRIES = 1000

_AHEAD = 2
_PATIENCE_SECONDS = 0.2


@dataclass
class Tally:
    """What became of the entries so far. `captures` are acknowledged: their transactions have committed."""

    captures: int = 0
    skipped: int = 0
    damaged: int = 0


def import_entries(
    entries: Iterable[Entry],
    opened: Callable[[], Store],
    *,
    committed: Callable[[Tally], None],
    noted: Callable[[Note], None],
) -> Tally:
    """Keep all captures and return what became of them.

    `opened` is called when there is something to keep, and not before: what holds no page leaves the store as it
    is. `committed` is called after each transaction, `noted` with each note. StoreError as the store raises it.
    """
    tally = Tally()
    for batch in _ahead(_batches(entries)):
        pages = [entry for entry in batch if not isinstance(entry, Note)]
        notes = [entry for entry in batch if isinstance(entry, Note)]
        if pages:
            store = opened()
            resolved, unresolved = _resolve(store, pages)
            notes += unresolved
            new = _new(store, resolved)
            if new:
                store.keep(new)
            tally.captures += len(new)
            tally.skipped += len(resolved) - len(new)
        for note in notes:
            tally.skipped += note.kind is Kind.SKIPPED
            tally.damaged += note.kind is Kind.DAMAGED
            noted(note)
        committed(tally)
    return tally


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += len(entry.body) if isinstance(entry, Capture) else 0
        if size >= BATCH_BYTES or len(batch) >= BATCH_ENTRIES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _new(store: Store, captures: list[Capture]) -> list[Capture]:
    """Return the captures that the store does not have, each once."""
    seen: dict[tuple[str, str, int], list[bytes]] = {}
    new = []
    for capture, known in zip(captures, store.known(captures), strict=True):
        bodies = seen.setdefault((capture.record_id, capture.url, capture.time), [])
        if not known and capture.body not in bodies:
            bodies.append(capture.body)
            new.append(capture)
    return new


@dataclass
class _Originals:
    """Finds the captures that revisits refer to, in the batch and in the store."""

    store: Store
    by_id: dict[str, Capture] = field(default_factory=dict)
    by_url: dict[str, list[Capture]] = field(default_factory=dict)

    def add(self, capture: Capture) -> None:
        self.by_id[capture.record_id] = capture
        self.by_url.setdefault(capture.url, []).append(capture)

    def find(self, revisit: Revisit) -> Capture | None:
        """Return the capture whose body the revisit's is, None when none can be made out for certain."""
        named = self.by_id.get(revisit.refers_id)
        return next((capture for capture in self._candidates(revisit, named) if _is_payload(revisit, capture)), None)

    def _candidates(self, revisit: Revisit, named: Capture | None) -> Iterator[Capture]:
        """Yield the captures a revisit may refer to: the one it names, by id or by URL and date; when it names none,
        those of its own URL."""
        if named is not None:
            yield named
        url = revisit.refers_url or revisit.capture.url
        yield from (capture for capture in reversed(self.by_url.get(url, ())) if _names(revisit, capture))
        for record in self.store.find(url, before=revisit.capture.time):
            if _names(revisit, record.capture):
                yield self.store.read(record)


def _names(revisit: Revisit, capture: Capture) -> bool:
    if not revisit.refers_id and revisit.refers_time is None:
        return True
    return capture.record_id == revisit.refers_id != "" or capture.time == revisit.refers_time


def _is_payload(revisit: Revisit, original: Capture) -> bool:
    """Tell whether a revisit's body is this one: by its payload digest, or by being named where that says nothing,
    because it is not a SHA-1, or of the body before it was decoded."""
    name, _, written = revisit.payload_digest.partition(":")
    if original.coding or name.lower() != "sha1":
        return bool(revisit.refers_id) or revisit.refers_time is not None
    digest = sha1(original.body, usedforsecurity=False).digest()
    return written.upper() == base64.b32encode(digest).decode() or written.lower() == digest.hex()


def _resolve(store: Store, pages: list[Capture | Revisit]) -> tuple[list[Capture], list[Note]]:
    """Give revisits the bodies they refer to; those whose body is not to be found are noted."""
    originals = _Originals(store)
    resolved = []
    notes = []
    for page in pages:
        if isinstance(page, Capture):
            capture = page
        elif (original := originals.find(page)) is not None:
            capture = _with_body(page.capture, original)
        else:
            notes.append(Note(Kind.SKIPPED, page.where, f"the body of the revisit of {page.capture.url} is not here"))
            continue
        originals.add(capture)
        resolved.append(capture)
    return resolved, notes


def _with_body(revisit: Capture, original: Capture) -> Capture:
    """Return a revisit with the body it refers to. Without a head of its own, or with one that says 304 Not Modified,
    it was answered with the original's head too."""
    if revisit.headers and revisit.status != 304:
        return replace(revisit, body=original.body, coding=original.coding)
    return replace(original, url=revisit.url, time=revisit.time, record_id=revisit.record_id, date=revisit.date)


def _ahead(batches: Iterator[list[Entry]]) -> Iterator[list[Entry]]:
    """Yield the same batches, made by a thread that is at most _AHEAD of them ahead. Its errors are raised here."""
    made: Queue[list[Entry] | BaseException | None] = Queue(_AHEAD)
    stopped = Event()

    def put(batch: list[Entry] | BaseException | None) -> bool:
        while not stopped.is_set():
            try:
                made.put(batch, timeout=_PATIENCE_SECONDS)
            except Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            if all(put(batch) for batch in batches):
                put(None)
        except BaseException as exc:  # whatever it is, the thread that waits must hear of it
            put(exc)

    thread = Thread(target=work, name="reading", daemon=True)
    thread.start()
    try:
        while (batch := made.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            yield batch
    finally:
        stopped.set()
        try:
            while True:
                made.get_nowait()
        except Empty:
            thread.join()
