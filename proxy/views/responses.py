"""Header fields of views: what a content page says of itself, and what of the origin's fields still holds for it."""

import time
from base64 import urlsafe_b64encode

from mitmproxy import http

from blocks.model import Headers
from extract.views.accept import MEDIA_TYPES
from proxy.answer import response
from proxy.caching import Policy, Request, Response, remember
from proxy.caching.answering import OF_THE_BODY, lists, not_modified
from proxy.caching.fields import tokens, values, without
from proxy.caching.negotiation import chosen_coding
from proxy.views.negotiation import ViewRequest, full_url
from proxy.views.rendering import RenderedView

_OF_THE_PAGE = frozenset(
    b"""accept-ranges content-digest content-disposition content-encoding content-length content-md5 content-range
    content-security-policy content-security-policy-report-only content-type digest etag last-modified link
    origin-agent-cluster refresh repr-digest service-worker-allowed signature signature-input sourcemap trailer
    x-content-security-policy x-webkit-csp x-sourcemap""".split()
)
"""Fields that describe the page's own bytes, or what they may load: none of it is true of a view of it."""


def is_html(headers: Headers) -> bool:
    """Tell whether a response is a page that people look at, not a download."""
    types = values(headers, b"content-type")
    if len(types) != 1 or types[0].split(b";")[0].strip().lower() not in (b"text/html", b"application/xhtml+xml"):
        return False
    return not any(
        value.lstrip().lower().startswith(b"attachment") for value in values(headers, b"content-disposition")
    )


def may_be_transformed(headers: Headers) -> bool:
    """Tell whether an intermediary may change the body (RFC 9110, section 7.7; RFC 9111, section 5.2.2.6)."""
    return b"no-transform" not in tokens(values(headers, b"cache-control"))


def varying(headers: Headers, *names: bytes) -> Headers:
    """Return the fields with a Vary that has these names too (RFC 9110, section 12.5.5)."""
    known = tokens(values(headers, b"vary"))
    new = [] if b"*" in known else [name for name in names if name.lower() not in known]
    return (*headers, (b"Vary", b", ".join(new))) if new else headers


def etag_of(key: bytes) -> bytes:
    """Return a view's entity tag; weak, because it is sent in several codings and by several makers.

    >>> etag_of(bytes(16))
    b'W/"pagemason-AAAAAAAAAAAAAAAAAAAAAA"'
    """
    return b'W/"pagemason-' + urlsafe_b64encode(key).rstrip(b"=") + b'"'


def content_page(
    full: http.Response, rendered: RenderedView, wanted: ViewRequest, key: bytes, request: Request
) -> http.Response:
    """Return the answer with a view as its body in the place of one with the page, or a 304 when the client has it."""
    assert rendered.body is not None
    coding = chosen_coding(request.headers, ("gzip",)) if rendered.zipped else ""
    body = rendered.zipped if coding else rendered.body
    kept = without(full.headers.fields, _OF_THE_PAGE)
    own = [
        (b"Content-Type", rendered.content_type.encode()),
        (b"ETag", etag_of(key)),
        (b"X-Pagemason-View", state(rendered)),
    ]
    if rendered.policy:
        own.append((b"Content-Security-Policy", rendered.policy.encode()))
    own.append((b"X-Content-Type-Options", b"nosniff"))
    own.append((b"Link", b'<%s>; rel="alternate"; type="text/html"' % _link(request.url)))
    if coding:
        own.append((b"Content-Encoding", coding.encode()))
    kept = without(kept, (b"x-content-type-options", b"x-pagemason-view"))
    fields = varying((*kept, *own), b"Accept", b"Accept-Encoding")
    if _has(wanted, key):
        return response(304, b"Not Modified", without(fields, OF_THE_BODY), b"")
    fields = (*fields, (b"Content-Length", b"%d" % len(body)))
    return response(full.status_code, full.data.reason, fields, b"" if request.method == "HEAD" else body)


def _link(url: str) -> bytes:
    return full_url(url).encode("ascii", "backslashreplace").replace(b">", b"%3E")


def _has(wanted: ViewRequest, key: bytes) -> bool:
    tags = values(wanted.conditions, b"if-none-match")
    return bool(tags) and lists(b", ".join(tags), etag_of(key))


def state(rendered: RenderedView) -> bytes:
    """Return the value of X-Pagemason-View."""
    if rendered.reason:
        said = rendered.reason.encode("ascii", "replace").replace(b'"', b"'").replace(b"\\", b"/")
        return b'full; reason="%s"' % said
    return b"content; confidence=%.2f" % rendered.confidence


def full_page(
    full: http.Response, rendered: RenderedView, wanted: ViewRequest, request: Request, policy: Policy
) -> http.Response:
    """Return the page as it came, saying why it is no view of it."""
    full.headers.fields = varying((*full.headers.fields, (b"X-Pagemason-View", state(rendered))), b"Accept")
    return conditional(full, wanted, request, policy)


def conditional(full: http.Response, wanted: ViewRequest, request: Request, policy: Policy) -> http.Response:
    """Return an answer that is no view, or a 304 when it is what the client's conditions are about."""
    if not wanted.conditions or full.status_code != 200:
        return full
    now = time.time_ns() // 1000
    headers = full.headers.fields
    stored = remember(Response(200, headers, now, now), (), policy)
    if not_modified(stored, Request(request.method, request.url, wanted.conditions)):
        return response(304, b"Not Modified", without(headers, OF_THE_BODY), b"")
    return full


def head(full: http.Response, wanted: ViewRequest) -> http.Response:
    """Return the answer to a HEAD for a page: without what only the rendered view would tell (RFC 9110, 9.3.2)."""
    fields = without(full.headers.fields, _OF_THE_PAGE)
    media_type = f"{MEDIA_TYPES[wanted.form]}; charset=utf-8".encode()
    full.headers.fields = varying((*fields, (b"Content-Type", media_type)), b"Accept", b"Accept-Encoding")
    return full
