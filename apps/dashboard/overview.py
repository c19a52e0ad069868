"""The overview: what the cache holds, what that saves, and how it goes."""

import time
from collections.abc import Callable
from dataclasses import asdict
from heapq import nlargest
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from apps.dashboard import charts
from apps.dashboard.board import Board, link, share, size
from apps.dashboard.counters import Snapshot, hits_of
from apps.dashboard.live import Sample, figures, ratios
from apps.dashboard.tables import Column, Row, Table, json_answer
from store.base import Compaction, SiteStats, Stats
from store.totals import SHARED

STAGES = (
    ("original", "Original", "decoded bodies of all captures"),
    ("exact", "Exact", "identical bodies of a site once"),
    ("block", "Block", "distinct blocks and recipes, uncompressed"),
    ("ondisk", "On disk", "what the database occupies, indexes included"),
)
N_TOP = 8


def bytes_table(board: Board, request: Request, whole: bool) -> Table:
    """The four figures."""
    found = figures(board.live.stats().bytes)
    most = max(found.values()) or 1
    rows: list[Row] = []
    before = None
    for name, title, meaning in STAGES:
        value = found[name]
        saved = None if before is None or not before else 1 - value / before
        rows.append(
            {
                "stage": name,
                "title": title,
                "meaning": meaning,
                "bytes": value,
                "saved": saved,
                "share": value / most,
                "before": None if before is None else before / most,
            }
        )
        before = value
    columns = (Column("stage", "Stage"), Column("bytes", "Bytes", "bytes"), Column("saved", "Saved here", "share"))
    return Table("Bytes at each stage", columns, rows, "/overview/bytes")


def lost_table(board: Board, request: Request, whole: bool) -> Table:
    """What was not kept, and why."""
    snapshot = board.live.snapshot() or Snapshot()
    lost = snapshot.by_label("pagemason_not_kept_total")
    rows = [{"reason": reason, "captures": int(n)} for reason, n in sorted(lost.items(), key=lambda r: -r[1])]
    columns = (Column("reason", "Reason"), Column("captures", "Captures", "count"))
    return Table("Not kept, and why", columns, rows, "/overview/lost", nothing="Nothing was lost so far.")


def requests_table(board: Board, request: Request, whole: bool) -> Table:
    """Requests by result."""
    snapshot = board.live.snapshot() or Snapshot()
    found = snapshot.by_label("pagemason_requests_total")
    total = sum(found.values()) or 1
    rows = [{"result": name, "requests": int(n), "share": n / total} for name, n in found.items()]
    columns = (
        Column("result", "Result"),
        Column("requests", "Requests", "count"),
        Column("share", "Share", "share"),
        Column("share", "", "bar"),
    )
    return Table("Requests by result", columns, rows, "/overview/requests")


def top_table(board: Board, request: Request, whole: bool) -> Table:
    """The sites with the most bytes, and what is saved of them before compression."""
    rows = _site_rows(board, lambda row: row.bytes.original, None if whole else N_TOP)
    columns = (
        Column("site", "Site", "url"),
        Column("original", "Original", "bytes"),
        Column("ondisk", "In its packs", "bytes"),
        Column("saved", "Saved", "share"),
        Column("bar", "", "bar"),
    )
    return Table("Sites with the most bytes", columns, rows, "/overview/sites", links={"site": "link"})


def savings_table(board: Board, request: Request, whole: bool) -> Table:
    """The sites that save most bytes."""
    rows = _site_rows(board, lambda row: row.bytes.original - row.bytes.ondisk, None if whole else N_TOP)
    columns = (
        Column("site", "Site", "url"),
        Column("saved_bytes", "Bytes saved", "bytes"),
        Column("saved", "Saved", "share"),
        Column("bar", "", "bar"),
    )
    return Table("Sites that save most", columns, rows, "/overview/savings", links={"site": "link"})


def _site_rows(board: Board, size_of: Callable[[SiteStats], int], n: int | None) -> list[dict[str, Any]]:
    """Return a row for each of the `n` largest sites, or of all, the largest first; the bar shows how large."""
    found = [row for row in board.live.stats().by_site if row.site != SHARED]
    chosen = nlargest(len(found) if n is None else n, found, key=size_of)
    most = max(1, size_of(chosen[0])) if chosen else 1
    return [
        {
            "site": row.site,
            "link": link("/site", site=row.site or "-"),
            "captures": row.captures,
            "original": row.bytes.original,
            "ondisk": row.bytes.ondisk,
            "saved_bytes": row.bytes.original - row.bytes.ondisk,
            "saved": 1 - row.bytes.ondisk / row.bytes.original if row.bytes.original else None,
            "bar": max(0.0, size_of(row) / most),
        }
        for row in chosen
    ]


