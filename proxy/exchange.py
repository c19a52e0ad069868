"""One request on its way through the proxy, and what is remembered of it until its answer has come."""

import time
from asyncio import StreamReader
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes

from mitmproxy import http
from mitmproxy.proxy.mode_specs import ReverseMode, TransparentMode

from blocks.model import Headers
from proxy.caching.fields import tokens, values
from proxy.caching.key import key_of, reduced
from proxy.caching.model import Policy, Request
from proxy.entry import Entry
from proxy.flights import Flight

if TYPE_CHECKING:
    from proxy.passing import Tee

_METADATA = "pagemason"

_ANY_POLICY = Policy()

_CONNECTION_ONLY = frozenset((b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"te", b"trailer", b"upgrade"))
"""Fields that end here. mitmproxy needs Connection and Transfer-Encoding to frame what it sends."""

_KEPT = frozenset((b"close", b"content-length", b"transfer-encoding", b"host", b"authorization", b"cookie"))


@dataclass(slots=True)
class Exchange:
    """A request, how it is being answered, and since when.

    `answered` says that the response is ours; `fwd` why the request went on (RFC 9211); `asked` are the
    entries whose validators went with it in place of the client's conditions, `considered` those that a decision
    was made among, kept from going; `flight` is what others wait
    for; `failure` why the store could not be asked; `verified` is false when nobody looks at the origin's certificate;
    `shared` says that a shared cache may keep the answer; `streamed` that its body goes to the client as it comes,
    and `tee` is what collects it on its way; `read_by` reads a body that ends where its connection does.
    """

    request: Request
    key: str
    mode: str
    started: float
    answered: bool = False
    result: str = "miss"
    fwd: str = ""
    sent: int = 0
    asked: Sequence[Entry] = field(default=())
    considered: Sequence[Entry] = field(default=())
    detail: str = ""
    failure: str = ""
    flight: Flight | None = None
    verified: bool = True
    shared: bool = False
    streamed: bool = False
    tee: "Tee | None" = None
    read_by: "StreamReader | None" = None

    @property
    def head(self) -> bool:
        """Whether the answer has no body."""
        return self.request.method == "HEAD"

    def own(self, headers: Headers) -> "Exchange":
        """Return an exchange of our own for the same page, which no client waits for."""
        request = Request("GET", self.request.url, headers)
        now = time.time_ns() // 1000
        return Exchange(request, self.key, self.mode, self.started, fwd="stale", sent=now, verified=self.verified)


def begin(flow: http.HTTPFlow, mode: str, policy: Policy, *, insecure: bool = False) -> Exchange:
    """Note the beginning of an exchange with the flow, in a form that the rules understand."""
    data = flow.request.data
    scheme, host, port = authority_of(flow)
    target = _text(data.path)
    url = origin_of(scheme, host, port) + target if target.startswith("/") else ""
    if not url or "#" in target:
        url = key_of(scheme, host, port, target, _ANY_POLICY)
    key = url
    if policy.drop_parameters or policy.sort_query:
        key = reduced(url, policy)
    fields = data.headers.fields
    request = Request(data.method.decode("latin-1"), url, fields, data.content != b"")  # None: it has passed already
    exchange = Exchange(request, key, mode, time.perf_counter(), verified=not insecure or scheme != "https")
    flow.metadata[_METADATA] = exchange
    return exchange


def exchange_of(flow: http.HTTPFlow) -> Exchange | None:
    """Return the exchange that was begun with a flow, None when there was none."""
    found: Exchange | None = flow.metadata.get(_METADATA)
    return found


def forget(flow: http.HTTPFlow) -> None:
    """Let a flow pass as if the cache had not seen it."""
    flow.metadata.pop(_METADATA, None)


def authority_of(flow: http.HTTPFlow) -> tuple[str, str, int]:
    """Return scheme, host and port that a flow goes to, as the connection says, not as a header claims.

    With a transparent proxy the connection knows an address only: the name is then the one for which the
    origin has to show a certificate. Without TLS nothing vouches for a name, and the address stands for it.
    A reverse proxy that passes Host on serves what its origin makes of it.
    """
    data = flow.request.data
    scheme = data.scheme.decode("latin-1")
    mode = flow.client_conn.proxy_mode
    if isinstance(mode, TransparentMode) and scheme == "https" and flow.client_conn.sni:
        return scheme, flow.client_conn.sni, data.port
    if isinstance(mode, ReverseMode) and (header := flow.request.host_header):
        host, _, port = header.rpartition(":") if header.rpartition(":")[2].isdigit() else (header, "", "")
        return scheme, host or data.host, int(port) if port and len(port) < 6 else _port(scheme)
    return scheme, data.host, data.port


@lru_cache(maxsize=4096)
def origin_of(scheme: str, host: str, port: int) -> str:
    """Return what a URL begins with, without the path."""
    return key_of(scheme, host, port, "/", _ANY_POLICY)[:-1]


def _port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _text(path: bytes) -> str:
    """Return a request target as text; bytes beyond ASCII, which it should not have, are percent-encoded."""
    if path.isascii():
        return path.decode("ascii")
    return quote_from_bytes(path, safe="!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~")


def hop_free(headers: Headers) -> Headers:
    """Return header fields without those that are for this connection alone (RFC 9110, section 7.6.1)."""
    named = tokens(values(headers, b"connection"))
    if b"upgrade" in named and b"websocket" in tokens(values(headers, b"upgrade")):
        return headers
    dropped = _CONNECTION_ONLY.union(named) - _KEPT
    return tuple(pair for pair in headers if pair[0].lower() not in dropped)


_CONDITIONS = frozenset(
    (b"if-match", b"if-modified-since", b"if-none-match", b"if-range", b"if-unmodified-since", b"range")
)


def unconditional(headers: Headers) -> Headers:
    """Return a request's fields without those that ask for less than the whole answer."""
    return tuple(pair for pair in headers if pair[0].lower() not in _CONDITIONS)
