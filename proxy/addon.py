"""The mitmproxy addon: hooks only. `pagemason run` embeds it, and `mitmdump -s proxy/addon.py` loads it."""

import logging
from collections.abc import Awaitable, Set
from dataclasses import replace

from mitmproxy import ctx, exceptions, http
from mitmproxy.addonmanager import Loader
from mitmproxy.proxy.server_hooks import ServerConnectionHookData

from proxy import wire
from proxy.answer import unavailable
from proxy.control import take
from proxy.exchange import Exchange, exchange_of, forget
from proxy.fetching import head_has_come, is_own
from proxy.options import declare, settings_of
from proxy.service import Service
from proxy.upstream import broke_off, closed_by_origin, hang_up, let_go
from proxy.views.negotiation import take_parameter
from settings import SettingError, Settings

logger = logging.getLogger(__name__)

_FAILED = "Something went wrong in the proxy, and it is in offline mode: nothing is fetched."


class Pagemason:
    """Answers requests from what is kept, and keeps what origins answer.

    Made without a service, as `mitmdump -s` does, it has options of its own and opens the store itself.
    """

    name = "pagemason"

    def __init__(self, service: Service | None = None) -> None:
        self._service = service
        self._own: Settings | None = None
        self._embedded = service is not None

    def load(self, loader: Loader) -> None:
        wire.mend()
        if not self._embedded:
            declare(loader)

    def configure(self, updated: Set[str]) -> None:
        if self._service is not None:
            self._service.insecure = bool(ctx.options.ssl_insecure)
        if self._embedded:
            return
        try:
            self._own = settings_of(ctx.options)
        except SettingError as exc:
            raise exceptions.OptionsError(str(exc)) from exc

    def running(self) -> None:
        if self._service is None:
            assert self._own is not None
            mode = ctx.options.mode[0] if ctx.options.mode else "regular"
            named = mode.startswith(("reverse:", "upstream:"))
            self._service = Service(replace(self._own, proxy_mode=mode) if named else self._own)
            self._service.insecure = "ssl_insecure" in ctx.options and ctx.options.ssl_insecure
            size = str(self._own.max_body_bytes)
            ctx.options.update(connection_strategy="lazy", stream_large_bodies=ctx.options.stream_large_bodies or size)
        self._service.start()

    def done(self) -> None:
        if self._service is not None:
            self._service.close()

    async def http_connect(self, flow: http.HTTPFlow) -> None:
        if self._service is not None and flow.response is None:
            await self._service.border.stops(flow)

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        take(flow)
        take_parameter(flow)

    def request(self, flow: http.HTTPFlow) -> Awaitable[None] | None:
        service = self._service
        if flow.response is not None or flow.error is not None or service is None or is_own(flow):
            return None
        try:
            exchange = service.begin(flow)
            if exchange is None:
                return None
            if service.may_be_at_once(exchange) and service.serving.at_once(flow, exchange):
                if flow.response is None and (closed := closed_by_origin(flow)):
                    return let_go(closed)
                return None
        except Exception:
            self._failed(flow)
            return None
        return self._look_up(flow, exchange, service)

    async def _look_up(self, flow: http.HTTPFlow, exchange: Exchange, service: Service) -> None:
        try:
            if exchange.request.method == "PURGE":
                await service.purge(flow, exchange)
            elif await service.from_archive(flow, exchange):
                pass
            elif not await service.border.stops(flow):
                await service.serving.look_up(flow, exchange)
            if flow.response is None and (closed := closed_by_origin(flow)):
                await let_go(closed)
        except Exception:
            self._failed(flow)

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        exchange, service = exchange_of(flow), self._service
        if is_own(flow):
            head_has_come(flow)
        if exchange is None or service is None or exchange.answered:
            return
        try:
            service.stream(flow, exchange)
        except Exception:
            logger.exception("%s: the answer passes, but was not looked at", flow.request.url)
            service.metrics.errors.inc()

    def response(self, flow: http.HTTPFlow) -> Awaitable[None] | None:
        exchange, service = exchange_of(flow), self._service
        if exchange is None or service is None or flow.response is None:
            return None
        if exchange.read_by is not None:
            hang_up(flow)
        if broke_off(exchange.read_by):
            service.break_off(flow, exchange)
            return None
        if not exchange.answered and (exchange.tee is not None or not exchange.streamed):
            entry = None
            try:
                received = flow.response if exchange.tee is None else exchange.tee.restored(flow.response)
                entry = service.receiving.receive(received, exchange)
            except Exception:
                logger.exception("%s: the answer passes, but was not looked at", flow.request.url)
                service.metrics.errors.inc()
            service.land(exchange, entry, answered=True)
        if exchange.streamed:
            service.count(exchange)
            return None
        return service.finish(flow, exchange)

    def error(self, flow: http.HTTPFlow) -> None:
        exchange, service = exchange_of(flow), self._service
        if exchange is not None and service is not None:
            exchange.result = "error"
            service.land(exchange, None, answered=False)
            service.count(exchange)

    def server_connect(self, data: ServerConnectionHookData) -> None:
        if self._service is not None and (reason := self._service.refuses(data.server.address)):
            data.server.error = reason

    def _failed(self, flow: http.HTTPFlow) -> None:
        """The request goes upstream as if there were no cache; in offline mode it must not."""
        assert self._service is not None
        flow.response = None
        forget(flow)
        if self._service.mode == "offline":
            flow.response = unavailable(flow.request.path, _FAILED, "error", head=flow.request.method == "HEAD")
        self._service.metrics.errors.inc()
        logger.exception("%s: the request was not looked at", flow.request.url)


addons = [Pagemason()]
