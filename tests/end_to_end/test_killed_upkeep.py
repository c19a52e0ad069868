"""Compaction and collection that are killed lose nothing."""

import random
from dataclasses import replace

import pytest

from bench.upkeep import COMMANDS, killed
from blocks.model import body_digest
from tests.store.conftest import site_pages


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_every_page_is_there_after_kill_9(kind: str, tmp_path: object, request: pytest.FixtureRequest) -> None:
    url = f"sqlite:///{tmp_path}/pages.db" if kind == "sqlite" else request.getfixturevalue("pg_url")
    pages = [replace(c, record_id=f"<{c.url}>") for i in range(12) for c in site_pages(12, f"site{i}.test", words=300)]
    wanted = {(c.url, c.record_id): body_digest(c.body) for c in pages}
    rng = random.Random(3)
    outcomes = [
        killed(command, url, pages, wanted, seconds, rng)[0] for seconds in (0.35, 0.6, 0.9) for command in COMMANDS
    ]
    assert [outcome.wrong for outcome in outcomes] == [()] * 6
    assert any(outcome.killed for outcome in outcomes)
