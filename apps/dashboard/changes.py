"""Two captures of a page: which blocks went, came and stayed."""

from difflib import SequenceMatcher
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from apps.dashboard.board import Board, NotThere, link, number_of, shown, text_of
from apps.dashboard.tables import Column, Table, paged
from apps.site_blocks import Placed, blocks_of, excerpt
from blocks.model import body_digest
from store.base import Record

ROWS = 100
MAX_BLOCKS = 20_000
"""Of pages with more blocks the rest is left out; ordering them takes quadratic time at worst."""


def compared(board: Board, request: Request) -> tuple[Record, Record, list[dict[str, Any]]]:
    """Return both captures and a row for each block that went or came, in order."""
    url = text_of(request, "url")
    records, at = board.capture_of(url, text_of(request, "to"))
    if text_of(request, "from"):
        _, before = board.capture_of(url, text_of(request, "from"))
    elif at + 1 < len(records):
        before = at + 1
    else:
        raise NotThere("there is no capture before this one")
    old, new = (blocks_of(board.store.read(records[n]))[:MAX_BLOCKS] for n in (before, at))
    return records[before], records[at], _rows(old, new, board.site_of(url), records[before], records[at])


def _rows(old: list[Placed], new: list[Placed], site: str, before: Record, after: Record) -> list[dict[str, Any]]:
    rows = []

    def add(kind: str, blocks: list[Placed], record: Record) -> None:
        for block in blocks:
            digest = body_digest(block.data).hex()
            rows.append(
                {
                    "change": kind,
                    "begins": excerpt(block.data, 90) or "(blank)",
                    "link": link("/block", site=site or "-", block=digest, url=record.capture.url, capture=record.id),
                    "tag": block.tag,
                    "offset": block.offset,
                    "size": len(block.data),
                }
            )

    for kind, a, b, c, d in _steps([block.data for block in old], [block.data for block in new]):
        if kind != "equal":
            add("gone", old[a:b], before)
            add("come", new[c:d], after)
    return rows


def _steps(old: list[bytes], new: list[bytes]) -> list[tuple[str, int, int, int, int]]:
    """Return the steps from one list to the other; what begins and ends alike is taken off first."""
    start, stop = 0, 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    while stop < min(len(old), len(new)) - start and old[-1 - stop] == new[-1 - stop]:
        stop += 1
    middle = SequenceMatcher(None, old[start : len(old) - stop], new[start : len(new) - stop])
    return [(kind, a + start, b + start, c + start, d + start) for kind, a, b, c, d in middle.get_opcodes()]


def blocks_table(board: Board, request: Request, whole: bool) -> Table:
    """The blocks that went and came."""
    return _table(compared(board, request)[2], request, whole)


def _table(rows: list[dict[str, Any]], request: Request, whole: bool) -> Table:
    part, page, n_pages = (rows, 1, 1) if whole else paged(rows, number_of(request, "page"), ROWS)
    columns = (
        Column("change", "Change", "kind"),
        Column("begins", "Block", "code"),
        Column("tag", "Tag"),
        Column("offset", "Offset", "count"),
        Column("size", "Size", "bytes"),
    )
    table = Table(
        "Blocks that went and came",
        columns,
        part,
        "/diff/blocks",
        links={"begins": "link"},
        n_rows=len(rows),
        page=page,
        n_pages=n_pages,
    )
    return shown(table, request, "/diff")


def diff(board: Board, request: Request) -> Response:
    """Return the page that compares two captures."""
    before, after, rows = compared(board, request)
    sums = {
        kind: (sum(row["change"] == kind for row in rows), sum(row["size"] for row in rows if row["change"] == kind))
        for kind in ("gone", "come")
    }
    records = board.captures_of(after.capture.url)
    return board.show(
        request,
        "diff.html",
        before=before,
        after=after,
        records=records[:200],
        sums=sums,
        same=after.size - sums["come"][1],
        table_=_table(rows, request, False),
    )
