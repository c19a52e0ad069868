"""Times as archives write them, and microseconds since the epoch."""

import re
from datetime import UTC, datetime, timedelta, timezone

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_ISO = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?[ ]?(Z|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_DIGITS = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(?:(\d\d))?)?", re.ASCII)


def parse_date(text: str) -> int | None:
    """Return the microseconds since the epoch that a date means, None when it is no date.

    W3C-DTF as WARC/1.1 (section 5.4) uses it, from `2024` to `2024-05-06T07:08:09.123456789Z`; an offset instead of
    `Z`, and none at all, which means UTC; also the `20240506070809` of older archives. What is not written is the
    earliest moment it leaves open; digits beyond a microsecond are dropped.

    >>> parse_date("1970-01-01T00:00:01.5Z")
    1500000
    """
    text = text.strip()
    found = _ISO.fullmatch(text)
    if found is None:
        if (found := _DIGITS.fullmatch(text)) is None:
            return None
        fraction, zone = "", ""
    else:
        fraction, zone = found[7] or "", found[8] or ""
    year, month, day, hour, minute, second = (
        int(part) if part else least for part, least in zip(found.groups()[:6], (1, 1, 1, 0, 0, 0), strict=True)
    )
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=_zone(zone))
    except ValueError:
        return None
    if second > 60:
        return None
    seconds = (moment - EPOCH) // timedelta(seconds=1) + (second == 60)
    return seconds * 1_000_000 + int(fraction[:6].ljust(6, "0"))


def _zone(zone: str) -> timezone:
    """Return the time zone of `Z`, `+hh:mm` or nothing. ValueError when there is none so far from Greenwich."""
    if zone.upper() in ("", "Z"):
        return UTC
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if zone[0] == "-" else offset)


def format_date(time: int) -> str:
    """Return the WARC-Date of microseconds since the epoch: a fraction only when there is one.

    Times outside the years 1 to 9999 are written as the nearest moment inside.
    """
    try:
        moment = EPOCH + timedelta(microseconds=time)
    except OverflowError:
        moment = datetime.max.replace(tzinfo=UTC) if time > 0 else datetime.min.replace(tzinfo=UTC)
    return moment.replace(tzinfo=None).isoformat() + "Z"
