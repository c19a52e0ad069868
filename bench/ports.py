"""Ports on loopback for programs that are measured."""

import socket
import subprocess
import time
from typing import Any


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def wait_for(port: int, process: "subprocess.Popen[Any] | None" = None, timeout_seconds: float = 180) -> None:
    """Wait until somebody listens on a port. OSError when nobody does in time, RuntimeError when the process that
    should has ended."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if process is not None and process.poll() is not None:
                raise RuntimeError(f"{process.args!r} has ended with {process.returncode}") from None
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
