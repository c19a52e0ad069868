"""What readers ask all the time goes to SQLite's driver directly: SQLAlchemy takes ten times longer for a statement
than SQLite does. Postgres is asked through SQLAlchemy.

A connection remembers what was found over it until SQLite says that another one has written (`pragma data_version`,
three microseconds): whatever was deleted, by whichever process, is never found again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Select
from sqlalchemy.dialects import sqlite

MAX_REMEMBERED = 1000
"""Answers that a connection remembers."""


class Query:
    """A select with named values, made once: making a statement takes longer than the database takes to answer it."""

    def __init__(self, select: Select[*tuple[Any, ...]]) -> None:
        self.select = select

    @cached_property
    def text(self) -> tuple[str, tuple[str, ...], dict[str, object]]:
        """The statement as SQLite's driver takes it, the names of its values in their order, and those it has."""
        compiled = self.select.compile(dialect=sqlite.dialect())
        has = {name: value for name, value in compiled.params.items() if value is not None}
        return str(compiled), tuple(compiled.positiontup or ()), has


class Snapshot:
    """A connection to SQLite that only reads; it belongs to one thread at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection, self._version = connection, -1
        self._remembered: dict[Any, Any] = {}
        connection.execute("pragma query_only=on").fetchall()

    def remembered(self, key: object) -> Any:
        """Return what `remember` was given, None when the database has changed since."""
        found = self._remembered.get(key)
        return found if found is not None and self._is_current() else None

    def remember(self, key: object, value: object) -> None:
        """Keep what was found in this transaction for as long as nothing changes."""
        if not self._is_current() or len(self._remembered) >= MAX_REMEMBERED:
            self._remembered.clear()
        self._remembered[key] = value

    def _is_current(self) -> bool:
        (version,) = self._connection.execute("pragma data_version").fetchone()
        if version == self._version:
            return True
        self._version = version
        self._remembered.clear()
        return False

    def ask(self, query: Query, values: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """Return the rows; the first question begins a read transaction, which lasts until `end`."""
        if not self._connection.in_transaction:
            self._connection.execute("begin")
        text, names, has = query.text
        all_values = {**has, **values}
        return self._connection.execute(text, [all_values[name] for name in names]).fetchall()

    def end(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("rollback")

    def forget(self) -> None:
        """Drop what is remembered, and the pages that SQLite has in memory."""
        self._remembered.clear()
        self._connection.execute("pragma shrink_memory").fetchall()

    def close(self) -> None:
        self._connection.close()


Source = Connection | Snapshot
"""What can be asked within a read transaction."""


def ask(source: Source, query: Query, values: Mapping[str, object]) -> list[Any]:
    """Return the rows of a query, tuples of its columns."""
    if isinstance(source, Snapshot):
        return source.ask(query, values)
    return list(source.execute(query.select, values))


class Snapshots:
    """The connections that nobody uses now. `connect` makes one that is prepared."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._idle: list[Snapshot] = []
        self._closed = False

    def take(self) -> Snapshot:
        """Return a connection, to be given back or closed. The one used last has most in memory."""
        try:
            return self._idle.pop()
        except IndexError:
            return Snapshot(self._connect())

    def give_back(self, snapshot: Snapshot) -> None:
        try:
            snapshot.end()
        except sqlite3.Error:
            snapshot.close()
            return
        self._idle.append(snapshot)
        if self._closed:
            self.close()

    def forget(self) -> None:
        """Drop what idle connections have in memory."""
        for snapshot in list(self._idle):
            snapshot.forget()

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()
