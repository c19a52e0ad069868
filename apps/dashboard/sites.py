"""The table of sites."""

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from apps.dashboard.board import (
    PAGE_ROWS,
    Board,
    link,
    number_of,
    ordered,
    readable,
    shown,
    text_of,
)
from apps.dashboard.live import figures
from apps.dashboard.tables import Column, Row, Table, paged
from store.base import SiteStats
from store.totals import SHARED

_SITE_COLUMNS = (
    Column("site", "Site", "url", sortable=True),
    Column("pages", "Pages", "count", sortable=True),
    Column("captures", "Captures", "count", sortable=True),
    Column("original", "Original", "bytes", sortable=True),
    Column("exact", "Exact", "bytes", sortable=True),
    Column("block", "Block", "bytes", sortable=True),
    Column("ondisk", "In its packs", "bytes", sortable=True),
    Column("ratio", "Ratio", "ratio", sortable=True),
    Column("template", "Template", "share", sortable=True),
)


def sites_table(board: Board, request: Request, whole: bool) -> Table:
    """All sites, or those whose name holds the text searched for."""
    wanted = text_of(request, "q").lower()
    key = text_of(request, "sort")
    if key not in {column.key for column in _SITE_COLUMNS}:
        key = "original"
    descending = text_of(request, "order") != "up"
    found = [row for row in board.live.stats().by_site if row.site != SHARED and wanted in row.site.lower()]
    rows = ordered([_sorting_row(board, row, key) for row in found], key, descending)
    part, page, n_pages = (rows, 1, 1) if whole else paged(rows, number_of(request, "page"), PAGE_ROWS)
    table = Table(
        "Sites",
        _SITE_COLUMNS,
        [_site_row(board, row["stats"]) for row in part],
        "/sites",
        links={"site": "link"},
        n_rows=len(rows),
        page=page,
    )
    return shown(replace(table, n_pages=n_pages, sort=key, descending=descending), request, "/sites")


def _sorting_row(board: Board, stats: SiteStats, key: str) -> Row:
    """Return what a row is sorted by; the rest is made for the rows that are shown."""
    value: Any
    if key in ("site", "pages", "captures"):
        value = getattr(stats, key)
    elif key in ("ratio", "template"):
        value = _site_row(board, stats)[key]
    else:
        value = getattr(stats.bytes, key)
    return {"stats": stats, key: value}


def _site_row(board: Board, stats: SiteStats) -> dict[str, Any]:
    counted = board.evidence.counted(stats.site)
    return {
        "site": stats.site,
        "link": link("/site", site=stats.site or "-"),
        "pages": stats.pages,
        "captures": stats.captures,
        **figures(stats.bytes),
        "ratio": round(stats.bytes.original / stats.bytes.ondisk, 2) if stats.bytes.ondisk else None,
        "template": counted.template_share if counted else None,
    }


def sites(board: Board, request: Request) -> Response:
    """Return the page of all sites."""
    return board.show(
        request, "sites.html", table_=sites_table(board, request, False), wanted=readable(text_of(request, "q"))
    )
