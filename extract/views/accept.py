"""Which format of the content view a request prefers (RFC 9110, section 12.5.1)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

MEDIA_TYPES = {
    "html": "text/html",
    "markdown": "text/markdown",
    "text": "text/plain",
    "json": "application/json",
}
"""The formats of the content view and their media types, in our order of preference."""

MAX_RANGES = 64
"""Media ranges of one Accept field that are looked at; clients send fewer than ten."""

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_RANGE = re.compile(rf"\s*({_TOKEN})/({_TOKEN})\s*((?:;(?:[^\",;]|\"(?:[^\"\\]|\\.)*\")*)*)\s*(?:,|\Z)", re.DOTALL)
_WEIGHT = re.compile(r";\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*(?:;|\Z)", re.IGNORECASE)
_NEXT = re.compile(r"[^,\"]*(?:\"(?:[^\"\\]|\\.)*\"?[^,\"]*)*(?:,|\Z)", re.DOTALL)


class MediaRange(NamedTuple):
    """A media range of an Accept field in lower case, and its weight, 0.0 to 1.0."""

    type: str
    subtype: str
    weight: float

    def rank(self, media_type: str) -> int:
        """Return how exactly the range names a media type: 3 by name, 2 by its type, 1 as anything, 0 not at all."""
        kind, _, subtype = media_type.partition("/")
        if (self.type, self.subtype) == ("*", "*"):
            return 1
        if self.type != kind:
            return 0
        return 2 if self.subtype == "*" else 3 * (self.subtype == subtype)


def media_ranges(accept: str) -> list[MediaRange]:
    """Return the media ranges of an Accept field; what is no media range is passed over.

    >>> media_ranges("text/markdown, text/html;q=0.5, nonsense")
    [MediaRange(type='text', subtype='markdown', weight=1.0), MediaRange(type='text', subtype='html', weight=0.5)]
    """
    ranges: list[MediaRange] = []
    at = 0
    while at < len(accept) and len(ranges) < MAX_RANGES:
        match = _RANGE.match(accept, at)
        if match is None:
            passed = _NEXT.match(accept, at)
            at = max(at + 1, passed.end() if passed else at)
            continue
        kind, subtype, parameters = match.groups()
        weight = _WEIGHT.search(parameters)
        bad = weight is None and re.search(r";\s*q\s*=", parameters, re.IGNORECASE)
        ranges.append(MediaRange(kind.lower(), subtype.lower(), 0.0 if bad else float(weight[1]) if weight else 1.0))
        at = match.end()
    return ranges


def quality(accept: str, media_type: str) -> tuple[float, int]:
    """Return the weight that an Accept field gives a media type, and how exactly it names it (see MediaRange.rank).

    The most exact range counts, whatever its weight. An empty field accepts everything, naming nothing.
    """
    if not accept.strip():
        return 1.0, 1
    best = max(((found.rank(media_type), found.weight) for found in media_ranges(accept)), default=(0, 0.0))
    return (best[1], best[0]) if best[0] else (0.0, 0)


def preferred_format(accept: str, formats: Sequence[str] = tuple(MEDIA_TYPES), default: str = "html") -> str | None:
    """Return the format with the highest weight, None when none is acceptable.

    Of equal weights the one that is named more exactly wins, then the default, then the first.

    >>> preferred_format("text/markdown, text/html;q=0.8")
    'markdown'
    >>> preferred_format("*/*")
    'html'
    """
    ranked = [(*quality(accept, MEDIA_TYPES[name]), name == default, -index) for index, name in enumerate(formats)]
    best = max(ranked, default=None)
    return formats[-best[3]] if best is not None and best[0] > 0 else None


def asked_format(accept: str) -> str | None:
    """Return the format that a request asks for though the page is HTML: named exactly, and weighed above text/html.

    A browser's Accept names text/html first and asks for nothing; `Accept: text/markdown` does.

    >>> asked_format("text/html,application/xhtml+xml,*/*;q=0.8") is None
    True
    >>> asked_format("text/markdown, text/html;q=0.7, */*;q=0.1")
    'markdown'
    """
    html, exactness = quality(accept, MEDIA_TYPES["html"])
    others = {
        name: quality(accept, media_type) for name, media_type in MEDIA_TYPES.items() if name in ("markdown", "json")
    }
    named = [(weight, name) for name, (weight, exact) in others.items() if exact == 3 and weight > 0]
    best = max(named, default=None, key=lambda pair: pair[0])
    if best is None or best[0] < html or (best[0] == html and exactness == 3):
        return None
    return best[1]
