"""Whether a response may be stored (RFC 9111, section 3), and what a shared cache owes the people who share it."""

import re
from fnmatch import fnmatchcase
from urllib.parse import unquote, urlsplit

from proxy.caching import freshness, vary
from proxy.caching.directives import Directives
from proxy.caching.fields import Index, index, tokens, values
from proxy.caching.key import resolve
from proxy.caching.model import Judgement, Keeping, Policy, Request, Response

UNDERSTOOD = frozenset((200, 203, 204, *range(300, 304), 307, 308, *range(400, 418), 421, 422, 426, *range(500, 506)))
"""Final status codes whose caching needs no more than is done here (RFC 9110, section 15), for must-understand."""

_STATIC = re.compile(
    r"\.(?:avif|bmp|css|csv|eot|gif|ico|jpe?g|js|json|map|mjs|mp[34]|otf|pdf|png|svgz?|ttf|txt|webm|webp|woff2?|xml|zip)"
    r"[^A-Za-z0-9]*$",
    re.IGNORECASE,
)
_HTML_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:<!--|<!doctype\s+html|<html|<head|<body)", re.IGNORECASE)

_FRAMES = frozenset((b"chunked", b"identity"))

_OK = Judgement(Keeping.SHARED)


def judge(request: Request, response: Response, policy: Policy) -> Judgement:
    """Say who may see a response again. What a request says can only make it fewer."""
    if why := _never(request, response, policy):
        return Judgement(Keeping.NEVER, why)
    fields = index(response.headers)
    directives, is_targeted = freshness.control(fields, policy)
    lifetime = freshness.explicit(fields, directives, response.time, is_targeted=is_targeted)
    if request.method == "POST" and not _is_own_page(request, fields, lifetime):
        return Judgement(Keeping.NEVER, "method POST")
    why = _forbidden(request, response.status, fields, directives, lifetime)
    why = why or personal(request, fields, directives, policy)
    if not why and b"cookie" in request.special and _is_deceptive(request.url, fields, response.beginning):
        why = "a page under the name of a static file"
    return Judgement(Keeping.PRIVATE, why) if why else _OK


def bypasses(url: str, policy: Policy) -> bool:
    """Tell whether the URL's host is one of those that are never cached: `never_cache`, globs, in any case."""
    if not policy.never_cache:
        return False
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return True
    host = host.rstrip(".")
    return any(fnmatchcase(host, pattern.lower().rstrip(".")) for pattern in policy.never_cache)


def _never(request: Request, response: Response, policy: Policy) -> str:
    """Return why a response is not kept in any mode, "" when nothing forbids it."""
    if not response.verified:
        return "certificate not verified"
    if response.status < 200 or response.status > 599:
        return "no final response"  # section 3: interim responses are not stored
    if response.status == 304:
        return "304 updates what is stored"
    if response.status == 206:
        return "partial content"  # sections 3.3 and 3.4: a part is not the whole
    if request.method not in ("GET", "POST"):
        return f"method {request.method}"  # a HEAD has no body to keep
    if request.has_body and request.method == "GET":
        return "GET with a body"
    if not _FRAMES.issuperset(tokens(values(response.headers, b"transfer-encoding"))):
        return "transfer coding"  # gzip and the like, which nobody has undone
    return "never_cache" if bypasses(request.url, policy) else ""


def _forbidden(request: Request, status: int, fields: Index, directives: Directives, lifetime: int | None) -> str:
    """Return what in section 3 or 4.1 keeps a response out of a shared cache, "" when nothing does."""
    understood = directives.must_understand and status in UNDERSTOOD
    if directives.no_store and not understood:  # section 5.2.2.3: must-understand takes the place of no-store
        return "no-store"
    if directives.must_understand and not understood:
        return "must-understand"
    if directives.private:
        return "private"
    if request.directives.no_store:  # section 5.2.1.5
        return "request no-store"
    selecting = vary.names(fields)
    if selecting is None:
        return "Vary: *"
    if secrets := vary.SECRET.intersection(selecting):
        return f"Vary: {min(secrets).decode()}"
    if lifetime is None and status not in freshness.HEURISTIC_STATUSES and not directives.public:
        return f"status {status} without a lifetime"
    return ""


def personal(request: Request, fields: Index, directives: Directives, policy: Policy) -> str:
    """Return why a response may be meant for the one who asked, "" when nothing says so.

    RFC 9111 restrains a shared cache for Authorization only (section 3.5). Cookies are a login at least as often,
    so they restrain this one as well, until the settings say otherwise.
    """
    if b"authorization" in request.special:
        allowed = directives.public or directives.must_revalidate or directives.s_maxage is not None
        if not (allowed and policy.store_authorized):
            return "request with Authorization"
    if b"set-cookie" in fields and not policy.store_set_cookie:
        return "Set-Cookie"
    cookie = request.special.get(b"cookie")
    if cookie is not None and not policy.store_with_cookie and is_login(cookie, policy.cookies_ignored):
        return "request with a cookie"
    return ""


def is_login(cookie: bytes, ignored: tuple[str, ...]) -> bool:
    """Tell whether a Cookie field may identify a person: any but one all of whose names are ignored ones."""
    if not ignored:
        return True
    names = (pair.partition(b"=")[0].strip().decode("latin-1") for pair in re.split(rb"[;,]", cookie) if pair.strip())
    return any(not any(fnmatchcase(name, pattern) for pattern in ignored) for name in names)


def _is_deceptive(url: str, fields: Index, beginning: bytes) -> bool:
    """Tell whether an HTML page answers under a path that ends like a static file's (web cache deception)."""
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        return True
    kinds = fields.get(b"content-type", ())
    html = any(b"html" in kind.lower() for kind in kinds) or _HTML_BEGINNING.match(beginning) is not None
    return html and _STATIC.search(path) is not None


def _is_own_page(request: Request, fields: Index, lifetime: int | None) -> bool:
    """Tell whether a POST's response is what a GET of its URL would give, with a lifetime (RFC 9110, section 9.3.3)."""
    locations = fields.get(b"content-location", ())
    if lifetime is None or len(locations) != 1:
        return False
    target = resolve(request.url, b"")
    return target is not None and resolve(request.url, locations[0]) == target
