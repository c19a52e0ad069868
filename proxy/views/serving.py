"""Gives clients the views they are to have, in the place of pages that the cache has answered with.

Rendering happens in other processes. A view that is not there in time, or fails, is the full page: nobody waits
longer, and nobody is refused a page because of it.
"""

import asyncio
import logging
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from mitmproxy import http

from extract.default.numbers import version
from proxy.caching.fields import values
from proxy.caching.model import Policy
from proxy.exchange import Exchange, authority_of
from proxy.metrics import Metrics
from proxy.reader import Reader
from proxy.views import rendering, responses, similar
from proxy.views.cache import ViewCache
from proxy.views.negotiation import ViewRequest, full_url, negotiate
from proxy.views.pool import PoolBusy, ProcessDied, RenderPool
from proxy.views.rendering import RenderedView, RenderJob
from proxy.views.rules import NOTHING
from proxy.views.rules_file import RulesFile
from proxy.views.site_evidence import READ_SECONDS, SiteEvidence, SiteEvidenceCache
from settings import Settings, rules_file
from store.base import StoreError

logger = logging.getLogger(__name__)

_NO_TRANSFORM = RenderedView(None, reason="no-transform", fallback="no_transform")
_POOL_BUSY = RenderedView(None, reason="too many pages wait", fallback="busy")
_PROCESS_DIED = RenderedView(None, reason="the process that makes views has died", fallback="failed")
_FAILED = RenderedView(None, reason="an error of ours", fallback="failed")


