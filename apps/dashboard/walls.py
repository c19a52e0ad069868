"""What every request must pass before a page is made for it, and what every answer carries.

A name in Host that is not ours is refused (DNS rebinding); so is what came through our own proxy. What changes
something needs a session or the token, a form of our own, and an Origin of our own. The address of the frames, another
port and thus another origin, serves stored pages only: without cookies, scripts or subresources.
"""

from collections.abc import Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from apps.dashboard.keys import Keys

COOKIE = "pagemason"
MAX_FORM_BYTES = 1 << 16
LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")

_COMMON = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Refused(Exception):
    """A request that is not answered; the message says why."""

    def __init__(self, why: str, status: int = 403) -> None:
        super().__init__(why)
        self.status = status


class Walls:
    """Lets requests through to `pages`, or to `frames` when they came in at `frame_port`."""

    def __init__(self, pages: ASGIApp, frames: ASGIApp, keys: Keys, hosts: Iterable[str], frame_port: int) -> None:
        self._pages, self._frames, self._keys = pages, frames, keys
        self._hosts = {name.lower() for name in (*LOCAL_NAMES, *hosts)}
        self._frame_port = frame_port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']}: only http is served here")
        headers = Headers(scope=scope)
        framed = (scope.get("server") or ("", 0))[1] == self._frame_port
        app: ASGIApp
        try:
            host = self._host(headers)
            if framed:
                app, added = self._frames, _of_frames(host)
                if scope["method"] not in ("GET", "HEAD"):
                    raise Refused("only GET here", 405)
            else:
                app, added = self._pages, _of_pages(host, self._frame_port)
                await self._authorise(scope, headers, receive)
        except Refused as refusal:
            app = PlainTextResponse(f"{refusal}\n", refusal.status)
            added = _of_frames("")

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add(message, added)
            await send(message)

        await app(scope, receive, sending)

    def _host(self, headers: Headers) -> str:
        """Return the name in Host without its port. Refused when it is not one of ours."""
        values = headers.getlist("host")
        name, _, port = values[0].rpartition(":") if len(values) == 1 else ("", "", "")
        if not port.isdigit():
            name = values[0] if len(values) == 1 else ""
        if name.lower() not in self._hosts:
            raise Refused("this host name is not one of the dashboard's; see the setting dashboard_hosts")
        if any("pagemason" in value.lower() for value in headers.getlist("via")):
            raise Refused("the dashboard does not answer through the proxy")
        return name.lower()

    async def _authorise(self, scope: Scope, headers: Headers, receive: Receive) -> None:
        """Note the session; of what changes something, read the form and refuse what is not allowed to."""
        session = session_cookie(headers)
        scope["session"] = session if self._keys.is_session(session) else ""
        if scope["method"] in ("GET", "HEAD"):
            return
        if scope["method"] != "POST":
            raise Refused("only GET and POST here", 405)
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused("a form of another site")
        if headers.get("origin", f"http://{headers['host']}") != f"http://{headers['host']}":
            raise Refused("a form of another origin")
        form = scope["form"] = await _form(receive)
        if scope["path"] == "/login":
            return
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._keys.is_token(given):
            return
        if not scope["session"]:
            raise Refused("log in with the dashboard's token first")
        if not self._keys.is_form_token(form.get("form_token", ""), scope["session"]):
            raise Refused("the form is too old or not ours: load the page again")


async def _form(receive: Receive) -> dict[str, str]:
    """Return the fields of an urlencoded form. Refused when there is more than a form has."""
    body = b""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused("the client has gone", 400)
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MAX_FORM_BYTES:
            raise Refused("too long for a form", 413)
    try:
        return dict(parse_qsl(body.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=100))
    except ValueError:
        raise Refused("no form", 400) from None


def session_cookie(headers: Headers) -> str:
    """Return the value of our cookie, empty when there is none."""
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def _of_pages(host: str, frame_port: int) -> dict[str, str]:
    policy = (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        f"frame-src http://{host}:{frame_port}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return {
        **_COMMON,
        "referrer-policy": "same-origin",  # with no-referrer a browser sends our own forms with `Origin: null`
        "content-security-policy": policy,
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }


def _of_frames(host: str) -> dict[str, str]:
    ancestors = f"http://{host}:*" if host else "'none'"
    policy = (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; "
        f"base-uri 'none'; frame-ancestors {ancestors}"
    )
    return {**_COMMON, "content-security-policy": policy}


def _add(message: MutableMapping[str, Any], added: dict[str, str]) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in added.items():
        if not (name == "cache-control" and name in headers):
            headers[name] = value
