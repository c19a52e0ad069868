"""mitmproxy, embedded: the parts of it that a cache needs, and no more."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mitmproxy import exceptions, http
from mitmproxy.addons import (
    core,
    errorcheck,
    next_layer,
    onboarding,
    proxyauth,
    proxyserver,
    tlsconfig,
    upstream_auth,
)
from mitmproxy.master import Master
from mitmproxy.options import Options

from proxy.addon import Pagemason
from proxy.dispatch import Dispatch
from proxy.service import Service
from settings import Settings


class Onboarding(onboarding.Onboarding):
    """mitm.it, where a client gets the CA certificate. Other requests pass it without a coroutine each."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def request(self, flow: http.HTTPFlow) -> Awaitable[None] | None:  # type: ignore[override]
        if self.host in (flow.request.data.host, flow.request.host_header):
            page: Awaitable[None] = super().request(flow)  # type: ignore[no-untyped-call]
            return page
        return None


class Ready:
    """Tells when the proxy listens, and where."""

    def __init__(self, tell: Callable[[str, int], None]) -> None:
        self._tell = tell
        self._server: proxyserver.Proxyserver | None = None

    def watch(self, server: proxyserver.Proxyserver) -> None:
        """Say which server to ask."""
        self._server = server

    def running(self) -> None:
        assert self._server is not None
        for host, port, *_ in self._server.listen_addrs():
            self._tell(host, port)
            return


def addons() -> list[object]:
    """Return mitmproxy's addons, in the order in which they see a request."""
    return [
        core.Core(),
        proxyserver.Proxyserver(),
        next_layer.NextLayer(),
        tlsconfig.TlsConfig(),
        proxyauth.ProxyAuth(),
        upstream_auth.UpstreamAuth(),
        Onboarding(),
    ]


def master_of(settings: Settings, service: Service, tell: Callable[[str, int], None]) -> Master:
    """Return the master to run. Belongs to the running event loop; ValueError when an option is not valid."""
    master = Master(Options(confdir=settings.confdir))
    master.addons = Dispatch(master)
    parts = addons()
    ready = Ready(tell)
    ready.watch(next(part for part in parts if isinstance(part, proxyserver.Proxyserver)))
    errors = errorcheck.ErrorCheck(repeat_errors_on_stderr=True)
    master.addons.add(*parts, errors, Pagemason(service), ready)
    try:
        master.options.update(**options_of(settings))
        foreign = foreign_options(settings.mitmproxy)
        if foreign:
            master.options.set(*foreign)
    except (exceptions.OptionsError, KeyError) as exc:
        raise ValueError(" ".join(str(exc).split())) from exc
    return master


async def end(master: Master) -> None:
    """Listen no more, and let the master end; our addon then writes its queue out."""
    server = master.addons.get("proxyserver")
    await server.servers.update([])
    master.shutdown()


def options_of(settings: Settings) -> Mapping[str, Any]:
    """Return mitmproxy's options as our settings put them."""
    return {
        "mode": [settings.proxy_mode],
        "listen_host": settings.listen_host,
        "listen_port": settings.listen_port,
        "connection_strategy": "lazy",  # an eager connection would touch the origin before a hit is known
        "stream_large_bodies": str(settings.max_body_bytes),
    }


def foreign_options(chosen: Mapping[str, str]) -> list[str]:
    """Return the user's own mitmproxy options as mitmproxy reads them."""
    return [f"{name}={value}" for name, value in chosen.items()]


def option_names() -> frozenset[str]:
    """Return the names of mitmproxy's options that may be set."""
    import asyncio

    async def names() -> frozenset[str]:
        master = Master(Options())
        master.addons.add(*addons())
        master._legacy_log_events.uninstall()
        return frozenset(master.options.keys())

    return asyncio.run(names())


def quiet() -> None:
    """Let the libraries' loggers say what is worth a line in a log, and no more."""
    for name in ("mitmproxy", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in ("asyncio", "hpack", "quic", "h2"):
        logging.getLogger(name).setLevel(logging.ERROR)
    for name in ("mitmproxy.proxy.server", "asyncio"):
        logging.getLogger(name).addFilter(_no_cancellation)


def _no_cancellation(record: logging.LogRecord) -> bool:
    """Leave out the tracebacks of connections that were open when the proxy ended."""
    return not (record.exc_info and record.exc_info[0] and record.exc_info[0].__name__ == "CancelledError")
