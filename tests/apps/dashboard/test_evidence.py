"""What is worked out behind the answers: who asked last comes first, and nobody makes it work without end."""

import threading
import time
from contextlib import closing

from apps.dashboard.evidence import MAX_SITES, MAX_WAITING, Evidence
from apps.dashboard.reading import Here
from store.base import Record, SiteStats, Stats
from store.memory import MemoryStore
from tests.store.conftest import page, site_pages


class Watched(MemoryStore):
    """A store that notes which sites are read, and lets nobody read until it may."""

    def __init__(self) -> None:
        super().__init__()
        self.read_sites: list[str] = []
        self.may = threading.Event()

    def of_site(self, site: str) -> list[Record]:
        self.read_sites.append(site)
        assert self.may.wait(20)
        return super().of_site(site)


def stats_of(stats: Stats, site: str) -> SiteStats:
    return next(row for row in stats.by_site if row.site == site)


def test_who_asked_last_comes_first_and_the_queue_has_an_end() -> None:
    store = Watched()
    sites = [f"{number}.test" for number in range(MAX_WAITING + 5)]
    store.keep([page(f"http://{site}/") for site in sites])
    stats = store.stats()
    with closing(Evidence(Here(store), lambda site: stats_of(stats, site))) as evidence:
        for site in sites:
            assert evidence.blocks(site) is None
            while not store.read_sites:
                time.sleep(0.01)
        assert [site for site in sites if evidence.progress(site)] == [sites[0], *sites[-MAX_WAITING:]]
        store.may.set()
        assert evidence.blocks(sites[-MAX_WAITING], 20) is not None  # the one that waits longest
        assert store.read_sites == [sites[0], *reversed(sites[-MAX_WAITING:])]
        assert len([site for site in sites if evidence.counted(site)]) == MAX_SITES


def test_reading_rests_while_an_answer_is_made() -> None:
    store = MemoryStore()
    store.keep(site_pages(40))
    stats = store.stats()
    with closing(Evidence(Here(store), lambda site: stats_of(stats, site))) as evidence:
        with evidence.answering():
            assert evidence.blocks("a.test") is None
            time.sleep(0.2)
            read, total = evidence.progress("a.test") or (40, 40)
            assert (read <= 1, total) == (True, 40)
        assert evidence.blocks("a.test", 20) is not None


def test_who_waits_for_the_reading_does_not_hold_it_up() -> None:
    store = MemoryStore()
    store.keep(site_pages(40))
    stats = store.stats()
    with closing(Evidence(Here(store), lambda site: stats_of(stats, site))) as evidence, evidence.answering():
        began = time.monotonic()
        assert evidence.blocks("a.test", 20) is not None
        assert time.monotonic() - began < 10
