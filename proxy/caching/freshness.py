"""How long a response is fresh and how old it was when it came (RFC 9111, section 4.2)."""

from collections.abc import Sequence

from proxy.caching import dates
from proxy.caching.directives import LONGEST, NOTHING, Directives, parse, seconds
from proxy.caching.fields import Index, members
from proxy.caching.model import SECOND, Policy
from proxy.caching.structured import targeted

LONGEST_LIFETIME = LONGEST * SECOND

HEURISTIC_STATUSES = frozenset((200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501))
"""Heuristically cacheable (RFC 9110, section 15.1), without 206, which is not stored here."""


def control(fields: Index, policy: Policy) -> tuple[Directives, bool]:
    """Return the directives that count, and whether they are targeted ones, which put Expires aside.

    RFC 9213, section 2.2: the first field of the target list that is present, not empty and well formed is used
    in place of Cache-Control and Expires.
    """
    for name in policy.targeted_cache_control:
        lines = fields.get(name.lower().encode("latin-1", "replace"))
        if lines and (directives := targeted(lines)) is not None:
            return directives, True
    lines = fields.get(b"cache-control")
    return (parse(lines) if lines else NOTHING), False


def explicit(fields: Index, directives: Directives, time: int, *, is_targeted: bool) -> int | None:
    """Return the lifetime a response states, None when it states none (section 4.2.1).

    An Expires that is no date, such as 0, is in the past (section 5.3); of several the earliest counts.
    """
    stated = directives.s_maxage if directives.s_maxage is not None else directives.max_age
    if stated is not None:
        return stated * SECOND
    lines = fields.get(b"expires")
    if not lines or is_targeted:
        return None
    instants = [dates.parse(line, time) for line in lines]
    known = [instant for instant in instants if instant is not None]
    if len(known) < len(instants):
        return 0
    dated = [instant for line in fields.get(b"date", ()) if (instant := dates.parse(line, time)) is not None]
    return min(max(0, min(known) - max(dated, default=time)), LONGEST_LIFETIME)


def heuristic(status: int, fields: Index, directives: Directives, time: int, policy: Policy) -> int:
    """Return the lifetime for a response that states none (section 4.2.2).

    A share of the time since Last-Modified, for status codes that allow it or responses marked public. Without
    Last-Modified it is 0, and so it is for a `Pragma: no-cache` from an origin that knows no Cache-Control.
    """
    if status not in HEURISTIC_STATUSES and not directives.public:
        return 0
    if b"cache-control" not in fields and any(b"no-cache" in line.lower() for line in fields.get(b"pragma", ())):
        return 0
    modified = [dates.parse(line, time) for line in fields.get(b"last-modified", ())]
    if len(modified) != 1 or modified[0] is None:
        return 0
    since = min(date_of(fields, time), time) - modified[0]
    longest = min(policy.heuristic_max_seconds * SECOND, LONGEST_LIFETIME)
    return min(max(0, int(since * policy.heuristic_fraction)), longest)


def date_of(fields: Index, time: int) -> int:
    """Return the instant a response was made: its Date, the earliest of several, or when it came (section 4.2.3)."""
    instants = [instant for line in fields.get(b"date", ()) if (instant := dates.parse(line, time)) is not None]
    return min(instants, default=time)


def initial_age(fields: Index, request_time: int, time: int) -> int:
    """Return the corrected initial age (section 4.2.3), at least 0.

    `request_time` 0 means unknown, as after an import; the response's way is then taken to have cost nothing.
    """
    apparent = max(0, time - date_of(fields, time))
    delay = max(0, time - request_time) if request_time > 0 else 0
    return max(apparent, age_value(fields.get(b"age", ())) * SECOND + delay)


def age_value(lines: Sequence[bytes]) -> int:
    """Return the seconds that Age says, LONGEST when it may be any number (section 5.1).

    Of a list the first member counts, as the section says, unless the list only repeats one number: that is a
    field joined with itself, not one member from each cache. Of several lines the greatest counts. The section
    would ignore what is no number; here it is too old, since somebody had an age to tell.
    """
    return max(map(_line_value, lines), default=0)


def _line_value(line: bytes) -> int:
    listed = members((line,))
    if not listed or (len(listed) > 1 and len(set(listed)) == 1):
        return LONGEST
    said = seconds(listed[0].partition(b";")[0])
    return LONGEST if said is None else said
