"""Reading sites in a process of its own: the same is known, and its end is survived."""

import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from apps.dashboard.reading import BLOCKS, Here, There
from store.base import SiteStats, Store, StoreError, StoreUnavailable
from store.opening import open_store
from tests.end_to_end.program import CHECKOUT
from tests.store.conftest import site_pages


@pytest.fixture
def kept(tmp_path: Path) -> Any:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with closing(open_store(url)) as store:
        store.keep(site_pages(60))
        yield url, store


def stats_of(store: Store) -> SiteStats:
    return next(row for row in store.stats().by_site if row.site == "a.test")


def test_another_process_knows_what_this_one_does(kept: Any) -> None:
    url, store = kept
    stats, told = stats_of(store), []

    def tell(n: int, of: int) -> bool:
        told.append((n, of))
        return True

    with closing(There(url, {})) as there:
        found = there.read(("a.test", BLOCKS), stats, tell)
        expected = Here(store).read(("a.test", BLOCKS), stats, lambda n, of: True)
        assert (found.known, found.by_digest, found.urls) == (expected.known, expected.by_digest, expected.urls)
        assert [r.id for r in found.records] == [r.id for r in expected.records]
        assert (found.template_share, len(found.index)) == (expected.template_share, len(expected.index))
        assert told
        assert all(of == 60 for _, of in told)
        notes = there.read(("a.test", "Pagemason"), stats, tell).notes
        assert notes.keys() == Here(store).read(("a.test", "Pagemason"), stats, lambda n, of: True).notes.keys()
        assert notes
        with pytest.raises(StoreError, match="no such method"):
            there.read(("a.test", "no such method"), stats, tell)


def test_it_is_started_again_when_it_has_ended(kept: Any) -> None:
    url, store = kept
    stats = stats_of(store)
    with closing(There(url, {})) as there:

        def kill(n: int = 0, of: int = 0) -> bool:
            assert there._process is not None
            there._process.kill()
            there._process.wait()
            return True

        with pytest.raises(StoreUnavailable, match="has ended"):
            there.read(("a.test", BLOCKS), stats, kill)
        assert there.read(("a.test", BLOCKS), stats, lambda n, of: True).known
        kill()
        assert there.read(("a.test", BLOCKS), stats, lambda n, of: True).known


def test_who_waits_for_it_is_let_go_at_the_end(kept: Any) -> None:
    url, store = kept
    there, ended = There(url, {}), []

    def ask() -> None:
        try:
            there.read(("a.test", BLOCKS), stats_of(store), lambda n, of: True)
        except StoreUnavailable as exc:
            ended.append(exc)

    thread = threading.Thread(target=ask)
    thread.start()
    deadline = time.monotonic() + 20
    while there._process is None and time.monotonic() < deadline:
        time.sleep(0.01)
    there.close()
    thread.join(20)
    assert not thread.is_alive()
    with pytest.raises(StoreUnavailable, match="ends"):
        there.read(("a.test", BLOCKS), stats_of(store), lambda n, of: True)


ASKING = """
import sys
from apps.dashboard.reading import BLOCKS, There
from store.base import Bytes, SiteStats
there = There(sys.argv[1], {})
there.read(("a.test", BLOCKS), SiteStats("a.test", 60, 60, 0, Bytes()), lambda n, of: True)
print(there._process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here")
def test_it_does_not_outlive_a_dashboard_that_is_killed(kept: Any) -> None:
    url, _ = kept
    with subprocess.Popen(
        [sys.executable, "-c", ASKING, url], cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as asking:
        assert asking.stdout is not None
        reader = int(asking.stdout.readline())
        assert Path(f"/proc/{reader}").exists()
        asking.kill()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{reader}/cmdline").exists() and Path(f"/proc/{reader}/cmdline").read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.05)
