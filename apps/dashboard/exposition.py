"""/metrics: the proxy's counters and the store's totals, in base units. Of sites the largest, the rest as `other`."""

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from apps.dashboard.board import Board
from apps.dashboard.live import figures
from store.base import StoreError
from store.totals import SHARED

N_SITES = 20
OTHER = "other"


def metrics_text(board: Board) -> str:
    """Return all metrics as Prometheus reads them."""
    snapshot = board.live.snapshot(max_age_seconds=0)  # whoever scrapes wants this moment, and seldom asks
    return (snapshot.metrics if snapshot else "") + store_text(board)


def store_text(board: Board) -> str:
    """Return the store's own metrics."""
    registry = CollectorRegistry()
    up = Gauge("pagemason_store_up", "Whether the store answered the dashboard", registry=registry)
    up.set(0)
    try:
        stats = board.live.stats()
    except StoreError:
        return generate_latest(registry).decode()
    up.set(1)
    stages = Gauge(
        "pagemason_store_bytes",
        "Bytes of all captures: original, identical bodies once, distinct blocks, on disk",
        ["stage"],
        registry=registry,
    )
    for stage, value in figures(stats.bytes).items():
        stages.labels(stage).set(value)
    for name, text in (
        ("captures", "Captures kept"),
        ("pages", "Distinct URLs kept"),
        ("sites", "Sites of which something is kept"),
        ("blocks", "Distinct blocks kept"),
    ):
        Gauge(f"pagemason_store_{name}", text, registry=registry).set(getattr(stats, name))
    by_site = Gauge("pagemason_site_bytes", "Bytes by site and stage", ["site", "stage"], registry=registry)
    captures = Gauge("pagemason_site_captures", "Captures by site", ["site"], registry=registry)
    rows = sorted((row for row in stats.by_site if row.site != SHARED), key=lambda row: -row.bytes.original)
    for number, row in enumerate(rows):
        name = row.site if number < N_SITES else OTHER
        captures.labels(name).inc(row.captures)
        for stage, value in figures(row.bytes).items():
            by_site.labels(name, stage).inc(value)
    return generate_latest(registry).decode()
