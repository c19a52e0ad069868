"""`pagemason run`: opens the store, listens, says where, and ends in order."""

import asyncio
import contextlib
import errno
import logging
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from mitmproxy.certs import CertStore
from mitmproxy.options import CONF_BASENAME
from mitmproxy.proxy.mode_specs import ProxyMode, ReverseMode
from sqlalchemy.engine import make_url

from proxy.border import is_loopback
from proxy.master import end, master_of, quiet
from proxy.service import Service
from settings import Settings
from store.base import StoreError

Dashboard = Callable[[Service, socket.socket], AbstractContextManager[None]]
"""What serves the dashboard on a socket that listens, for as long as the context lasts."""


class _Stop(Exception):
    """The program cannot go on; the message is one sentence for people."""


def run(settings: Settings, dashboard: Dashboard) -> int:
    """Run the proxy until it is told to end; return the exit code. Says where it listens on standard output."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    quiet()
    _allow_connections()
    try:
        with _listening(settings) as listening:
            _look_for_port(settings)
            _look_for_password(settings)
            _look_for_authority(settings)
            service = Service(settings)
            service.border.keep_off(listening.getsockname()[1])
            with dashboard(service, listening):
                return _proxy(settings, service, listening.getsockname())
    except (_Stop, StoreError) as exc:
        print(f"pagemason: {exc}", file=sys.stderr)
        return 1


def _proxy(settings: Settings, service: Service, dashboard: tuple[str, int]) -> int:
    def tell(host: str, port: int) -> None:
        service.border.keep_off(port)
        print(_greeting(settings, _url(host, port), _url(*dashboard[:2])), flush=True)

    async def serve() -> None:
        try:
            master = master_of(settings, service, tell)
        except ValueError as exc:
            raise _Stop(f"mitmproxy: {exc}") from exc
        loop = asyncio.get_running_loop()
        ending: list[asyncio.Task[None]] = []
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, lambda: ending.append(loop.create_task(end(master))))
        await master.run()

    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        asyncio.run(serve())
    except SystemExit as exc:
        service.close()
        return exc.code if isinstance(exc.code, int) else 1
    return 0


def _allow_connections() -> None:
    """Let the process have as many connections as the system allows: each client can take two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _greeting(settings: Settings, proxy: str, dashboard: str) -> str:
    certificate = Path(settings.confdir).expanduser() / "mitmproxy-ca-cert.pem"
    return "\n".join(
        (
            f"proxy      {proxy}  ({settings.proxy_mode}, mode {settings.mode})",
            f"dashboard  {dashboard}",
            f"store      {_without_password(settings.store)}",
            f"CA         {certificate}  (also at http://mitm.it through the proxy)",
        )
    )


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _without_password(url: str) -> str:
    if url == "memory:":
        return url
    with contextlib.suppress(Exception):
        return make_url(url).render_as_string(hide_password=True)
    return url


def _look_for_port(settings: Settings) -> None:
    """Make sure that the proxy's port is free: mitmproxy would say so too, but not which flag to use."""
    try:
        mode = ProxyMode.parse(settings.proxy_mode)
    except ValueError as exc:
        raise _Stop(f"--proxy-mode {settings.proxy_mode}: {exc}") from exc
    host, port = mode.listen_host(settings.listen_host), mode.listen_port(settings.listen_port)
    if port:
        _bind(host, port, "--listen-port", "--listen-host").close()


def _look_for_password(settings: Settings) -> None:
    """Make sure that a proxy for others asks them for a password, unless it is told not to."""
    mode = ProxyMode.parse(settings.proxy_mode)
    for_all = isinstance(mode, ReverseMode) or settings.allow_open or settings.mitmproxy.get("proxyauth")
    if not for_all and not is_loopback(mode.listen_host(settings.listen_host)):
        raise _Stop(
            f"listening on {settings.listen_host or 'all addresses'} needs a password, --set proxyauth=USER:PASSWORD, "
            "or --set allow_open=true"
        )


def _look_for_authority(settings: Settings) -> None:
    """Make sure that there is a certificate authority, making one if need be, as mitmproxy would only later."""
    chosen = settings.mitmproxy
    passphrase = chosen.get("cert_passphrase")
    try:
        CertStore.from_store(
            Path(settings.confdir).expanduser(),
            CONF_BASENAME,
            int(chosen.get("key_size", "2048")),
            passphrase.encode() if passphrase else None,
        )
    except OSError as exc:
        raise _Stop(f"{exc.filename}: {exc.strerror}; choose another place for the authority with --confdir") from exc
    except (ValueError, TypeError, IndexError) as exc:
        raise _Stop(f"{settings.confdir}: the certificate authority there cannot be read: {exc}") from exc


def _listening(settings: Settings) -> socket.socket:
    return _bind(settings.dashboard_host, settings.dashboard_port, "--dashboard-port", "--dashboard-host")


def _bind(host: str, port: int, port_flag: str, host_flag: str) -> socket.socket:
    """Return a socket that listens. _Stop names the flag that would help."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as exc:
        unknown = exc.errno is not None and exc.errno < 0  # what getaddrinfo says
        flag = host_flag if unknown or exc.errno == errno.EADDRNOTAVAIL else port_flag
        reason = (exc.strerror or str(exc)).partition(" (while attempting")[0].lower()
        raise _Stop(f"cannot listen on {host} port {port}: {reason}; choose another with {flag}") from exc
