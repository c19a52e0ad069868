"""The dashboard as an ASGI application: every page, every table as .json and .csv, metrics and health checks."""

from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from apps.dashboard import actions, blocks, changes, overview, pages, rules, site, sites
from apps.dashboard.board import Board, NotThere
from apps.dashboard.exposition import metrics_text
from apps.dashboard.tables import Table, answer
from apps.dashboard.walls import Walls
from store.base import NoSuchCapture, StoreError, StoreUnavailable

STATIC = Path(__file__).parent / "static"

TABLES: dict[str, Callable[[Board, Request, bool], Table]] = {
    "/overview/bytes": overview.bytes_table,
    "/overview/lost": overview.lost_table,
    "/overview/requests": overview.requests_table,
    "/overview/sites": overview.top_table,
    "/overview/savings": overview.savings_table,
    "/overview/samples": overview.samples_table,
    "/sites": sites.sites_table,
    "/site/pages": site.pages_table,
    "/site/blocks": site.shared_table,
    "/site/frequency": site.frequency_table,
    "/page/captures": pages.captures_table,
    "/page/headers": pages.headers_table,
    "/page/blocks": pages.blocks_table,
    "/block/features": blocks.features_table,
    "/block/similar": blocks.similar_table,
    "/block/pages": blocks.pages_table,
    "/diff/blocks": changes.blocks_table,
    "/rules": rules.rules_table,
}
"""Each table by the address at which it is .json and .csv; its parameters are those of its page."""

View = Callable[[Board, Request], Response]

PAGES: dict[str, View] = {
    "/": overview.overview,
    "/live.json": overview.live_json,
    "/sites": sites.sites,
    "/site": site.site,
    "/site/progress.json": site.progress_json,
    "/page": pages.page,
    "/block": blocks.block,
    "/diff": changes.diff,
}
FORMS: dict[str, View] = {"/login": actions.login, "/purge": actions.purge, "/rules": rules.rules}
ACTIONS: dict[str, View] = {"/logout": actions.logout, "/refetch": actions.refetch, "/rules/block": rules.decide}


def application(board: Board, hosts: tuple[str, ...] = ()) -> Walls:
    """Return the application; requests that come in at the frames' port get stored pages only."""
    routes: list[BaseRoute] = [Route(path, _viewing(board, view)) for path, view in PAGES.items()]
    for path, view in FORMS.items():
        routes.append(Route(path, _viewing(board, view), methods=["GET", "POST"]))
    for path, view in ACTIONS.items():
        routes.append(Route(path, _viewing(board, view), methods=["POST"]))
    for address, table in TABLES.items():
        for ending in ("json", "csv"):
            routes.append(Route(f"{address}.{ending}", _tabling(board, table, ending)))
    routes += [
        Route("/metrics", _plain(lambda: metrics_text(board), "text/plain; version=0.0.4; charset=utf-8")),
        Route("/-/healthy", _healthy(board)),
        Route("/-/ready", _ready(board)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    frames: list[BaseRoute] = [Route("/drawn", _viewing(board, pages.frame))]
    return Walls(_app(board, routes), _app(board, frames), board.keys, hosts, board.frame_port)


def _app(board: Board, routes: list[BaseRoute]) -> Starlette:
    async def missing(request: Request, exc: Exception) -> Response:
        status, why = 404, str(exc)
        if isinstance(exc, HTTPException):
            status, why = exc.status_code, "There is no such page." if exc.status_code == 404 else exc.detail
        elif isinstance(exc, StoreUnavailable):
            status = 503
        elif isinstance(exc, StoreError) and not isinstance(exc, NoSuchCapture):
            status = 500
        if request.url.path.endswith((".json", ".csv")):
            return PlainTextResponse(why + "\n", status)
        return board.show(request, "error.html", status, status=status, why=why)

    return Starlette(routes=routes, exception_handlers={NotThere: missing, StoreError: missing, HTTPException: missing})


def _viewing(board: Board, view: View) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        with board.evidence.answering():
            return view(board, request)

    return endpoint


def _tabling(
    board: Board, table: Callable[[Board, Request, bool], Table], ending: str
) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        with board.evidence.answering():
            return answer(table(board, request, True), ending)

    return endpoint


def _plain(text: Callable[[], str], media_type: str = "text/plain") -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        return Response(text(), media_type=media_type)

    return endpoint


def _healthy(board: Board) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        if board.live.proxy is not None and board.live.snapshot() is None:
            return PlainTextResponse("the proxy does not answer\n", status_code=503)
        return PlainTextResponse("healthy\n")

    return endpoint


def _ready(board: Board) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        snapshot = board.live.snapshot()
        try:
            board.live.stats()
        except StoreError:
            return PlainTextResponse("the store does not answer\n", status_code=503)
        if board.live.proxy is None and snapshot is None:
            return PlainTextResponse("ready\n")
        if snapshot is not None and snapshot.ready:
            return PlainTextResponse("ready\n")
        return PlainTextResponse("the proxy or its store does not answer\n", status_code=503)

    return endpoint
