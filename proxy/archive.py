"""The store as a web archive: pages as they were at a time, for clients that speak Memento (RFC 7089).

In the modes that answer whatever is kept, replay and offline. A page that is not kept takes the mode's ordinary way.
"""

import time
from collections.abc import Sequence
from urllib.parse import quote

from mitmproxy import http

from proxy import answer, control, mementos
from proxy.caching import Policy, Stored, cache_status, dates, key_of_url, nearest
from proxy.entry import Entry, referred
from proxy.exchange import Exchange
from proxy.holdings import Holdings
from proxy.metrics import Metrics

MODES = frozenset(("replay", "offline"))

MOST_MEMENTOS = 10_000
"""Captures of a page that are regarded, the newest."""

_ACCEPT = b"accept-datetime"
_OWN_FIELDS = frozenset((b"memento-datetime", b"content-location"))
_HIT = cache_status(hit=True)


class Archive:
    """Answers requests for a page at a time, and for lists of its captures."""

    def __init__(self, holdings: Holdings, policy: Policy, metrics: Metrics, *, serve_private: bool) -> None:
        self._holdings = holdings
        self._policy = policy
        self._metrics = metrics
        self._serve_private = serve_private

    def is_asked(self, exchange: Exchange) -> bool:
        """Tell whether a request is for a page at a time, or for what lies below `mementos.OWN`."""
        request = exchange.request
        if request.url.startswith(mementos.OWN):
            return True
        return _ACCEPT in request.special and exchange.mode in MODES and request.method in ("GET", "HEAD")

    async def answer(self, flow: http.HTTPFlow, exchange: Exchange) -> bool:
        """Answer such a request; tell whether that was possible: it is not when the page is not kept. Raises StoreError
        when the store does not answer."""
        if exchange.request.url.startswith(mementos.OWN):
            exchange.answered, exchange.result = True, "hit"
            flow.response = await self._own(exchange)
            if exchange.head:
                flow.response.data.content = b""
            return True
        wanted = mementos.accepted(exchange.request.special[_ACCEPT])
        if wanted is None:
            exchange.answered, exchange.result = True, "bypass"
            flow.response = _sentence(400, "Accept-Datetime is no date, such as Sun, 06 Nov 1994 08:49:37 GMT.")
            return True
        entries = await self._captures(exchange.key)
        if not entries:
            return False
        chosen = self._chosen(entries, wanted, exchange)
        exchange.answered, exchange.result = True, "hit"
        made = await self._memento(exchange.request.url, entries, chosen, exchange)
        location = mementos.memento(exchange.request.url, chosen.capture.time)
        made.headers.fields = (*made.headers.fields, (b"Content-Location", _ascii(location)), (b"Vary", _ACCEPT))
        flow.response = made
        return True

    async def _captures(self, url: str) -> list[Entry]:
        """Return what clients may see of a page's captures, newest first."""
        entries: list[Entry] = []
        for name in dict.fromkeys((url, key_of_url(url, self._policy))):
            if name and not entries:
                entries = await self._holdings.history(name, MOST_MEMENTOS)
        return [entry for entry in entries if self._serve_private or not entry.capture.private]

    def _chosen(self, entries: Sequence[Entry], wanted: int, exchange: Exchange) -> Entry:
        """Return the newest capture received by the time that suits the client, else the first there is."""
        found = mementos.at(entries, wanted + 999_999, _time_of)
        newest: dict[object, Stored] = {}
        for entry in found:
            newest.setdefault(entry.capture.vary, entry.stored)
        chosen = nearest(list(newest.values()), exchange.request.headers)
        assert chosen is not None
        return referred(chosen)

    async def _memento(self, url: str, entries: Sequence[Entry], chosen: Entry, exchange: Exchange) -> http.Response:
        """Return a capture as the client takes it, with what makes it a memento."""
        coding = answer.coding_for(chosen, exchange.request)
        body = await self._holdings.form(chosen, coding)
        if body is None:
            coding, body = "", await self._holdings.form(chosen, "") or b""
        made = answer.full(chosen, coding, body, exchange.request, time.time_ns() // 1000, _HIT)
        times = [entry.capture.time for entry in entries]
        made.headers.fields = (
            *(pair for pair in made.headers.fields if pair[0].lower() not in _OWN_FIELDS),
            (b"Memento-Datetime", dates.render(chosen.capture.time)),
            (b"Link", mementos.links(url, times, chosen.capture.time)),
        )
        self._metrics.tally.hits["store"] += 1
        return made

    async def _own(self, exchange: Exchange) -> http.Response:
        """Answer a request for what lies below `mementos.OWN`."""
        what, _, rest = exchange.request.url.removeprefix(mementos.OWN).partition("/")
        if exchange.request.method not in ("GET", "HEAD"):
            return _sentence(405, "Only GET and HEAD can be answered.", (b"Allow", b"GET, HEAD"))
        if exchange.mode not in MODES:
            return _sentence(404, "The archive is open in the modes replay and offline.")
        if what == "timegate":
            return await self._timegate(rest, exchange)
        part, _, url = rest.partition("/")
        if what == "timemap" and part == "link":
            entries = await self._captures(url)
            return _timemap(url, entries) if entries else _missing(url)
        if what == "memento" and (wanted := mementos.time_of(part)) is not None:
            return await self._at(url, part, wanted, exchange)
        return _sentence(404, "There are /timegate/URL, /timemap/link/URL and /memento/YYYYMMDDhhmmss/URL.")

    async def _timegate(self, url: str, exchange: Exchange) -> http.Response:
        field = exchange.request.special.get(_ACCEPT)
        wanted = time.time_ns() // 1000 if field is None else mementos.accepted(field)
        if wanted is None:
            return _sentence(400, "Accept-Datetime is no date, such as Sun, 06 Nov 1994 08:49:37 GMT.")
        entries = await self._captures(url)
        if not entries:
            return _missing(url)
        chosen = self._chosen(entries, wanted, exchange).capture.time
        return _redirect(url, [entry.capture.time for entry in entries], chosen, (b"Vary", _ACCEPT))

    async def _at(self, url: str, stamp: str, wanted: int, exchange: Exchange) -> http.Response:
        """Return the memento of a stamp, or the way to the one that stands for the page at that time."""
        entries = await self._captures(url)
        if not entries:
            return _missing(url)
        exact = next((entry for entry in entries if mementos.stamp(entry.capture.time) == stamp), None)
        if exact is None:
            chosen = self._chosen(entries, wanted, exchange).capture.time
            return _redirect(url, [entry.capture.time for entry in entries], chosen)
        made = await self._memento(url, entries, exact, exchange)
        # Pages of all sites have one origin here: none may run scripts in it.
        made.headers.fields = (*made.headers.fields, (b"Content-Security-Policy", b"sandbox"))
        return made


def _time_of(entry: Entry) -> int:
    return entry.capture.time


def _ascii(url: str) -> bytes:
    return quote(url, safe="%:/?#[]@!$&'()*+,;=-._~", errors="replace").encode("ascii")


def _timemap(url: str, entries: Sequence[Entry]) -> http.Response:
    body = mementos.timemap(url, [entry.capture.time for entry in entries])
    fields = ((b"Content-Type", mementos.LINK_FORMAT), (b"Content-Length", b"%d" % len(body)))
    return answer.response(200, b"OK", (*fields, (b"Cache-Control", b"no-store"), (b"Cache-Status", _HIT)), body)


def _redirect(url: str, times: Sequence[int], chosen: int, *more: tuple[bytes, bytes]) -> http.Response:
    fields = ((b"Location", _ascii(mementos.memento(url, chosen))), (b"Link", mementos.links(url, times)), *more)
    fields = (*fields, (b"Content-Length", b"0"), (b"Cache-Control", b"no-store"), (b"Cache-Status", _HIT))
    return answer.response(302, b"Found", fields, b"")


def _missing(url: str) -> http.Response:
    return _sentence(404, f"{url} is not kept." if url else "A URL is expected at the end.")


def _sentence(status: int, text: str, *more: tuple[bytes, bytes]) -> http.Response:
    made = control.sentence(status, b"", text)
    made.headers.fields = (*made.headers.fields, *more)
    return made
