"""Which stored variant answers a request (RFC 9111, section 4.1)."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from blocks.model import Headers
from proxy.caching.fields import OWS, Index, members, tokens, values
from proxy.caching.model import Stored

SECRET = frozenset((b"authorization", b"cookie", b"proxy-authorization"))
"""Request fields whose values are never written down."""

MAX_NAMES = 64
"""A Vary that names more fields counts as `*`: no two requests agree on so many, and each costs work at every hit."""

_REMEMBERED_BYTES = 512
"""Longer values are taken apart each time: what clients send must not fill the memory."""

_QVALUE = re.compile(rb"\s*[qQ]\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*")


def names(fields: Index) -> tuple[bytes, ...] | None:
    """Return the request fields a response varies on, in lower case, each once; None for `*`, or too many to heed."""
    lines = fields.get(b"vary")
    if not lines:
        return ()
    named = tuple(dict.fromkeys(tokens(lines)))
    return None if b"*" in named or len(named) > MAX_NAMES else named


def selecting_fields(request: Headers, response: Headers) -> Headers:
    """Return the request's fields that the response's Vary names, as sent, for `Capture.vary`; never a secret one."""
    wanted = frozenset(names({b"vary": values(response, b"vary")}) or ()) - SECRET
    return tuple(pair for pair in request if pair[0].lower() in wanted) if wanted else ()


def selecting(fields: Index, coding: str) -> tuple[bytes, ...] | None:
    """Return the request fields that select a response as it is kept, with `coding` removed; None for `*`.

    Accept-Encoding does not select a body that has no coding any more, or never had one: it is coded again for each
    client.
    """
    named = names(fields)
    if named and (coding or b"content-encoding" not in fields):
        return tuple(name for name in named if name != b"accept-encoding")
    return named


def matches(stored: Stored, request: Headers, *, match_language: bool = False) -> bool:
    """Tell whether a stored response was selected by the same request fields.

    Two values are the same when they differ in white space, in how they are split over lines, or, for fields whose
    members have no order, in their order.
    """
    return all(_same(stored, name, request, match_language=match_language) for name in stored.selecting)


def _same(stored: Stored, name: bytes, request: Headers, *, match_language: bool) -> bool:
    asked, kept = values(request, name), values(stored.vary, name)
    if bool(asked) != bool(kept):
        return False
    if asked == kept or normal(name, b",".join(asked)) == normal(name, b",".join(kept)):
        return True
    return match_language and name == b"accept-language" and _first_choice(stored, b",".join(asked))


def normal(name: bytes, value: bytes) -> object:
    """Return a form of a field's value that is equal for values known to mean the same."""
    return _normal(name, value) if len(value) <= _REMEMBERED_BYTES else _normal.__wrapped__(name, value)


@lru_cache(maxsize=256)
def _normal(name: bytes, value: bytes) -> object:
    if name in (b"accept-language", b"accept-encoding", b"accept-charset"):
        return frozenset(preferences(value).items())
    return tuple(members((value,)))


def preferences(value: bytes) -> dict[bytes, int]:
    """Return the members of an Accept-like field in lower case with their weights, in thousandths (RFC 9110, 12.4.2).

    A malformed weight counts as 0: the client said something about the member, and it was not a plain yes.
    """
    found: dict[bytes, int] = {}
    for member in members((value,)):
        item, *parameters = member.split(b";")
        weight = 1000
        for parameter in parameters:
            if parameter.strip(OWS)[:1] in (b"q", b"Q"):
                match = _QVALUE.fullmatch(parameter)
                weight = round(float(match[1]) * 1000) if match else 0
        found.setdefault(item.strip(OWS).lower(), weight)
    return found


def _first_choice(stored: Stored, accepted: bytes) -> bool:
    """Tell whether the stored response is in the one language that the client likes best (RFC 9110, section 12.5.4).

    Whatever else the origin has, it could give nothing the client would like better.
    """
    languages = tokens(values(stored.headers, b"content-language"))
    liked = preferences(accepted)
    best = max(liked.values(), default=0)
    return best > 0 and len(languages) == 1 and [tag for tag, weight in liked.items() if weight == best] == languages


def newest(candidates: Iterable[Stored]) -> Stored | None:
    """Return the most recent response, by its Date and then by when it came (section 4)."""
    return max(candidates, key=lambda stored: (stored.date, stored.time), default=None)


def nearest(candidates: Sequence[Stored], request: Headers) -> Stored | None:
    """Return the stored response to replay: one that matches, else the one that disagrees on the fewest fields.

    For modes that answer from the store whatever the rules say: Vary chooses, but never leaves nothing.
    """
    if not candidates:
        return None

    def disagreements(stored: Stored) -> int:
        return sum(not _same(stored, name, request, match_language=True) for name in stored.selecting)

    fewest = min(map(disagreements, candidates))
    return newest(stored for stored in candidates if disagreements(stored) == fewest)
