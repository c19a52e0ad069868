"""Engines for SQLite and Postgres, and the one place where a database's errors become ours."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, InterfaceError, NoSuchModuleError, SQLAlchemyError

from store.base import NotAStore, StoreError, StoreTooNew, StoreUnavailable
from store.creation import create as create_tables
from store.models import APPLICATION_ID, SCHEMA, Meta
from store.snapshots import Snapshots, Source

BUSY_MS = 10_000
"""How long a writer of a SQLite file waits for another one."""

PAGE_BYTES = 1024
"""SQLite's page size: small stores are mostly half-filled pages, one for each table, index and pack."""

CONNECT_SECONDS = 5

VACUUM_PAGES = 2_000
"""Free pages of SQLite that are cut off in one transaction."""

EMPTY_BYTES = {"sqlite": 48 << 10, "postgresql": 160 << 10}
"""What our tables without rows occupy, about."""

_FIRST_TABLES = frozenset({"meta", "site", "pack", "need", "capture", "freshening"})
"""Those of the oldest store that can be opened."""

OUR_TABLES = _FIRST_TABLES | {"fingerprint"}


class Database:
    """One store's database: `write()` and `read()` give connections in a transaction."""

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        self.url = parse(url)
        self.name = self.url.render_as_string(hide_password=True)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._read_only = read_only
        self.path = Path(self.url.database or "") if self.is_sqlite else None
        self.empty_bytes = EMPTY_BYTES[self.url.get_backend_name()]
        make = _sqlite_engine if self.is_sqlite else _postgres_engine
        self._readers = make(self.url, writes=False, read_only=read_only)
        self._writer = self._readers if read_only or not self.is_sqlite else make(self.url, writes=True)
        self._snapshots = Snapshots(self._driver_connection) if self.is_sqlite else None
        self._opened: tuple[int, int] | None = None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Yield a connection in a transaction that commits at the end; on SQLite it holds the write lock at once."""
        with self.errors(), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection in a read transaction: one snapshot."""
        with self.errors(), self._readers.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Source]:
        """Yield what `ask` takes, in a read transaction: the way of those who read single pages, at the least cost."""
        if self._snapshots is None:
            with self.read() as connection:
                yield connection
            return
        with self.errors():
            taken = self._snapshots.take()
            try:
                yield taken
            finally:
                self._snapshots.give_back(taken)

    def _driver_connection(self) -> sqlite3.Connection:
        connection = self._readers.raw_connection()
        driver: Any = connection.driver_connection
        connection.detach()  # from the pool: it is ours now
        return cast(sqlite3.Connection, driver)

    def forget(self) -> None:
        """Drop what connections to SQLite have in memory."""
        if self._snapshots is not None:
            self._snapshots.forget()

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """Yield a connection without a transaction: each statement is one."""
        with self.errors(), self._readers.connect() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Translate what the database raises; IntegrityError passes, it is for the store to understand."""
        if self._opened is not None and _identity(self.path) != self._opened:
            # what is open is written to all the same, and gone when it is closed
            raise StoreUnavailable(f"{self.name}: the file was moved, deleted or replaced after it had been opened")
        try:
            yield
        except IntegrityError:
            raise
        except (DBAPIError, sqlite3.Error) as error:
            raise translate(self.name, error) from error
        except SQLAlchemyError as error:
            raise StoreError(f"{self.name}: {type(error).__name__}: {_first_line(error)}") from error

    def schema(self) -> str:
        """Return the store's migration, "" when the database is empty. NotAStore when it holds anything else."""
        with self.read() as connection:
            tables = set(inspect(connection).get_table_names())
            if self.is_sqlite:
                number = connection.exec_driver_sql("pragma application_id").scalar_one()
                if number not in (0, APPLICATION_ID) or (number == 0 and tables):
                    raise NotAStore(f"{self.name}: a database of another program, a Pagemason store expected")
            if not tables:
                return ""
            if "alembic_version" not in tables or not tables >= _FIRST_TABLES:
                raise NotAStore(f"{self.name}: a database of another program, a Pagemason store expected")
            revision = connection.execute(text("select version_num from alembic_version")).scalar()
            marked = connection.execute(text("select value from meta where name = 'store'")).scalar()
        if not revision or not marked:
            raise NotAStore(f"{self.name}: a database of another program, a Pagemason store expected")
        return str(revision)

    def prepare(self, *, create: bool) -> None:
        """Bring the schema up to date. NotAStore or StoreTooNew when that cannot be."""
        self._prepare(create=create)
        self._opened = _identity(self.path)

    def _prepare(self, *, create: bool) -> None:
        if self.path is not None:
            _look_at_file(self.path, self.name, create=create)
        revision = self.schema()
        if revision == SCHEMA:
            return
        if not revision and not create:
            raise NotAStore(f"{self.name}: no store there")
        if revision > SCHEMA:
            raise StoreTooNew(
                f"{self.name}: the store's format is {revision}, this program knows {SCHEMA}: use a newer Pagemason"
            )
        if self._read_only:  # an older store is read as a new one
            with closing(Database(self.url.render_as_string(hide_password=False))) as writable:
                writable.prepare(create=create)
            return
        with self.write() as connection:
            if not self.is_sqlite:
                connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": APPLICATION_ID})
            revision = self._revision(connection)
            if not revision:
                create_tables(connection)
            elif revision != SCHEMA:
                from migrations.run import upgrade

                upgrade(connection)

    def _revision(self, connection: Connection) -> str:
        if "alembic_version" not in inspect(connection).get_table_names():
            return ""
        return str(connection.execute(text("select version_num from alembic_version")).scalar() or "")

    def size(self, connection: Connection) -> int:
        """Return the bytes the database occupies: main file and WAL, or our tables with indexes and TOAST."""
        if self.path is not None:
            return sum(p.stat().st_size for p in (self.path, Path(f"{self.path}-wal")) if p.exists())
        names = [*OUR_TABLES, "alembic_version"]
        query = text(
            "select coalesce(sum(pg_total_relation_size(to_regclass(n))), 0) from unnest(cast(:names as text[])) n"
        )
        return int(connection.execute(query, {"names": names}).scalar_one())

    def shrink(self) -> None:
        """Give free pages back to the file system, and empty the WAL. Nothing on Postgres, which does it by itself."""
        if not self.is_sqlite:
            return
        with self.errors(), self._readers.connect() as connection:
            raw: Any = connection.connection.driver_connection
            try:
                while raw.execute("pragma freelist_count").fetchone()[0]:
                    left = raw.execute("pragma freelist_count").fetchone()[0]
                    raw.executescript(f"pragma incremental_vacuum({VACUUM_PAGES})")  # others may write in between
                    if raw.execute("pragma freelist_count").fetchone()[0] >= left:
                        break
                raw.execute("pragma wal_checkpoint(truncate)").fetchall()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) and "busy" not in str(error):
                    raise StoreUnavailable(f"{self.name}: {error}") from error

    @contextmanager
    def apart(self) -> Iterator[Connection]:
        """Give a connection outside of any transaction, for what cannot be in one; its settings may be changed."""
        with self.errors(), self._readers.connect() as connection:
            try:
                yield connection.execution_options(isolation_level="AUTOCOMMIT")
            finally:
                connection.invalidate()

    def close(self) -> None:
        if self._snapshots is not None:
            self._snapshots.close()
        self._readers.dispose()
        self._writer.dispose()


