"""What other pages of a site tell about its blocks: prepared behind the answers, remembered in bounded bytes.

A page whose site is not known yet is judged alone. The store is asked by a process of the pool; one that lives in
this process's memory, by a thread.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from blocks.model import body_digest
from blocks.site import site_of
from proxy.reader import Reader
from proxy.views import rendering
from proxy.views.pool import PoolBusy, ProcessDied, RenderPool
from proxy.views.rendering import PreparedEvidence
from store.base import StoreError

logger = logging.getLogger(__name__)

MAX_BYTES = 32 << 20
MAX_SITE_BYTES = 4 << 20
"""What some methods prepare from a site can be larger; then its pages are judged alone."""

FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 600.0
"""When a site is looked at again: soon while it is new, seldom once it is known."""

READ_SECONDS = 20.0


@dataclass(slots=True)
class SiteEvidence:
    """What is known of a site by one method; `version` is empty when nothing is."""

    evidence: bytes = b""
    version: bytes = b""
    n_pages: int = 0
    again: float = 0.0
    pause: float = FIRST_PAUSE_SECONDS


class SiteEvidenceCache:
    """What is known of a store's sites. Belongs to the event loop."""

    def __init__(self, pool: RenderPool, reader: Reader, store: str, sites: Mapping[str, str]) -> None:
        self._pool = pool
        self._reader = reader
        self._store = store
        self._sites = dict(sites)
        self._known: OrderedDict[tuple[str, str], SiteEvidence] = OrderedDict()
        self._bytes = 0
        self._task: asyncio.Task[None] | None = None

    def of(self, url: str, method: str) -> SiteEvidence:
        """Return what is known of a URL's site; what is missing or old is prepared behind the answer."""
        key = site_of(url, self._sites), method
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = SiteEvidence()
        self._known.move_to_end(key)
        loop = asyncio.get_running_loop()
        if loop.time() >= known.again and (self._task is None or self._task.done()):
            self._task = loop.create_task(self._prepare(key, known))
        return known

    async def _prepare(self, key: tuple[str, str], known: SiteEvidence) -> None:
        """Read pages of a site, of one site at a time."""
        site, method = key
        prepared = PreparedEvidence()
        try:
            if self._store == "memory:":
                pages = await self._reader.ask(
                    lambda store: rendering.pages_of(store, site), deadline_seconds=READ_SECONDS
                )
                prepared = await self._pool.run(rendering.prepare_evidence, method, pages)
            else:
                prepared = await self._pool.run(rendering.prepare_evidence_from, self._store, self._sites, site, method)
        except (PoolBusy, ProcessDied, StoreError) as exc:
            logger.info("no evidence of %s: %s", site, exc)
        except Exception:
            logger.exception("no evidence of %s", site)
        if self._known.get(key) is known:
            self._take(known, prepared)

    def _take(self, known: SiteEvidence, prepared: PreparedEvidence) -> None:
        known.again = asyncio.get_running_loop().time() + known.pause
        grows = prepared.n_pages != known.n_pages and prepared.n_pages < rendering.N_EVIDENCE_PAGES
        known.pause = FIRST_PAUSE_SECONDS if grows else min(LONGEST_PAUSE_SECONDS, known.pause * 2)
        known.n_pages = prepared.n_pages
        evidence = prepared.evidence if prepared.n_pages > 1 and len(prepared.evidence) <= MAX_SITE_BYTES else b""
        self._bytes += len(evidence) - len(known.evidence)
        known.evidence, known.version = evidence, body_digest(evidence) if evidence else b""
        while self._bytes > MAX_BYTES or len(self._known) > 1000:
            self._bytes -= len(self._known.popitem(last=False)[1].evidence)
