"""What is written for Prometheus and Grafana speaks of metrics that there are."""

import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from apps.dashboard.board import Board
from apps.dashboard.content import Judge
from apps.dashboard.counters import ProxyHere, ProxyThere, tell
from apps.dashboard.evidence import Evidence
from apps.dashboard.exposition import N_SITES, OTHER, metrics_text, store_text
from apps.dashboard.keys import Keys
from apps.dashboard.live import Live
from apps.dashboard.reading import Here
from proxy.service import Service
from proxy.views.rules_file import RulesFile
from settings import Settings
from store.memory import MemoryStore
from tests.store.conftest import page

DOCS = Path(__file__).resolve().parent.parent.parent.parent / "docs"


def board_of(store: MemoryStore, live: Live) -> Board:
    evidence = Evidence(Here(store), lambda site: None)
    evidence.close()
    rules = RulesFile(Path("no rules"))
    judge = Judge(rules, evidence, 0.35)
    return Board(Settings(store="memory:"), store, live, evidence, Keys("x" * 40), rules, judge, 1)


def names(home: Path) -> set[str]:
    """Return the names of the samples that a running proxy's /metrics may have."""
    service = Service(Settings(store="memory:", confdir=str(home)))
    store = MemoryStore()
    store.keep([page()])
    text = metrics_text(board_of(store, Live(store, ProxyHere(service))))
    service.close()
    found = {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}
    return found | {f"{f.name}_total" for f in text_string_to_metric_families(text) if f.type == "counter"}


@pytest.mark.parametrize("name", ["grafana.json", "alerts.yml", "dashboard.md"])
def test_the_documents_name_metrics_that_there_are(home: Path, name: str) -> None:
    known = names(home)
    written = set(re.findall(r"\bpagemason_[a-z_]+[a-z]\b", (DOCS / name).read_text()))
    assert len(written) > 5
    for metric in written:
        assert metric in known or any(sample.startswith(metric + "_") for sample in known), metric


def test_metrics_are_of_this_moment(home: Path) -> None:
    """Pages may show what was a second ago; whoever waits by /metrics for the queue to be empty must not be told so."""
    service = Service(Settings(store="memory:", confdir=str(home)))
    board = board_of(MemoryStore(), Live(MemoryStore(), ProxyHere(service)))
    for entries in (0, 7, 3):
        service.metrics.queue_entries.set(entries)
        assert f"pagemason_queue_entries {entries}.0" in metrics_text(board)
    service.close()


def test_sites_beyond_the_largest_are_one(home: Path) -> None:
    store = MemoryStore()
    store.keep([page(f"http://s{n}.test/", b"<p>" + b"x" * n) for n in range(N_SITES + 15)])
    text = store_text(board_of(store, Live(store, None)))
    assert len(set(re.findall(r'site="([^"]+)"', text))) == N_SITES + 1
    assert f'pagemason_site_captures{{site="{OTHER}"}} 15.0' in text
    assert "http:" not in text


def test_counters_come_over_a_pipe(home: Path) -> None:
    import threading
    from multiprocessing import Pipe

    service = Service(Settings(store="memory:", confdir=str(home)))
    for _ in range(3):
        service.metrics.tally.request("hit", 0.001)
    ours, theirs = Pipe()
    thread = threading.Thread(target=tell, args=(ours, service))
    thread.start()
    far = ProxyThere(theirs)
    snapshot = far.snapshot()
    assert snapshot is not None
    assert snapshot.by_label("pagemason_requests_total")["hit"] == 3.0
    assert 'pagemason_requests_total{result="hit"} 3.0' in snapshot.metrics
    theirs.close()
    thread.join(5)
    assert not thread.is_alive()
    assert far.snapshot() is None
    ours.close()
    service.close()
