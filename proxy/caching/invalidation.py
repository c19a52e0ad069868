"""What an unsafe request makes doubtful (RFC 9111, section 4.4)."""

from proxy.caching.fields import values
from proxy.caching.key import resolve, same_origin
from proxy.caching.model import Request, Response

SAFE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "REPORT", "SEARCH", "QUERY"))
"""Safe methods (RFC 9110, section 9.2.1, and the registry). Any other may have changed something."""


def invalidated(request: Request, response: Response) -> tuple[str, ...]:
    """Return the URLs whose stored responses may not be used without validation any more.

    After a response without error to an unsafe method: the target, and what Location and Content-Location name on
    the same origin; another origin's pages are not this one's to invalidate.
    """
    if request.method.upper() in SAFE or not 200 <= response.status < 400:
        return ()
    target = resolve(request.url, b"")
    if target is None:
        return ()
    named = (*values(response.headers, b"location"), *values(response.headers, b"content-location"))
    resolved = (resolve(request.url, reference) for reference in named[:8])
    return tuple(dict.fromkeys((target, *(url for url in resolved if url and same_origin(url, target)))))
