"""How the dashboard runs: in a process of its own beside the proxy, and alone for `pagemason dashboard`.

Beside the proxy a thread answers its questions for counters over a pipe, and starts it again when it ends. A store in
memory is the proxy's own, so there the dashboard is a thread of the proxy's process.
"""

import asyncio
import contextlib
import logging
import multiprocessing
import os
import select
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import uvicorn

from apps.dashboard.app import application
from apps.dashboard.board import Board
from apps.dashboard.content import Judge
from apps.dashboard.counters import Proxy, ProxyHere, ProxyThere, tell
from apps.dashboard.evidence import Evidence
from apps.dashboard.keys import Keys, token_of
from apps.dashboard.live import Live
from apps.dashboard.reading import Here, There, give_way
from proxy.views.rules_file import RulesFile
from settings import Settings, data_directory, rules_file
from store.base import Store
from store.opening import open_store

if TYPE_CHECKING:
    from proxy.service import Service

logger = logging.getLogger(__name__)

RESTART_SECONDS = 1.0
NICENESS = 5
"""The proxy comes first."""

Sockets = tuple[socket.socket, socket.socket]
"""Where the dashboard listens, and where its frames."""


class _Server(uvicorn.Server):
    """Leaves signals to others."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def frames_socket(settings: Settings, listening: socket.socket) -> socket.socket:
    """Return a socket for the frames: the port after the dashboard's, a free one when that is taken or not given."""
    host, port = listening.getsockname()[:2]
    wanted = settings.dashboard_frame_port or (port + 1 if settings.dashboard_port else 0)
    try:
        return socket.create_server((host, min(wanted, 65535)), family=listening.family, backlog=128)
    except OSError as exc:
        if settings.dashboard_frame_port:
            logger.warning("dashboard_frame_port: %d: %s; a free port is taken", wanted, (exc.strerror or "").lower())
        return socket.create_server((host, 0), family=listening.family, backlog=128)


def serve(settings: Settings, store: Store, proxy: Proxy | None, sockets: Sockets, hold: Callable[[Any], None]) -> None:
    """Serve the dashboard until the server that `hold` is given is told to end, then let go of everything."""
    live = Live(store, proxy)
    board: Board | None = None

    def stats_of(site: str) -> Any:
        return board.site_stats(site) if board else None

    in_memory = settings.store == "memory:"  # no other process can see it
    reading = Here(store) if in_memory else There(settings.store, settings.site_of)
    evidence = Evidence(reading, stats_of)
    keys = Keys(token_of(data_directory()))
    rules = RulesFile(rules_file(settings))
    judge = Judge(rules, evidence, settings.min_confidence)
    board = Board(settings, store, live, evidence, keys, rules, judge, sockets[1].getsockname()[1])
    hosts = (*settings.dashboard_hosts, *_names(sockets[0]))
    config = uvicorn.Config(
        application(board, hosts),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        log_config=None,
        proxy_headers=False,
        server_header=False,
    )
    server = _Server(config)
    hold(server)
    live.start()
    for name in board.templates.list_templates():
        board.templates.get_template(name)  # compiled before somebody waits for it
    try:
        asyncio.run(server.serve(list(sockets)))
    finally:
        live.close()
        judge.close()
        evidence.close()


def _names(listening: socket.socket) -> tuple[str, ...]:
    """Return the address it listens on as a Host field writes it, unless that is all addresses."""
    host = str(listening.getsockname()[0])
    if host in ("0.0.0.0", "::"):
        return ()
    return (f"[{host}]" if ":" in host else host,)


@contextmanager
def serving(service: "Service", listening: socket.socket) -> Iterator[None]:
    """Serve the dashboard of a running proxy while the context lasts."""
    with frames_socket(service.settings, listening) as frames:
        service.border.keep_off(frames.getsockname()[1])
        run = _in_thread if service.settings.store == "memory:" else _in_process
        with run(service, (listening, frames)):
            yield


@contextmanager
def _in_thread(service: "Service", sockets: Sockets) -> Iterator[None]:
    servers: list[_Server] = []
    thread = threading.Thread(
        target=serve,
        args=(service.settings, service.store, ProxyHere(service), sockets, servers.append),
        name="dashboard",
        daemon=True,
    )
    thread.start()
    try:
        yield
    finally:
        for server in servers:
            server.should_exit = True
        thread.join(10)


@contextmanager
def _in_process(service: "Service", sockets: Sockets) -> Iterator[None]:
    closing = threading.Event()
    ends: list[Connection] = []
    thread = threading.Thread(target=supervise, args=(service, sockets, closing, ends), name="dashboard", daemon=True)
    thread.start()
    try:
        yield
    finally:
        closing.set()
        hang_up(ends)
        thread.join(15)


def hang_up(ends: list[Connection]) -> None:
    """Let both sides of pipes know that nothing more will come."""
    for end in ends:
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(end.fileno())) as pipe:
            pipe.shutdown(socket.SHUT_RDWR)


def supervise(service: "Service", sockets: Sockets, closing: threading.Event, ends: list[Connection]) -> None:
    """Keep a dashboard's process running and answer its questions, until `closing` is set."""
    context = multiprocessing.get_context("spawn")
    while True:
        ours, theirs = context.Pipe()
        ends[:] = [ours]  # before the look at `closing`: who sets it shuts the pipe that it finds here
        if closing.is_set():
            ours.close()
            theirs.close()
            return
        process = context.Process(
            target=main, args=(service.settings, theirs, sockets), name="pagemason dashboard", daemon=True
        )
        process.start()
        theirs.close()
        with ours:
            tell(ours, service)
        process.join(5)
        if process.is_alive():
            process.kill()
            process.join(5)
        process.close()
        if not closing.wait(RESTART_SECONDS):
            logger.warning("the dashboard's process has ended; it is started again")


def main(settings: Settings, connection: Connection, sockets: Sockets) -> None:
    """Be the dashboard's process: end when the proxy does."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a signal to the group is for the proxy, which then tells us
    give_way(NICENESS)
    store = open_store(settings.store, create=False, read_only=True, sites=settings.site_of)

    def hold(server: _Server) -> None:
        threading.Thread(target=_end_with, args=(connection, server), name="end", daemon=True).start()

    try:
        serve(settings, store, ProxyThere(connection), sockets, hold)
    finally:
        store.close()


def _end_with(connection: Connection, server: _Server) -> None:
    """End the server when the other end of the pipe is closed."""
    poll = select.poll()
    poll.register(connection.fileno(), getattr(select, "POLLRDHUP", 0))  # a hang-up is told in any case
    poll.poll()
    server.should_exit = True


def run_alone(settings: Settings, listening: socket.socket) -> None:
    """Serve the dashboard of a store without a proxy until SIGTERM or SIGINT."""
    store = open_store(settings.store, create=False, read_only=True, sites=settings.site_of)

    def hold(server: _Server) -> None:
        def end(number: int, frame: Any) -> None:
            server.should_exit = True

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)

    try:
        with frames_socket(settings, listening) as frames:
            serve(settings, store, None, (listening, frames), hold)
    finally:
        store.close()
