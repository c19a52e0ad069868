"""One page: its captures over time, its headers, and its blocks by what they are to their site."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from apps.dashboard import charts
from apps.dashboard.board import Board, link, number_of, shown, text_of
from apps.dashboard.content import WAIT_SECONDS, PageContent
from apps.dashboard.drawing import KINDS, drawn, drawn_view
from apps.dashboard.rules import decision_about
from apps.dashboard.site import wait_for
from apps.dashboard.tables import Column, Table, paged
from apps.site_blocks import Known, Placed, SiteBlocks, blocks_of, excerpt
from blocks.encoding import encoding_of
from blocks.model import Capture, body_digest
from blocks.site import host_of
from store.base import Record
from store.packing.kinds import is_page

BLOCK_ROWS = 25
WHOLE_SECONDS, FRAME_SECONDS = 60.0, 5.0
"""How long a whole table waits until the site is counted and the page judged, and the drawn page for the latter."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as it is shown: its captures, the one chosen, its blocks, what the site knows of each, its content."""

    records: list[Record]
    at: int
    capture: Capture
    blocks: list[Placed]
    site: str
    found: SiteBlocks | None
    known: list[Known | None]
    content: PageContent

    @property
    def record(self) -> Record:
        """The capture that is shown, without its body."""
        return self.records[self.at]

    def kind(self, number: int) -> str:
        """Return what a block is to its site: known on other pages too, similar to one the site had before, new."""
        known = self.known[number]
        if known is None:
            return "new"
        if len(known.pages) > 1:
            return "known"
        return "similar" if known.base >= 0 else "new"

    @property
    def kinds(self) -> list[str]:
        """The kind of each block; none while the site is being counted."""
        return [self.kind(number) for number in range(len(self.blocks))] if self.found else []


def look(
    board: Board, request: Request, counted_within: float | None = None, judged_within: float = WAIT_SECONDS
) -> Seen:
    """Return the page that a request asks for, with what is known of it after so many seconds."""
    url = text_of(request, "url")
    records, at = board.capture_of(url, text_of(request, "capture"))
    capture = board.store.read(records[at])
    blocks = blocks_of(capture)
    site = board.site_of(url)
    found = board.evidence.blocks(site, wait_for(board.site_stats(site)) if counted_within is None else counted_within)
    known = [found.of(block.data) if found else None for block in blocks]
    content = board.judge.content_of(capture, site, judged_within)
    return Seen(records, at, capture, blocks, site, found, known, content)


def captures_table(board: Board, request: Request, whole: bool) -> Table:
    """The captures of a page, newest first."""
    records, at = board.capture_of(text_of(request, "url"), text_of(request, "capture"))
    return _captures(records, at, request, whole)


def _captures(records: list[Record], at: int, request: Request, whole: bool) -> Table:
    rows = []
    for number, record in enumerate(records):
        older = records[number + 1] if number + 1 < len(records) else None
        capture = record.capture
        same = older is not None and older.digest == record.digest
        change = None if older is None else "same bytes" if same else "compare"
        rows.append(
            {
                "time": capture.time,
                "link": link("/page", url=capture.url, capture=record.id),
                "status": capture.status,
                "size": record.size,
                "digest": record.digest.hex(),
                "id": record.id,
                "private": capture.private,
                "chosen": number == at,
                "change": change,
                "compare": link("/diff", url=capture.url, **{"from": older.id, "to": record.id})
                if older and not same
                else "",
            }
        )
    part, page, n_pages = (rows, 1, 1) if whole else paged(rows, number_of(request, "captures"), 12)
    columns = (
        Column("time", "Received", "time"),
        Column("status", "Status", "number"),
        Column("size", "Size", "bytes"),
        Column("private", "Private", "flag"),
        Column("change", "Since the one before", "text"),
        Column("digest", "BLAKE3", "code"),
    )
    table = Table(
        "Captures",
        columns,
        part,
        "/page/captures",
        links={"time": "link", "change": "compare"},
        n_rows=len(rows),
        page=page,
        n_pages=n_pages,
    )
    return shown(table, request, "/page", "captures")


def headers_table(board: Board, request: Request, whole: bool) -> Table:
    """The header fields of a capture, as received."""
    records, at = board.capture_of(text_of(request, "url"), text_of(request, "capture"))
    return _headers(records[at].capture, request)


def _headers(capture: Capture, request: Request) -> Table:
    rows = [
        {"name": name.decode("latin-1"), "value": value.decode("utf-8", "replace")} for name, value in capture.headers
    ]
    columns = (Column("name", "Field", "url"), Column("value", "Value", "url"))
    return shown(Table("Headers", columns, rows, "/page/headers"), request, "/page")


def blocks_table(board: Board, request: Request, whole: bool) -> Table:
    """The blocks of a capture."""
    seen = look(board, request, WHOLE_SECONDS, WHOLE_SECONDS) if whole else look(board, request)
    return _blocks(seen, request, whole)


