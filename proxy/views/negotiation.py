"""What view a request asks for: by X-Pagemason-View, a link to the full page, Accept, a rule, or the setting."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from mitmproxy import http

from blocks.model import Headers
from extract.views.accept import asked_format, media_ranges, preferred_format, quality
from proxy.caching.fields import tokens, values
from proxy.views.rules import EffectiveRule

PARAMETER = "pagemason-view=full"
"""In the query of a link to the full page; it is taken out before anything else sees the URL."""

_PARAMETER = re.compile(rb"\?pagemason-view=full(?:&|$)|&pagemason-view=full(?=&|$)")
_FULL, _VIEW_REQUEST = "pagemason-full", "pagemason-view-request"
_NOT_PAGES = (b"image/", b"text/css", b"audio/", b"video/", b"font/")
_PAGES = frozenset((b"document", b"iframe", b"frame"))
_UNTOUCHED = frozenset((b"range", b"if-range", b"if-match", b"if-unmodified-since", b"x-requested-with"))
_CONDITIONS = frozenset((b"if-none-match", b"if-modified-since"))


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """A content view in a format of `extract.views.accept`, and what is ruled about the host.

    `conditions` are the client's, taken out of the request: they are about a view, which the origin does not know.
    """

    form: str
    rule: EffectiveRule
    conditions: Headers = ()


def view_request_of(flow: http.HTTPFlow) -> ViewRequest | None:
    """Return the view that a flow's client is to be given, None for the page as it comes."""
    found: ViewRequest | None = flow.metadata.get(_VIEW_REQUEST)
    return found


def take_parameter(flow: http.HTTPFlow) -> None:
    """Take the mark of a link to the full page out of a request's URL, and remember that it was there."""
    data = flow.request.data
    if b"pagemason-view=" in data.path and _PARAMETER.search(data.path):
        data.path = _PARAMETER.sub(_replaced, data.path)
        flow.metadata[_FULL] = True


def _replaced(match: "re.Match[bytes]") -> bytes:
    """A `?` stays when other parameters follow."""
    return b"?" if match[0].endswith(b"&") else b""


def full_url(url: str) -> str:
    """Return the URL under which the proxy gives the full page of another.

    >>> full_url("http://a.test/?x=1")
    'http://a.test/?x=1&pagemason-view=full'
    """
    return f"{url}{'&' if '?' in url else '?'}{PARAMETER}"


def negotiate(flow: http.HTTPFlow, asked: str, configured: str, rule: EffectiveRule) -> None:
    """Work out which view a request is given, and prepare the request for that.

    `asked` is what X-Pagemason-View said, `configured` the setting.
    """
    view = asked or rule.view or configured
    headers = flow.request.data.headers.fields
    by_accept = False
    if asked != "content" and (view == "full" or not asked):
        by_accept = not asked and _asks_for_markdown(headers)
        if not by_accept and (view == "full" or _FULL in flow.metadata):
            return
    if not _may_be_viewed(flow, headers, explicit=bool(asked) or by_accept):
        return
    form = _form(headers, by_header=asked == "content")
    conditions = tuple(pair for pair in headers if pair[0].lower() in _CONDITIONS)
    flow.metadata[_VIEW_REQUEST] = ViewRequest(form, rule, conditions)
    flow.request.data.headers.fields = _to_send(headers)


def _asks_for_markdown(headers: Headers) -> bool:
    lines = [value for name, value in headers if len(name) == 6 and name.lower() == b"accept"]
    return any(b"markdown" in line.lower() for line in lines) and asked_format(_joined(lines)) == "markdown"


def _joined(lines: Collection[bytes]) -> str:
    return b", ".join(lines).decode("latin-1")


def _may_be_viewed(flow: http.HTTPFlow, headers: Headers, *, explicit: bool) -> bool:
    """Tell whether a request may be for a page, and whether its answer may be another than the origin's."""
    request = flow.request.data
    if request.method not in (b"GET", b"HEAD") or request.content:
        return False
    accepts: list[bytes] = []
    for name, value in headers:
        lowered = name.lower()
        if lowered in _UNTOUCHED:
            return False
        if lowered == b"sec-fetch-dest" and not explicit and value not in _PAGES:
            return False
        if lowered == b"accept":
            accepts.append(value)
    if not explicit and accepts and accepts[0].lower().startswith(_NOT_PAGES):
        return False
    return b"no-transform" not in tokens(values(headers, b"cache-control"))


def _form(headers: Headers, *, by_header: bool) -> str:
    """Return the format. What only asks for "anything, JSON first", as scripts do, is given HTML."""
    accept = _joined(values(headers, b"accept"))
    if by_header:
        return preferred_format(accept) or "html"
    if asked_format(accept) == "markdown":
        return "markdown"
    return "text" if not quality(accept, "text/html")[0] and quality(accept, "text/plain")[0] else "html"


def _to_send(headers: Headers) -> Headers:
    """Return the request's fields for the origin, which is asked for the page, and for HTML if need be."""
    sent = tuple(pair for pair in headers if pair[0].lower() not in _CONDITIONS)
    accept = _joined(values(headers, b"accept"))
    if media_ranges(accept) and not quality(accept, "text/html")[0]:
        sent = (*sent, (b"Accept", b"text/html;q=0.5"))
    return sent