def parse(url: str) -> URL:
    """Return an SQLAlchemy URL of a database that we can use. NotAStore says what is wrong with it."""
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise NotAStore(
            f"store {url!r}: no SQLAlchemy URL; sqlite:///PATH or postgresql+psycopg://... expected"
        ) from error
    if backend == "sqlite":
        if not parsed.database or parsed.database == ":memory:":
            raise NotAStore(f"store {url!r}: a path expected after sqlite:///")
        return parsed
    if backend == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    raise NotAStore(f"store {url!r}: {backend} is not supported; sqlite:///PATH or postgresql+psycopg://... expected")


def _look_at_file(path: Path, name: str, *, create: bool) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(100)
    except FileNotFoundError:
        if not create:
            raise NotAStore(f"{name}: no store there") from None
        _make_file(path, name)
        return
    except OSError as error:
        raise NotAStore(f"{name}: {error.strerror or error}") from error
    if start and not start.startswith(b"SQLite format 3\0"):
        raise NotAStore(f"{name}: not an SQLite file")
    # Opening a file sets its journal mode, so another program's is told by its header alone: schema cookie at 40,
    # application id at 68 (both 0 while all that was written to a new store is still in its WAL).
    schema, application = start[40:44].strip(b"\0"), int.from_bytes(start[68:72], "big")
    if application not in (0, APPLICATION_ID) or (schema and not application):
        raise NotAStore(f"{name}: a database of another program, a Pagemason store expected")
    if not start and not create:
        raise NotAStore(f"{name}: an empty file, a Pagemason store expected")


