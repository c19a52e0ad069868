"""An import that is killed has kept what it acknowledged, and can be taken up again."""

import os
from pathlib import Path

import pytest

from bench.crash import digests_of, killed_import
from tests.apps.warc.samples import HEAD, record


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_was_acknowledged_is_there_after_kill_9(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    store = f"sqlite:///{tmp_path}/pages.db" if kind == "sqlite" else request.getfixturevalue("pg_url")
    file = tmp_path / "many.warc"
    pages = (record(HEAD + os.urandom(2000), record_id=f"<{i}>", url=f"http://a.test/{i}") for i in range(5000))
    file.write_bytes(b"".join(pages))
    wanted = digests_of(file)
    first = killed_import(file, store, 0.01, wanted)
    assert (first.killed, first.wrong) == (True, ())
    assert 0 < first.found < len(wanted)
    again = killed_import(file, store, 600, wanted, before=first.found)
    assert (again.killed, again.wrong, again.found) == (False, (), len(wanted))