def _blocks(seen: Seen, request: Request, whole: bool) -> Table:
    page, n_pages, first, last = 1, 1, 0, len(seen.blocks)
    if not whole:
        numbers, page, n_pages = paged([{"n": n} for n in range(last)], number_of(request, "blocks"), BLOCK_ROWS)
        first, last = (page - 1) * BLOCK_ROWS, (page - 1) * BLOCK_ROWS + len(numbers)
    columns = [
        Column("number", "No.", "number"),
        Column("kind", "Kind", "kind"),
        Column("begins", "Begins", "code"),
        Column("tag", "Tag", "text"),
        Column("size", "Size", "bytes"),
        Column("pages", "Pages", "count"),
        Column("cosine", "Cosine to base", "cosine"),
    ]
    if seen.content.verdicts:
        columns[2:2] = [Column("content", "Content", "flag"), Column("why", "Because")]
        columns.append(Column("rule", "Rule", "decide"))
    rows = [_block_row(seen, number) for number in range(first, last)]
    table = Table(
        "Blocks",
        columns
        if not whole
        else [*columns, Column("offset", "Offset"), Column("block", "Block"), Column("base", "Base")],
        rows,
        "/page/blocks",
        links={"begins": "link", "cosine": "compare"},
        n_rows=len(seen.blocks),
        page=page,
        n_pages=n_pages,
    )
    return shown(table, request, "/page", "blocks")


def _block_row(seen: Seen, number: int) -> dict[str, Any]:
    block, known = seen.blocks[number], seen.known[number]
    digest = body_digest(block.data).hex()
    base = seen.found.known[known.base] if seen.found and known and known.base >= 0 else None
    verdict = seen.content.verdicts[number] if seen.content.verdicts else None
    here = link("/block", site=seen.site or "-", block=digest, url=seen.capture.url, capture=seen.record.id)
    return {
        "number": number,
        "kind": seen.kind(number) if seen.found else None,
        "content": verdict.content if verdict and seen.content.marks[number] else None,
        "why": verdict.why if verdict else None,
        "rule": decision_about(seen.content.rule, digest),
        "host": host_of(seen.capture.url).removeprefix("www."),
        "begins": excerpt(block.data, 70) or "(blank)",
        "link": here,
        "tag": block.tag,
        "offset": block.offset,
        "size": len(block.data),
        "pages": len(known.pages) if known else 1 if seen.found else None,
        "cosine": round(known.cosine, 3) if known and base else None,
        "block": digest,
        "base": base.digest.hex() if base else None,
        "compare": here + "#base" if base else "",
    }


def page(board: Board, request: Request) -> Response:
    """Return the page of one page."""
    seen = look(board, request)
    times = [record.capture.time / 1e6 for record in seen.records]
    label = f"{len(times)} captures over time, as high as they are large"
    timeline = charts.ticks(times, [float(record.size) for record in seen.records], seen.at, label)
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter(seen.kinds)
    for kind, block in zip(seen.kinds, seen.blocks, strict=False):
        sizes[kind] += len(block.data)
    total = sum(sizes.values()) or 1
    legend = [(kind, counts[kind], sizes[kind], sizes[kind] / total) for kind in KINDS] if seen.found else []
    return board.show(
        request,
        "page.html",
        seen=seen,
        record=seen.record,
        capture=seen.capture,
        is_page=is_page(seen.capture),
        captures=_captures(seen.records, seen.at, request, False),
        headers=_headers(seen.capture, request),
        blocks=_blocks(seen, request, False),
        timeline=timeline,
        legend=legend,
        progress=board.evidence.progress(seen.site),
        content=seen.content,
        content_bytes=sum(
            len(block.data) for block, mark in zip(seen.blocks, seen.content.marks, strict=False) if mark == "yes"
        ),
        n_content=seen.content.marks.count("yes"),
        rules_link=link("/rules", host=host_of(seen.capture.url).removeprefix("www.")),
    )


def frame(board: Board, request: Request) -> Response:
    """Return the stored page as a document for the sandboxed frame. `marks` colours its blocks, `view` names one."""
    seen = look(board, request, judged_within=FRAME_SECONDS)
    if not is_page(seen.capture):
        return HTMLResponse("<!doctype html><title>no page</title><p>This is no HTML page, and is not drawn.")
    codec = encoding_of(seen.capture.body, seen.capture.header("content-type"))
    if text_of(request, "view") == "content" and seen.content.document:
        return HTMLResponse(drawn_view(seen.content.document))
    if text_of(request, "marks") == "no":
        return HTMLResponse(drawn(seen.blocks, codec))
    return HTMLResponse(drawn(seen.blocks, codec, seen.kinds, seen.content.marks))
