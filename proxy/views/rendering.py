"""Rendering a view of a page, and preparing evidence from a site's pages: what the processes of `pool` do.

Nothing here knows of the proxy: bytes come in, bytes go out. Pages are hostile; an alarm ends what takes too long.
"""

import gzip
import pickle
import re
import signal
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import xxhash

from extract.default.pagemason import Pagemason
from extract.protocol import Extractor, NeedsEvidence, Page, page_of
from extract.registry import extractor
from extract.views.ruling import read_parts
from extract.views.view import View, view
from proxy.coding import decode
from store.base import NoSuchCapture, Record, Store, StoreError
from store.opening import open_store
from store.packing.kinds import is_page

ALARM_SECONDS = 30
"""A page that takes longer is given up; those that people write take less than a second."""

MIN_GZIP_BYTES = 600
"""Smaller views fit in a packet anyway."""

N_EVIDENCE_PAGES = 25
"""Pages of a site that evidence is prepared from. More tell little more, and take as much longer to read."""

_LOGIN = re.compile(rb"""<input\b[^>]{0,500}?\btype\s*=\s*["']?password\b""", re.IGNORECASE)

LOGIN_REASON = "the page is a form to log in"

FEW_WORDS = 150
"""A page with a password field and less content than this is there for its form."""


@dataclass(frozen=True, slots=True)
class RenderJob:
    """A page as it was received, and the view wanted of it. `evidence` is what `prepare_evidence` returned; what is
    `private` is compared with nothing."""

    url: str
    body: bytes
    content_type: bytes
    content_encoding: bytes
    form: str
    full_url: str
    min_confidence: float
    max_bytes: int
    max_ratio: float
    method: str
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    evidence: bytes = b""
    private: bool = False


@dataclass(frozen=True, slots=True)
class RenderedView:
    """A view as it is handed on; a body of None is the page's own, `zipped` the body in gzip where that is smaller.

    `reason` says why it is the full page, `fallback` the same in a word for the metrics.
    """

    body: bytes | None
    zipped: bytes = b""
    content_type: str = ""
    policy: str = ""
    confidence: float = 0.0
    reason: str = ""
    fallback: str = ""

    @property
    def size(self) -> int:
        """Bytes of memory, about."""
        return 1000 + len(self.body or b"") + len(self.zipped)


class TooLong(Exception):
    """The alarm has rung."""


def prepare() -> None:
    """Make a process ready: the model is read, and whoever presses Ctrl-C means the proxy."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, _ring)
    extractor()


def _ring(number: int, frame: object) -> None:
    raise TooLong


def render(job: RenderJob) -> RenderedView:
    """Return a page's view."""
    signal.alarm(ALARM_SECONDS)
    try:
        return _render(job)
    except TooLong:
        return RenderedView(None, reason=f"the page takes more than {ALARM_SECONDS} seconds", fallback="too_long")
    except NeedsEvidence as exc:
        return RenderedView(None, reason=str(exc), fallback="no_evidence")
    finally:
        signal.alarm(0)


def _render(job: RenderJob) -> RenderedView:
    decoded = decode(job.body, job.content_encoding, max_bytes=job.max_bytes, max_ratio=job.max_ratio)
    if job.content_encoding.strip().lower() not in (b"", b"identity") and not decoded.coding:
        return RenderedView(None, reason="the page cannot be decoded", fallback="undecodable")
    found = view(
        decoded.body,
        url=job.url,
        content_type=job.content_type,
        evidence=pickle.loads(job.evidence) if job.evidence else None,
        form=job.form,
        method=job.method,
        full_url=job.full_url,
        min_confidence=job.min_confidence,
        keep=read_parts(job.keep),
        drop=read_parts(job.drop),
    )
    if not found.full and not job.keep and is_login(decoded.body, found):
        return RenderedView(None, confidence=found.confidence, reason=LOGIN_REASON, fallback="login")
    return _finished(found, job.form)


def is_login(body: bytes, content: View) -> bool:
    """Tell whether a page is there for its password field more than for its content."""
    return len(content.body.split()) < FEW_WORDS and _LOGIN.search(body) is not None


def _finished(found: View, form: str) -> RenderedView:
    fallback = ""
    if found.full:
        fallback = "low_confidence" if found.reason.startswith("confidence") else "empty"
        if form == "html":
            return RenderedView(None, confidence=found.confidence, reason=found.reason, fallback=fallback)
    body = found.body
    zipped = gzip.compress(body, 6, mtime=0) if len(body) >= MIN_GZIP_BYTES else b""
    if len(zipped) >= len(body):
        zipped = b""
    return RenderedView(body, zipped, found.content_type, found.policy, found.confidence, found.reason, fallback)


@dataclass(frozen=True, slots=True)
class PreparedEvidence:
    """What a method has prepared from `n_pages` pages of a site, pickled: only these processes look into it."""

    evidence: bytes = b""
    n_pages: int = 0


Row = tuple[str, bytes, bytes]
"""A page of the store: URL, body, Content-Type."""


def prepare_evidence(method: str, pages: Sequence[Row]) -> PreparedEvidence:
    """Return what a method prepares from pages of one site."""
    signal.alarm(ALARM_SECONDS)
    try:
        read = [page_of(*row) for row in pages]
        return PreparedEvidence(pickle.dumps(evidence_of(extractor(method), read)), len(read))
    except TooLong:
        return PreparedEvidence(b"", len(pages))
    finally:
        signal.alarm(0)


def evidence_of(method: Extractor[Any], pages: Iterable[Page]) -> Any:
    """Return what a method learns from some pages of a site."""
    return method.learn(pages) if isinstance(method, Pagemason) else method.prepare(pages)


def prepare_evidence_from(url: str, sites: Mapping[str, str], site: str, method: str) -> PreparedEvidence:
    """Return what a method prepares from the pages of a site in a store."""
    store = open_store(url, sites=sites, create=False, read_only=True)
    try:
        return prepare_evidence(method, pages_of(store, site))
    finally:
        store.close()


def pages_of(store: Store, site: str) -> list[Row]:
    """Return the newest capture of N_EVIDENCE_PAGES URLs of a site, the same ones for all who ask.

    Captures that a shared cache may not keep are left out.
    """
    newest: dict[str, Record] = {}
    for record in store.of_site(site):
        capture = record.capture
        if capture.status == 200 and not capture.private and is_page(capture):
            newest[capture.url] = record
    chosen = sorted(newest, key=lambda url: xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass")))
    return list(_read(store, (newest[url] for url in chosen[:N_EVIDENCE_PAGES])))


def _read(store: Store, records: Iterable[Record]) -> Iterable[Row]:
    for record in records:
        with suppress(NoSuchCapture, StoreError):
            capture = store.read(record)
            yield capture.url, capture.body, capture.header("content-type")
