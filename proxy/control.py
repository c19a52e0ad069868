"""What clients that are trusted may ask of the proxy itself: X-Pagemason-* fields, and PURGE.

Trusted are clients on this machine, and clients that have shown a password (`proxyauth`). From others the fields
mean nothing. They never reach an origin.
"""

from collections.abc import Collection

from mitmproxy import http

from blocks.model import Headers
from proxy.answer import response
from proxy.caching import cache_status
from proxy.guard import parsed

_ASKED = "pagemason-asked"

PREFIX = b"x-pagemason-"
_X = (b"X", b"x")


def is_trusted(flow: http.HTTPFlow) -> bool:
    """Tell whether a flow's client may steer the proxy."""
    if "proxyauth" in flow.metadata:
        return True
    peer = flow.client_conn.peername
    address = parsed(str(peer[0])) if peer else None
    return address is not None and address.is_loopback


def take(flow: http.HTTPFlow) -> None:
    """Take the X-Pagemason-* fields out of a request; those of a trusted client are remembered."""
    fields = flow.request.headers.fields
    for name, _ in fields:
        if name[:1] in _X and name[:12].lower() == PREFIX:
            break
    else:
        return
    if is_trusted(flow):
        flow.metadata[_ASKED] = asked_of(fields)
    flow.request.headers.fields = tuple(pair for pair in fields if pair[0][:12].lower() != PREFIX)


def taken(flow: http.HTTPFlow) -> dict[str, str]:
    """Return what a trusted client asked for."""
    asked: dict[str, str] = flow.metadata.get(_ASKED, {})
    return asked


def asked_of(headers: Headers) -> dict[str, str]:
    """Return the X-Pagemason-* fields, by what follows the prefix, in lower case."""
    found = {}
    for name, value in headers:
        if len(name) > 12 and name[:12].lower() == PREFIX:
            found[name[12:].lower().decode("latin-1")] = value.decode("latin-1").strip()
    return found


def chosen(asked: dict[str, str], name: str, configured: str, choices: Collection[str]) -> str:
    """Return what a request asks for, or what is configured. ValueError when there is no such thing."""
    value = asked.get(name, configured)
    if value not in choices:
        raise ValueError(f"X-Pagemason-{name.title()}: {value!r} is not one of {', '.join(choices)}")
    return value


def sentence(status: int, reason: bytes, text: str) -> http.Response:
    """Return an answer of our own that is a sentence."""
    body = f"{text}\n".encode("utf-8", "replace")
    fields = (
        (b"Content-Type", b"text/plain; charset=utf-8"),
        (b"Cache-Control", b"no-store"),
        (b"Content-Length", b"%d" % len(body)),
        (b"Cache-Status", cache_status(detail="control")),
        (b"Age", b"0"),
    )
    return response(status, reason, fields, body)
