"""Requests, responses and stored responses for the tests, in few words. The clock starts at T, a fixed instant."""

from blocks.model import Headers
from proxy.caching import SECOND, Policy, Request, Response, Stored, remember, selecting_fields
from proxy.caching.dates import render

T = 1_700_000_000 * SECOND
"""Tue, 14 Nov 2023 22:13:20 GMT, when every response is received."""

URL = "http://a.test/page"


def headers(*lines: str) -> Headers:
    """Return fields from lines such as "Age: 3"."""
    pairs = (line.partition(":") for line in lines)
    return tuple((name.encode("latin-1"), value.strip(" ").encode("latin-1")) for name, _, value in pairs)


def get(*lines: str, method: str = "GET", url: str = URL, has_body: bool = False) -> Request:
    """Return a request with these header lines."""
    return Request(method, url, headers(*lines), has_body)


def reply(
    *lines: str,
    status: int = 200,
    date: int | None = 0,
    verified: bool = True,
    took: int = 0,
    beginning: bytes = b"",
) -> Response:
    """Return a response received at T, `took` seconds after its request, with a Date `date` seconds from T."""
    dated = () if date is None else ((b"Date", render(T + date * SECOND)),)
    return Response(status, dated + headers(*lines), T - took * SECOND, T, verified, beginning)


def keep(
    *lines: str,
    asked: Request | None = None,
    policy: Policy | None = None,
    coding: str = "",
    status: int = 200,
    date: int | None = 0,
    took: int = 0,
) -> Stored:
    """Return the stored form of a response received at T."""
    response = reply(*lines, status=status, date=date, took=took)
    selecting = selecting_fields((asked or get()).headers, response.headers)
    return remember(response, selecting, policy or Policy(), coding=coding)


def after(seconds: float) -> int:
    """Return the instant this many seconds after T."""
    return T + round(seconds * SECOND)


def date(seconds: int) -> str:
    """Return the HTTP date this many seconds after T."""
    return render(T + seconds * SECOND).decode()