def _make_file(path: Path, name: str) -> None:
    """Make an empty file that only its owner can read: it will hold what people looked at."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise NotAStore(f"{name}: {error.strerror or error}") from error


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Return what tells a file from another one that takes its name; None when there is none."""
    try:
        found = path.stat() if path is not None else None
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found is not None else None


_INCREMENTAL = 2
"""What `pragma auto_vacuum` answers for incremental."""


def _sqlite_engine(url: URL, *, writes: bool, read_only: bool = False) -> Engine:
    pool = {"pool_size": 1, "max_overflow": 0, "pool_timeout": BUSY_MS / 1000} if writes else {}
    immutable = read_only and _is_immutable(Path(url.database or ""))
    engine = create_engine(_immutable(url) if immutable else url, **pool)

    @event.listens_for(engine, "connect")
    def connected(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        for pragma in (
            f"busy_timeout={BUSY_MS}",
            f"page_size={PAGE_BYTES}",
            "auto_vacuum=incremental",
            "secure_delete=on",
            "journal_mode=wal",
            "synchronous=full",
            "foreign_keys=on",
            "cell_size_check=on",
            "trusted_schema=off",
            f"query_only={'on' if read_only else 'off'}",
        ):
            if immutable and pragma in ("auto_vacuum=incremental", "journal_mode=wal"):
                continue
            if pragma != "auto_vacuum=incremental" or not _vacuums(connection):
                connection.execute(f"pragma {pragma}").fetchall()

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("begin immediate" if writes else "begin")

    return engine


def _is_immutable(path: Path) -> bool:
    """Tell whether a file is nobody's to write just now, in a folder in which SQLite cannot make the files it reads a
    log by: on read-only media, say."""
    logs = (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
    return path.is_file() and not os.access(path.parent, os.W_OK) and not any(log.exists() for log in logs)


def _immutable(url: URL) -> URL:
    file = f"file:{quote(str(Path(url.database or '').absolute()))}"
    return url.set(database=file, query={"mode": "ro", "immutable": "1", "uri": "true"})


def _vacuums(connection: Any) -> bool:
    """Tell whether a file gives back its free pages already: saying so again would write to it, even to read."""
    return bool(connection.execute("pragma auto_vacuum").fetchone()[0] == _INCREMENTAL)


def _postgres_engine(url: URL, *, writes: bool, read_only: bool = False) -> Engine:
    options = "-c lock_timeout=30s -c timezone=UTC"
    if read_only:
        options += " -c default_transaction_read_only=on"
    return create_engine(
        url,
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        pool_timeout=CONNECT_SECONDS,
        connect_args={"connect_timeout": CONNECT_SECONDS, "options": options},
    )


def translate(name: str, error: DBAPIError | sqlite3.Error) -> StoreError:
    """Return our error for a database's: what cannot be done now, and what no store is."""
    driver_error = error.orig if isinstance(error, DBAPIError) else error
    reason = _first_line(driver_error or error)
    code = getattr(driver_error, "sqlite_errorname", "")
    if code in ("SQLITE_NOTADB", "SQLITE_CANTOPEN"):
        return NotAStore(f"{name}: {reason}")
    if code.startswith("SQLITE_READONLY"):
        return StoreUnavailable(f"{name}: the file cannot be written: {reason}")
    if isinstance(error, InterfaceError | sqlite3.Error) or error.connection_invalidated or code:
        return StoreUnavailable(f"{name}: {reason}")
    state = getattr(driver_error, "sqlstate", None) or ""
    if state.startswith(("08", "28", "3D", "40", "53", "55", "57", "58")) or not state:
        return StoreUnavailable(f"{name}: {reason}")
    return StoreError(f"{name}: {reason}")


def _first_line(error: object) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__


def meta(connection: Connection, name: str) -> str:
    """Return a value of the `meta` table, "" when it is not there."""
    value = connection.execute(text("select value from meta where name = :name"), {"name": name}).scalar()
    return str(value or "")


__all__ = ["Database", "Meta", "meta", "parse", "translate"]
