"""What changes something: logging in and out, purging, fetching anew. The walls have looked at the form by now."""

import hmac

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from apps.dashboard.board import Board, NotThere, link, readable, text_of
from apps.dashboard.forms import own_path
from apps.dashboard.keys import SESSION_SECONDS
from apps.dashboard.walls import COOKIE
from store.opening import open_store


def login(board: Board, request: Request) -> Response:
    """Show the form for the token, and take it."""
    then = text_of(request, "then")
    if request.method != "POST":
        return board.show(request, "login.html", wrong=False, then=then)
    form = request.scope["form"]
    if not board.keys.is_token(form.get("token", "")):
        return board.show(request, "login.html", 403, wrong=True, then=form.get("then", ""))
    response = RedirectResponse(own_path(form.get("then", "")), 303)
    response.set_cookie(
        COOKIE, board.keys.new_session(), max_age=SESSION_SECONDS, httponly=True, samesite="strict", path="/"
    )
    return response


def logout(board: Board, request: Request) -> Response:
    """End the session in this browser."""
    response = RedirectResponse("/", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


def purge(board: Board, request: Request) -> Response:
    """Ask whether a page is to be deleted, with all its captures, and delete it."""
    form = request.scope.get("form", {})
    url = form.get("url", "") if request.method == "POST" else text_of(request, "url")
    if not url:
        raise NotThere("no page is named")
    if request.method != "POST":
        if not request.scope["session"]:
            return RedirectResponse(link("/login", then=link("/purge", url=url)), 303)
        return board.show(request, "purge.html", url=url, n=_count(board, url), word=_word(board, url))
    if not hmac.compare_digest(form.get("word", "").encode("utf-8", "replace"), _word(board, url).encode()):
        raise NotThere("the page has changed since: ask again")
    store = open_store(board.settings.store, create=False, sites=board.settings.site_of)
    try:
        n = store.purge(url)
    finally:
        store.close()
    return board.show(request, "purged.html", url=url, n=n)


def refetch(board: Board, request: Request) -> Response:
    """Let the proxy fetch a kept page anew, and say what came of it."""
    url = request.scope["form"].get("url", "")
    board.captures_of(url)  # nothing else is fetched from here
    said = board.live.proxy.refetch(url) if board.live.proxy else "No proxy is attached."
    return board.show(request, "refetched.html", url=url, said=said)


def _count(board: Board, url: str) -> int:
    return board.store.purge(url, dry_run=True)


def _word(board: Board, url: str) -> str:
    """Return what the confirmation carries: it holds for this page with this number of captures only."""
    return f"{_count(board, url)} {readable(url)}"
