"""The guard at work: which ports are the proxy's own, and where connections are looked at."""

import asyncio
import socket
from contextlib import suppress
from ipaddress import ip_address

from mitmproxy import http
from mitmproxy.proxy.mode_specs import ProxyMode, ReverseMode, UpstreamMode
from sqlalchemy.engine import make_url

from proxy import control
from proxy.guard import Guard
from settings import Settings


class Border:
    """Lets clients connect where they may.

    Names are looked at when they are resolved to be connected to. What a parent proxy will connect to is not
    resolved here: `asks` says that requests have to be looked at one by one.
    """

    def __init__(self, settings: Settings) -> None:
        mode = ProxyMode.parse(settings.proxy_mode)
        self.asks = isinstance(mode, UpstreamMode)
        named = [mode.address[0]] if isinstance(mode, UpstreamMode | ReverseMode) else []
        private = settings.allow_private or is_loopback(settings.listen_host)
        self._guard = Guard(private=private, exempt=named)
        self._known: dict[tuple[str, int], str] = {}
        for host, port in _database(settings.store):
            self._guard.keep_off(port, host)

    def keep_off(self, port: int) -> None:
        """Let nobody reach a port of this machine through the proxy."""
        self._guard.keep_off(port)

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look at every address that a loop connects to."""
        self._guard.watch(loop)

    def refusal(self, address: tuple[str, int] | None) -> str:
        """Return why an address must not be connected to; "" when it may be, or when it is a name."""
        return self._guard.refusal(address[0], address[1], address[0]) if address is not None else ""

    async def stops(self, flow: http.HTTPFlow) -> bool:
        """Answer 403 when a parent proxy is asked for what is not for clients; tell whether it was."""
        if not self.asks:
            return False
        target = (flow.request.host, flow.request.port)
        if target not in self._known:
            if len(self._known) > 1000:
                self._known.clear()
            self._known[target] = await self._guard.refuses(*target)
        if reason := self._known[target]:
            flow.response = control.sentence(403, b"Forbidden", f"Refused: {reason}.")
        return bool(reason)


def is_loopback(host: str) -> bool:
    """Tell whether an address to listen on can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _database(url: str) -> list[tuple[str, int]]:
    """Return the addresses of the database, and its port, when it is reached over the network."""
    with suppress(Exception):
        parsed = make_url(url)
        if parsed.get_backend_name() == "postgresql":
            host = str(parsed.host or parsed.query.get("host") or "")
            port = parsed.port or 5432
            if host and not host.startswith("/"):
                found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                return [(str(address[0]), port) for *_, address in found]
            return [("127.0.0.1", port)]
    return []