class Views:
    """The views of one proxy. Belongs to the event loop."""

    def __init__(self, settings: Settings, policy: Policy, reader: Reader, metrics: Metrics) -> None:
        self._settings = settings
        self._policy = policy
        self._metrics = metrics
        self.cache = ViewCache(settings.view_bytes, metrics)
        self.pool = RenderPool()
        self._reader = reader
        self._evidence = SiteEvidenceCache(self.pool, reader, settings.store, settings.site_of)
        self.rules_file = RulesFile(Path(rules_file(settings)))
        self._under_way: dict[bytes, asyncio.Task[RenderedView]] = {}
        self._follow: asyncio.Task[None] | None = None
        self._warm: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Follow the file of rules; make the processes ready where every page needs them."""
        loop = asyncio.get_running_loop()
        if self._settings.rules and not self.rules_file.path.exists():
            logger.warning("rules: %s is not there; its rules apply as soon as it is", self.rules_file.path)
        self._follow = loop.create_task(self.rules_file.follow())
        if self._settings.view == "content":
            self._warm = loop.create_task(self._warmed())

    async def _warmed(self) -> None:
        with suppress(PoolBusy, ProcessDied):
            await self.pool.run(rendering.prepare)

    def close(self) -> None:
        """End the processes."""
        for task in (self._follow, self._warm, *self._under_way.values()):
            if task is not None:
                task.cancel()
        self.pool.close()

    def negotiate(self, flow: http.HTTPFlow, asked: str) -> None:
        """Note which view a request is given, and prepare the request for that. `asked` is what X-Pagemason-View
        said."""
        rules = self.rules_file.rules
        rule = rules.about(authority_of(flow)[1]) if rules.rules else NOTHING
        negotiate(flow, asked, self._settings.view, rule)

    def at_once(self, flow: http.HTTPFlow, exchange: Exchange, wanted: ViewRequest | None) -> bool:
        """Give a flow its view, if that needs no work; tell whether it has what it is to have."""
        found = flow.response
        if found is None:
            return True
        request = exchange.request
        page = (
            found.status_code == 200 and request.method in ("GET", "HEAD") and responses.is_html(found.headers.fields)
        )
        if wanted is None:
            if page:
                found.headers.fields = responses.varying(found.headers.fields, b"Accept")
            return True
        if not page or found.raw_content is None:
            flow.response = responses.conditional(found, wanted, request, self._policy)
        elif not responses.may_be_transformed(found.headers.fields):
            self._give(flow, exchange, wanted, _NO_TRANSFORM, b"")
        elif exchange.head:
            flow.response = responses.head(found, wanted)
        else:
            key = self._key(found, exchange, wanted, self._evidence.of(request.url, wanted.rule.method))
            rendered = self.cache.get(key)
            if rendered is None:
                return False
            self._metrics.view_hits.inc()
            self._give(flow, exchange, wanted, rendered, key)
        return True

    async def give(self, flow: http.HTTPFlow, exchange: Exchange, wanted: ViewRequest) -> None:
        """Give a flow its view, rendered in time, else the page."""
        assert flow.response is not None
        began = time.perf_counter()
        known = self._evidence.of(exchange.request.url, wanted.rule.method)
        key = self._key(flow.response, exchange, wanted, known)
        task = self._under_way.get(key)
        if task is None:
            job = self._job(flow.response, exchange, wanted, known)
            task = asyncio.get_running_loop().create_task(self._render(key, job, shared=exchange.shared))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        try:
            rendered = await asyncio.wait_for(asyncio.shield(task), self._settings.view_seconds)
        except TimeoutError:
            rendered = RenderedView(
                None, reason=f"not rendered in {self._settings.view_seconds:g} seconds", fallback="deadline"
            )
        self._metrics.view_seconds.observe(time.perf_counter() - began)
        self._give(flow, exchange, wanted, rendered, key)

    async def _render(self, key: bytes, job: RenderJob, *, shared: bool) -> RenderedView:
        """Make a view, and keep it when everybody may see what it is rendered of."""
        try:
            rendered = await self._made(job)
        except PoolBusy:
            return _POOL_BUSY
        except ProcessDied:
            return _PROCESS_DIED
        except Exception:
            logger.exception("%s: no view was rendered", job.url)
            self._metrics.errors.inc()
            return _FAILED
        if shared and job.form != "json":
            self.cache.put(key, rendered)
        return rendered

    async def _made(self, job: RenderJob) -> RenderedView:
        """Make a view; JSON also tells of similar pages, as the store is now."""
        if job.form != "json":
            return await self.pool.run(rendering.render, job)
        store, sites = self._settings.store, dict(self._settings.site_of)
        if store != "memory:":
            return await self.pool.run(similar.render_with_similar, job, store, sites)
        rendered = await self.pool.run(rendering.render, job)
        with suppress(StoreError):
            return await self._reader.ask(
                lambda known: similar.completed(rendered, job, known, sites), deadline_seconds=READ_SECONDS
            )
        return rendered

    def _give(
        self, flow: http.HTTPFlow, exchange: Exchange, wanted: ViewRequest, rendered: RenderedView, key: bytes
    ) -> None:
        assert flow.response is not None
        self._metrics.views.labels("full" if rendered.reason else "content").inc()
        if rendered.reason:
            self._metrics.view_fallbacks.labels(rendered.fallback).inc()
        if rendered.body is None:
            flow.response = responses.full_page(flow.response, rendered, wanted, exchange.request, self._policy)
        else:
            if wanted.form == "json":  # what it tells of other pages changes with the store
                key = blake2b(key + rendered.body, digest_size=16).digest()
            flow.response = responses.content_page(flow.response, rendered, wanted, key, exchange.request)

    def _key(self, page: http.Response, exchange: Exchange, wanted: ViewRequest, known: SiteEvidence) -> bytes:
        """Return the digest of all that a view depends on: the page, how it is read, the rules, the site, the model."""
        headers = page.headers.fields
        digest = blake2b(page.raw_content or b"", digest_size=16)
        for part in (
            *values(headers, b"content-type"),
            *values(headers, b"content-encoding"),
            exchange.request.url.encode("utf-8", "surrogatepass"),
            wanted.form.encode(),
            wanted.rule.digest,
            known.version,
            version(),
        ):
            digest.update(b"%d:%s" % (len(part), part))
        return digest.digest()

    def _job(self, page: http.Response, exchange: Exchange, wanted: ViewRequest, known: SiteEvidence) -> RenderJob:
        settings, rule, headers = self._settings, wanted.rule, page.headers.fields
        return RenderJob(
            url=exchange.request.url,
            body=page.raw_content or b"",
            content_type=b"".join(values(headers, b"content-type")[:1]),
            content_encoding=b", ".join(values(headers, b"content-encoding")),
            form=wanted.form,
            full_url=full_url(exchange.request.url),
            min_confidence=settings.min_confidence,
            max_bytes=settings.max_body_bytes,
            max_ratio=settings.max_decoded_ratio,
            method=rule.method,
            keep=rule.keep,
            drop=rule.drop,
            evidence=known.evidence,
            private=not exchange.shared,
        )
