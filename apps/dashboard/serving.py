"""The dashboard beside a running proxy: a thread with an event loop of its own."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from apps.dashboard.app import application
from proxy.service import Service


@contextmanager
def serving(service: Service, listening: socket.socket) -> Iterator[None]:
    """Serve the dashboard on a listening socket while the context lasts."""
    config = uvicorn.Config(
        application(service), log_level="warning", access_log=False, lifespan="off", ws="none", log_config=None
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), name="dashboard", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(5)
