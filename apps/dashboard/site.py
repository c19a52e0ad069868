"""One site: its pages, its most shared blocks, how often its blocks occur."""

from collections import Counter
from dataclasses import replace
from itertools import groupby
from math import log10
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from apps.dashboard import charts
from apps.dashboard.board import (
    PAGE_ROWS,
    Board,
    NotThere,
    link,
    number_of,
    ordered,
    readable,
    shown,
    text_of,
)
from apps.dashboard.rules import METHOD_NAMES, rule_for
from apps.dashboard.tables import Column, Row, Table, json_answer, paged
from apps.site_blocks import Known, SiteBlocks, excerpt
from store.base import SiteStats, StoreError

WAIT_SECONDS = 0.1
SOON_COUNTED = 15
"""A site of more captures is not counted within WAIT_SECONDS: nobody waits for it."""

N_SHARED = 25


def wait_for(stats: SiteStats | None) -> float:
    """Return for how many seconds a page waits until its site is counted."""
    return WAIT_SECONDS if stats is not None and stats.captures <= SOON_COUNTED else 0.0


def site_named(request: Request) -> str:
    """Return the site a request is about; "-" stands for the one without a name."""
    name = text_of(request, "site")
    return "" if name == "-" else name


def pages_table(board: Board, request: Request, whole: bool) -> Table:
    """The pages of a site."""
    site, wanted = site_named(request), text_of(request, "q").lower()
    rows: list[Row] = []
    for url, group in groupby(board.records_of(site), lambda record: record.capture.url):
        if wanted in url.lower():
            records = list(group)
            newest = records[-1]
            rows.append(
                {
                    "url": url,
                    "link": link("/page", url=url),
                    "captures": len(records),
                    "size": newest.size,
                    "status": newest.capture.status,
                    "time": newest.capture.time,
                }
            )
    key = text_of(request, "sort")
    if rows and key in rows[0]:
        rows = ordered(rows, key, text_of(request, "order") != "up")
    else:
        key = ""
    part, page, n_pages = (rows, 1, 1) if whole else paged(rows, number_of(request, "page"), PAGE_ROWS)
    columns = (
        Column("url", "Page", "url", sortable=True),
        Column("captures", "Captures", "count", sortable=True),
        Column("size", "Newest", "bytes", sortable=True),
        Column("status", "Status", "number"),
        Column("time", "Received", "time", sortable=True),
    )
    table = Table("Pages", columns, part, "/site/pages", links={"url": "link"}, n_rows=len(rows), page=page)
    descending = text_of(request, "order") != "up"
    return shown(replace(table, n_pages=n_pages, sort=key, descending=descending), request, "/site")


def known_row(board: Board, site: str, found: SiteBlocks, known: Known, begins: str = "") -> dict[str, Any]:
    """Return a row about a block of a site."""
    return {
        "block": known.digest.hex(),
        "link": link("/block", site=site or "-", block=known.digest.hex()),
        "pages": len(known.pages),
        "share": len(known.pages) / max(1, len(found.urls)),
        "captures": known.n_captures,
        "size": known.size,
        "saved": known.saved,
        "tag": known.tag,
        "begins": begins,
    }


def block_bytes(board: Board, found: SiteBlocks, known: Known) -> bytes:
    """Return a block's bytes, empty when the page it was seen on is gone."""
    number, offset = known.place
    try:
        return board.store.read(found.records[number]).body[offset : offset + known.size]
    except StoreError:
        return b""


def shared_table(board: Board, request: Request, whole: bool) -> Table:
    """The blocks that save most by being kept once."""
    site = site_named(request)
    found = board.evidence.blocks(site, 60.0 if whole else 0.0)
    columns = (
        Column("begins", "Block", "code"),
        Column("pages", "Pages", "count"),
        Column("share", "Of the pages", "share"),
        Column("captures", "Captures", "count"),
        Column("size", "Size", "bytes"),
        Column("saved", "Saved", "bytes"),
    )
    rows = []
    if found is not None:
        known = sorted((one for one in found.known if one.n_captures > 1), key=lambda one: -one.saved)
        for one in known[: 20 * N_SHARED if whole else N_SHARED]:
            rows.append(known_row(board, site, found, one, excerpt(block_bytes(board, found, one), 70) or "(blank)"))
    return Table(
        "Most shared blocks", columns, rows, "/site/blocks", link("", site=site or "-")[1:], {"begins": "link"}
    )


def frequency_table(board: Board, request: Request, whole: bool) -> Table:
    """How many blocks stand on how many pages."""
    site = site_named(request)
    found = board.evidence.blocks(site, 60.0 if whole else 0.0)
    frequencies = Counter(len(one.pages) for one in found.known) if found else Counter()
    sizes: Counter[int] = Counter()
    for one in found.known if found else ():
        sizes[len(one.pages)] += one.size
    rows = [{"pages": n, "blocks": frequencies[n], "bytes": sizes[n]} for n in sorted(frequencies)]
    columns = (
        Column("pages", "On pages", "count"),
        Column("blocks", "Blocks", "count"),
        Column("bytes", "Bytes", "bytes"),
    )
    return Table("Block document frequency", columns, rows, "/site/frequency", link("", site=site or "-")[1:])


def frequency_chart(table: Table) -> Any:
    """Return the curve: how many blocks (logarithm) stand on at least so many pages (logarithm)."""
    left = sum(row["blocks"] for row in table.rows)
    points = []
    for row in table.rows:
        points.append((log10(row["pages"]), log10(max(1, left))))
        left -= row["blocks"]
    label = "How many blocks stand on at least so many pages, both axes logarithmic"
    return charts.lines([points], label, low=0.0) if len(points) > 1 else ""


def site(board: Board, request: Request) -> Response:
    """Return the page of one site."""
    name = site_named(request)
    stats = board.site_stats(name)
    if stats is None:
        raise NotThere(f"nothing of {readable(name) or 'a site without a name'} is kept")
    found = board.evidence.blocks(name, wait_for(stats))
    frequency = frequency_table(board, request, False)
    return board.show(
        request,
        "site.html",
        name=name,
        stats=stats,
        found=found,
        progress=board.evidence.progress(name),
        templates_=_templates(found),
        pages=pages_table(board, request, False),
        shared=shared_table(board, request, False),
        frequency=frequency,
        chart=frequency_chart(frequency),
        wanted=readable(text_of(request, "q")),
        rule=rule_for(board, name),
        effective=board.judge.rule_of(f"http://{name}/"),
        methods=METHOD_NAMES,
        default_view=board.settings.view,
    )


def _templates(found: SiteBlocks | None) -> list[tuple[str, int, int]]:
    """Return what of the site's blocks stands on nearly all pages, on most, on some, on one: title, blocks, bytes."""
    if found is None or not found.urls:
        return []
    n, rows = len(found.urls), []
    for title, least, most in (
        ("on 90 % of the pages or more", 0.9, 9.0),
        ("on 50 to 90 %", 0.5, 0.9),
        ("on less than 50 %, two at least", 0.0, 0.5),
    ):
        part = [one for one in found.known if least <= len(one.pages) / n < most and len(one.pages) > 1]
        rows.append((title, len(part), sum(one.size * one.n_captures for one in part)))
    part = [one for one in found.known if len(one.pages) == 1]
    rows.append(("on one page only", len(part), sum(one.size * one.n_captures for one in part)))
    return rows


def progress_json(board: Board, request: Request) -> Response:
    """Return how far the counting of a site's blocks is."""
    name = site_named(request)
    progress = board.evidence.progress(name)
    counted = board.evidence.counted(name) is not None
    return json_answer({"counted": counted and progress is None, "progress": progress})