def samples_table(board: Board, request: Request, whole: bool) -> Table:
    """The samples of the last hour."""
    rows = [{**asdict(sample), **figures(sample.bytes)} for sample in list(board.live.samples)]
    for row in rows:
        row["time"] = int(row["time"] * 1e6)
    columns = (
        Column("time", "Time", "time"),
        Column("captures", "Captures", "count"),
        *(Column(name, title, "bytes") for name, title, _ in STAGES),
        Column("requests", "Requests", "count"),
        Column("hits", "Hits", "count"),
    )
    return Table("The last hour", columns, rows, "/overview/samples")


def tiles(stats: Stats, snapshot: Snapshot | None, compaction: Compaction | None) -> list[tuple[str, str, str, str]]:
    """Return the figures on top: key, title, value, and what stands below."""
    b = stats.bytes
    saved = 1 - b.ondisk / b.original if b.original else None
    found = [
        ("saved", "Saved on disk", share(saved), f"{size(b.ondisk)} in place of {size(b.original)}"),
        ("captures", "Captures", f"{stats.captures:,}", f"of {stats.pages:,} pages"),
        ("sites", "Sites", f"{stats.sites:,}", f"{stats.blocks:,} distinct blocks"),
    ]
    if compaction is not None:
        won = compaction.bytes_before - compaction.bytes_after
        below = f"ago: {compaction.packs:,} packs, {size(abs(won))} {'less' if won >= 0 else 'more'} on disk"
        found.append(("compaction", "Last compaction", duration(time.time() - compaction.time), below))
    if snapshot is not None:
        requests = snapshot.total("pagemason_requests_total")
        ratio = hits_of(snapshot) / requests if requests else None
        lost = snapshot.total("pagemason_not_kept_total")
        queued, waiting = (snapshot.total(f"pagemason_queue_{what}") for what in ("entries", "bytes"))
        found += [
            ("hits", "Hit ratio", share(ratio), f"{requests:,.0f} requests"),
            ("queue", "Writer queue", f"{queued:,.0f}", f"{size(waiting)} to be written"),
            ("lost", "Not kept", f"{lost:,.0f}", f"{snapshot.total('pagemason_captures_committed_total'):,.0f} kept"),
        ]
    return found


def duration(seconds: float) -> str:
    """Return a time span for people.

    >>> duration(7500)
    '2 h'
    """
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def curves(samples: list[Sample]) -> list[dict[str, Any]]:
    """Return the charts over the last hour."""
    if len(samples) < 2:
        return []
    captures = [(s.time, float(s.captures)) for s in samples]
    saved = [(s.time, 1 - s.bytes.ondisk / s.bytes.original) for s in samples if s.bytes.original]
    found: list[tuple[str, list[tuple[float, float]], str, str, float | None]] = [
        ("Captures kept", captures, f"{captures[0][1]:,.0f}", f"{captures[-1][1]:,.0f}", None),
        ("Saved on disk", saved, share(saved[0][1]) if saved else "", share(saved[-1][1]) if saved else "", None),
    ]
    hits = ratios(samples)
    if len(hits) > 1:
        found.insert(1, ("Hit ratio", hits, share(hits[0][1]), share(hits[-1][1]), 0.0))
    minutes = (samples[-1].time - samples[0].time) / 60
    span = f"{minutes:.0f} min" if minutes >= 1 else f"{minutes * 60:.0f} s"
    return [
        {
            "title": title,
            "chart": charts.lines(
                [points],
                f"{title} over the last {span}: from {first} to {last}",
                low=low,
                timed=charts.Timed(title, "count" if title == "Captures kept" else "share"),
            ),
            "first": first,
            "last": last,
            "span": span,
        }
        for title, points, first, last, low in found
        if len(points) > 1
    ]


def overview(board: Board, request: Request) -> Response:
    """Return the page."""
    stats, snapshot = board.live.stats(), board.live.snapshot()
    tables = {
        name: make(board, request, False)
        for name, make in (
            ("bytes", bytes_table),
            ("lost", lost_table),
            ("requests", requests_table),
            ("top", top_table),
            ("savings", savings_table),
        )
    }
    return board.show(
        request,
        "overview.html",
        tiles=tiles(stats, snapshot, board.store.last_compaction()),
        snapshot=snapshot,
        curves=curves(list(board.live.samples)),
        tables=tables,
    )


def live_json(board: Board, request: Request) -> Response:
    """Return what changes while one looks: texts by key, the exact figures, and how many samples there are."""
    stats, snapshot = board.live.stats(), board.live.snapshot()
    values: dict[str, str] = {}
    for key, _, value, below in tiles(stats, snapshot, board.store.last_compaction()):
        values[key], values[f"{key}-below"] = value, below
    for name, number in figures(stats.bytes).items():
        values[f"bytes-{name}"] = size(number)
        values[f"exact-{name}"] = f"{number:,}"
    samples = board.live.samples
    return json_answer(
        {
            "values": values,
            "bytes": figures(stats.bytes),
            "captures": stats.captures,
            "counters": snapshot.values if snapshot else {},
            "drawn": int(samples[-1].time) if samples else 0,
        }
    )
