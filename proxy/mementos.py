"""Memento (RFC 7089): which capture stands for a page at a time, and the links that lead to the others. Pure.

A URL asked for through the proxy is its own TimeGate: with Accept-Datetime it is answered 200, with Content-Location
naming the memento (section 4.1.2). TimeGates that redirect (section 4.1.1), TimeMaps and mementos have URLs below
http://pagemason.alt/, a name that no DNS will ever have (RFC 9476) and that clients send to their proxy.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from urllib.parse import quote

from proxy.caching import dates

OWN = "http://pagemason.alt/"
LINK_FORMAT = b"application/link-format"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = (
    (moment.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1) for moment in (datetime.min, datetime.max)
)
_STAMP = re.compile(r"(\d{14})(\d{6})?", re.ASCII)
_RFC1123 = re.compile(rb"[ \t]*[a-z]{3}, \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d gmt[ \t]*", re.IGNORECASE)
_URL_CHARACTERS = "%:/?#[]@!$&'()*+,;=-._~"

T = TypeVar("T")


def accepted(field: bytes) -> int | None:
    """Return the time of an Accept-Datetime field in microseconds, None when it is no RFC 1123 date (section 2.1.1.1).

    >>> accepted(b"Thu, 01 Jan 1970 00:00:02 GMT")
    2000000
    """
    return dates.parse(field, 0) if _RFC1123.fullmatch(field) else None


def stamp(time: int) -> str:
    """Return a time as it stands in the URL of a memento: to the second when it is a whole one.

    >>> stamp(0), stamp(5)
    ('19700101000000', '19700101000000000005')
    """
    time = min(max(time, _FIRST), _LAST)
    moment = (_EPOCH + timedelta(microseconds=time)).strftime("%Y%m%d%H%M%S").rjust(14, "0")
    return moment if time % 1_000_000 == 0 else f"{moment}{time % 1_000_000:06}"


def time_of(stamp: str) -> int | None:
    """Return the time that a stamp means, None when it means none."""
    found = _STAMP.fullmatch(stamp)
    if found is None:
        return None
    try:
        moment = datetime.strptime(found[1], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return (moment - _EPOCH) // timedelta(microseconds=1) + int(found[2] or 0)


def at(captures: Sequence[T], time: int, time_of: Callable[[T], int]) -> list[T]:
    """Return the captures that may stand for a page at a time: those received by then, else the first. `captures` are
    newest first, and so is what is returned."""
    return [capture for capture in captures if time_of(capture) <= time] or list(captures[-1:])


def memento(url: str, time: int) -> str:
    """Return the URL of a memento."""
    return f"{OWN}memento/{stamp(time)}/{url}"


def timemap(url: str, times: Sequence[int]) -> bytes:
    """Return the TimeMap of a page as link-format (section 5); `times` are those of its captures, newest first."""
    first, last = (_quoted(dates.render(time)) for time in (times[-1], times[0]))
    about = f"{_link(_timemap(url), 'self')};type={_quoted(LINK_FORMAT)};from={first};until={last}"
    lines = [_link(url, "original"), _link(f"{OWN}timegate/{url}", "timegate"), about]
    ends = {times[0]: "last ", times[-1]: "first "} if times[0] != times[-1] else {times[0]: "first last "}
    for time in sorted(set(times)):
        lines.append(_memento(url, time, f"{ends.get(time, '')}memento"))
    return ",\n".join(lines).encode("ascii") + b"\n"


def links(url: str, times: Sequence[int], chosen: int | None = None) -> bytes:
    """Return the Link field of a memento (the one of `chosen`), or of a TimeGate: the page, its TimeGate and TimeMap,
    and the first, last, previous and next memento (section 2.2)."""
    parts = [_link(url, "original"), _link(f"{OWN}timegate/{url}", "timegate")]
    parts.append(f"{_link(_timemap(url), 'timemap')};type={_quoted(LINK_FORMAT)}")
    parts += [_memento(url, time, f"{words} memento") for words, time in _around(sorted(set(times)), chosen)]
    return ", ".join(parts).encode("ascii")


def _around(times: list[int], chosen: int | None) -> Iterator[tuple[str, int]]:
    """Yield the mementos to be linked, with what each is: one that is several things once."""
    named: dict[int, list[str]] = {times[0]: ["first"]}
    named.setdefault(times[-1], []).append("last")
    if chosen in times:
        place = times.index(chosen)
        if place:
            named.setdefault(times[place - 1], []).append("prev")
        if place + 1 < len(times):
            named.setdefault(times[place + 1], []).append("next")
        named.setdefault(chosen, [])
    for time, words in sorted(named.items()):
        yield " ".join(words), time


def _memento(url: str, time: int, relation: str) -> str:
    return f"{_link(memento(url, time), relation.strip())};datetime={_quoted(dates.render(time))}"


def _timemap(url: str) -> str:
    return f"{OWN}timemap/link/{url}"


def _link(url: str, relation: str) -> str:
    """Return a link value (RFC 8288, section 3); what would end the reference is percent-encoded."""
    return f'<{quote(url, safe=_URL_CHARACTERS, errors="replace")}>;rel="{relation}"'


def _quoted(value: bytes) -> str:
    return f'"{value.decode("ascii")}"'
