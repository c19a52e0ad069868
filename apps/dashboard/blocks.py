"""One block of a site: its bytes, its feature vector, blocks like it, and the pages it stands on."""

from difflib import SequenceMatcher
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from apps.dashboard.board import PAGE_ROWS, Board, NotThere, link, number_of, shown, text_of
from apps.dashboard.pages import look
from apps.dashboard.rules import decision_about
from apps.dashboard.site import block_bytes, site_named
from apps.dashboard.tables import Column, Table, paged
from apps.site_blocks import Known, SiteBlocks, excerpt
from blocks.features import FEATURES, block_vectors, cosines

WAIT_SECONDS = 0.4
SHOWN_BYTES = 20_000
N_SIMILAR = 20
COMPARED_WORDS = 3000


def look_up(
    board: Board, request: Request, wait_seconds: float = WAIT_SECONDS
) -> tuple[SiteBlocks | None, Known, bytes]:
    """Return the site's blocks, the block that a request names, and its bytes.

    A block of a page that was not counted is found through its page, if the request names that too.
    """
    site = site_named(request)
    try:
        digest = bytes.fromhex(text_of(request, "block"))
    except ValueError:
        raise NotThere("the name of a block is 32 hexadecimal digits") from None
    if board.site_stats(site) is None:
        raise NotThere("nothing of this site is kept")
    found = board.evidence.blocks(site, wait_seconds)
    at = found.by_digest.get(digest) if found else None
    if found is not None and at is not None:
        data = block_bytes(board, found, found.known[at])
        if data:
            return found, found.known[at], data
    if text_of(request, "url"):
        from blocks.model import body_digest

        for block in look(board, request, 0, 0).blocks:
            if body_digest(block.data) == digest:
                return found, Known(digest, len(block.data), block.tag, (0, block.offset), [], 1), block.data
    if found is None:
        raise NotThere("the blocks of this site are still being counted: try again in a moment")
    raise NotThere("no block of that name stands on the pages of this site")


def features_table(board: Board, request: Request, whole: bool) -> Table:
    """The counts of the block's feature vector."""
    return _features(look_up(board, request)[2], request)


def _features(data: bytes, request: Request) -> Table:
    vector = block_vectors([data])
    rows: list[dict[str, Any]] = [
        {"feature": feature.name, "count": int(n), "unit": feature.unit}
        for feature, n in zip(FEATURES, vector.counts[0].tolist(), strict=True)
    ]
    rows.append({"feature": "distinct terms", "count": len(vector.terms.of(0)), "unit": "terms"})
    columns = (Column("feature", "Feature"), Column("count", "Count", "count"), Column("unit", "Unit"))
    return shown(Table("Feature vector", columns, rows, "/block/features"), request, "/block")


def similar_table(board: Board, request: Request, whole: bool) -> Table:
    """The blocks of the site with the greatest cosine to this one."""
    found, known, data = look_up(board, request)
    return _similar(board, found, known, data, request)


def _similar(board: Board, found: SiteBlocks | None, known: Known, data: bytes, request: Request) -> Table:
    rows: list[dict[str, Any]] = []
    if found is not None and len(found.known):
        ids, vectors = found.index.known()
        others = np.arange(len(ids))
        cosine = cosines(block_vectors([data]), np.zeros(len(ids), np.int64), vectors, others)
        for at in np.argsort(-cosine, kind="stable")[: N_SIMILAR + 1].tolist():
            other = found.known[int(ids[at])]
            if other.digest != known.digest and cosine[at] > 0.5 and len(rows) < N_SIMILAR:
                rows.append(
                    {
                        "cosine": round(float(cosine[at]), 4),
                        "begins": excerpt(block_bytes(board, found, other), 70) or "(blank)",
                        "link": link("/block", site=found.site or "-", block=other.digest.hex()),
                        "size": other.size,
                        "pages": len(other.pages),
                        "block": other.digest.hex(),
                    }
                )
    columns = (
        Column("cosine", "Cosine", "cosine"),
        Column("begins", "Block", "code"),
        Column("size", "Size", "bytes"),
        Column("pages", "Pages", "count"),
    )
    return shown(Table("Similar blocks", columns, rows, "/block/similar", links={"begins": "link"}), request, "/block")


def pages_table(board: Board, request: Request, whole: bool) -> Table:
    """The pages a block stands on."""
    found, known, _ = look_up(board, request)
    return _pages(found, known, request, whole)


def _pages(found: SiteBlocks | None, known: Known, request: Request, whole: bool) -> Table:
    urls = [found.urls[number] for number in known.pages] if found else []
    rows = [{"url": url, "link": link("/page", url=url)} for url in urls or [text_of(request, "url")] if url]
    part, page, n_pages = (rows, 1, 1) if whole else paged(rows, number_of(request, "page"), PAGE_ROWS)
    table = Table(
        "Pages with this block",
        (Column("url", "Page", "url"),),
        part,
        "/block/pages",
        links={"url": "link"},
        n_rows=len(rows),
        page=page,
        n_pages=n_pages,
    )
    return shown(table, request, "/block")


def difference(before: bytes, after: bytes) -> list[tuple[str, str]]:
    """Return how one block's source became another's: (same, gone or come; text) in order. Bounded by the words."""
    old, new = (_words(data) for data in (before, after))
    parts = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(("same", "".join(old[a:b])))
            continue
        parts += [("gone", "".join(old[a:b]))] if b > a else []
        parts += [("come", "".join(new[c:d]))] if d > c else []
    return parts


def _words(data: bytes) -> list[str]:
    import re

    return re.findall(r"\s+|\w+|\W", data[:SHOWN_BYTES].decode("utf-8", "replace"))[:COMPARED_WORDS]


def block(board: Board, request: Request) -> Response:
    """Return the page of one block."""
    found, known, data = look_up(board, request)
    base = found.known[known.base] if found is not None and known.base >= 0 else None
    before = block_bytes(board, found, base) if found is not None and base is not None else b""
    return board.show(
        request,
        "block.html",
        site=site_named(request),
        found=found,
        known=known,
        data=data[:SHOWN_BYTES].decode("utf-8", "replace"),
        cut=len(data) > SHOWN_BYTES,
        features=_features(data, request),
        similar=_similar(board, found, known, data, request),
        pages=_pages(found, known, request, False),
        base=base,
        decision=decision_about(board.judge.rule_of(f"http://{site_named(request)}/"), known.digest.hex()),
        base_link=link("/block", site=site_named(request) or "-", block=base.digest.hex()) if base else "",
        difference=difference(before, data) if before else [],
    )
