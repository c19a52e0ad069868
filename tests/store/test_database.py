"""Opening: what is a store, what is none, what another version wrote; and the schema."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text

from migrations.run import config, upgrade
from store.base import NotAStore, StoreError, StoreTooNew, StoreUnavailable
from store.database import Database
from store.models import SCHEMA, Base
from store.opening import open_store
from store.packing.prose import prose_of
from tests.store.conftest import page, site_pages


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("nonsense", "no SQLAlchemy URL"),
        ("", "no SQLAlchemy URL"),
        ("mysql://a/b", "not supported"),
        ("sqlite://", "a path expected"),
        ("sqlite:///:memory:", "a path expected"),
        ("sqlite:////proc/none/x.db", "proc"),
    ],
)
def test_a_url_of_no_store_is_refused(url: str, reason: str) -> None:
    with pytest.raises(NotAStore, match=reason):
        open_store(url)


def test_a_missing_store_is_made_only_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "x.db"
    with pytest.raises(NotAStore, match="no store there"):
        open_store(f"sqlite:///{path}", create=False)
    assert not path.exists()
    open_store(f"sqlite:///{path}").close()
    assert oct(path.stat().st_mode & 0o777) == "0o600"


@pytest.mark.parametrize("content", [b"hello, I am no database at all", b"PK\x03\x04" * 100])
def test_another_kind_of_file_is_refused_and_untouched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(NotAStore, match="not an SQLite file"):
        open_store(f"sqlite:///{path}")
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "script",
    [
        "create table page(url)",
        "create table alembic_version(version_num); insert into alembic_version values('9')",
        "pragma application_id=1; create table meta(name, value)",
        "create table meta(name,value); create table site(id); create table pack(id); create table need(id);"
        "create table capture(id); create table freshening(id); create table alembic_version(version_num)",
    ],
)
def test_a_database_of_another_program_is_refused_and_untouched(tmp_path: Path, script: str) -> None:
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    before = sqlite3.connect(path).execute("select sql from sqlite_schema").fetchall()
    with pytest.raises(NotAStore, match="another program"):
        open_store(f"sqlite:///{path}")
    assert sqlite3.connect(path).execute("select sql from sqlite_schema").fetchall() == before


def test_a_postgres_database_of_another_program_is_refused(pg_url: str) -> None:
    engine = create_engine(pg_url)
    with engine.begin() as connection:
        connection.execute(text("create table orders (id int)"))
    with pytest.raises(NotAStore, match="another program"):
        open_store(pg_url)
    engine.dispose()


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="postgresql"):
        open_store(f"postgresql+psycopg://postgres@/x?host={tmp_path}")


def test_a_newer_store_is_refused_and_untouched(database_url: str) -> None:
    open_store(database_url).close()
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    with pytest.raises(StoreTooNew, match=r"9999.*newer Pagemason"):
        open_store(database_url)
    engine.dispose()


def test_models_and_migrations_agree(database_url: str) -> None:
    open_store(database_url).close()
    engine = create_engine(database_url)
    with engine.begin() as connection:
        command.check(config(connection))
        assert ScriptDirectory.from_config(config(connection)).get_current_head() == SCHEMA
    engine.dispose()


SCHEMA_QUERIES = {
    "sqlite": (
        "select type, name, tbl_name, replace(replace(sql, char(10), ''), char(9), '') from sqlite_schema",
        "select 'application_id', application_id from pragma_application_id",
        "select 'auto_vacuum', auto_vacuum from pragma_auto_vacuum",
    ),
    "postgresql": (
        "select c.relname, c.relkind, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,"
        " a.attstorage, pg_get_expr(d.adbin, d.adrelid) from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum"
        " where c.relnamespace = 'public'::regnamespace and a.attnum > 0",
        "select conname, conrelid::regclass::text, pg_get_constraintdef(oid) from pg_constraint"
        " where connamespace = 'public'::regnamespace",
        "select indexname, indexdef from pg_indexes where schemaname = 'public'",
    ),
}


def schema_of(connection: Connection) -> set[tuple[object, ...]]:
    """Return everything a database says of its tables, and the rows that a new store has."""
    rows = "select name, value from meta where name <> 'store' union all select 'schema', version_num"
    queries = (*SCHEMA_QUERIES[connection.dialect.name], f"{rows} from alembic_version")
    return {tuple(row) for query in queries for row in connection.execute(text(query))}


def test_a_new_store_has_the_tables_that_the_migrations_make(database_url: str) -> None:
    """Of a new store alembic runs nothing, so what it would have made is compared in every detail."""
    open_store(database_url).close()
    with closing(Database(database_url)) as database, database.write() as connection:
        made = schema_of(connection)
        for table in (*reversed(Base.metadata.sorted_tables), "alembic_version"):
            connection.execute(text(f"drop table {table}"))
        upgrade(connection)
        migrated = schema_of(connection)
    assert len(made) > 10
    assert made == migrated


@pytest.mark.parametrize("read_only", [False, True])
def test_an_older_store_is_migrated_when_it_is_opened(database_url: str, read_only: bool) -> None:
    pages = site_pages(5)
    store = open_store(database_url)
    store.keep(pages)
    store.close()
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("drop table fingerprint"))
        connection.execute(text("update alembic_version set version_num = '0001'"))
    engine.dispose()
    store = open_store(database_url, create=False, read_only=read_only)
    assert [store.read(record) for record in store.captures()] == pages
    assert pages[1].url in {record.capture.url for record in store.alike(prose_of(pages[1])).records}
    store.close()


def test_the_file_is_made_so_that_it_can_shrink_and_forget(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/x.db").close()
    database = Database(f"sqlite:///{tmp_path}/x.db")
    with database.write() as connection:
        values = {
            name: connection.exec_driver_sql(f"pragma {name}").scalar()
            for name in ("auto_vacuum", "secure_delete", "journal_mode", "synchronous", "foreign_keys")
        }
    database.close()
    assert values == {"auto_vacuum": 2, "secure_delete": 1, "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write any file")
    path = tmp_path / "x.db"
    open_store(f"sqlite:///{path}").close()
    path.chmod(0o400)
    with pytest.raises(StoreUnavailable):
        open_store(f"sqlite:///{path}").keep([page()])


def test_the_bytes_on_disk_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    store = open_store(f"sqlite:///{path}")
    store.keep(site_pages(20))
    store.compact()
    ondisk = store.stats().bytes.ondisk
    assert ondisk == path.stat().st_size + Path(f"{path}-wal").stat().st_size
    store.close()


def test_a_purge_of_everything_shrinks_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    store = open_store(f"sqlite:///{path}")
    empty = store.stats().bytes.ondisk
    store.keep([page(f"http://a.test/{i}", os.urandom(30_000)) for i in range(20)])
    assert store.stats().bytes.ondisk > 10 * empty
    store.purge("*")
    assert store.stats().bytes.ondisk <= 1.2 * empty
    store.close()


def test_opening_a_store_writes_nothing_into_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    with closing(open_store(url)) as store:
        store.keep(site_pages(3))
        before = store.size()
        for read_only in (True, False):
            with closing(open_store(url, create=False, read_only=read_only)) as other:
                other.stats()
                assert (other.size(), store.size()) == (before, before)


def test_a_store_opened_to_read_cannot_be_written(database_url: str) -> None:
    open_store(database_url).close()
    store = open_store(database_url, create=False, read_only=True)
    try:
        assert store.stats().captures == 0
        with pytest.raises(StoreError):
            store.keep([page()])
    finally:
        store.close()


def test_a_store_in_a_folder_that_cannot_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "read only #1 é"
    folder.mkdir()
    url = f"sqlite:///{folder}/s.db"
    with closing(open_store(url, create=True)) as store:
        store.keep([page()])
    assert [path.name for path in folder.iterdir()] == ["s.db"]
    folder.chmod(0o555)
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write all the same
    try:
        with closing(open_store(url, read_only=True)) as store:
            (record,) = store.find("http://a.test/")
            assert store.read(record) == page()
            assert [path.name for path in folder.iterdir()] == ["s.db"]
            with pytest.raises(StoreError):
                store.purge("*")
    finally:
        folder.chmod(0o755)


def test_a_file_that_was_moved_away_is_not_written_to(tmp_path: Path) -> None:
    path, away = tmp_path / "s.db", tmp_path / "away.db"
    with closing(open_store(f"sqlite:///{path}", create=True)) as store:
        store.keep([page()])
        path.rename(away)
        for act in (lambda: store.keep([page()]), lambda: store.find("http://a.test/"), store.purges):
            with pytest.raises(StoreUnavailable, match="moved, deleted or replaced"):
                act()
        path.write_bytes(b"another one")
        with pytest.raises(StoreUnavailable, match="moved, deleted or replaced"):
            store.keep([page()])
        away.replace(path)
        store.keep([page()])
        assert len(store.find("http://a.test/")) == 2
