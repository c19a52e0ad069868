"""HTTP dates in their three formats (RFC 9110, section 5.6.7).

Instants are integer microseconds since the epoch. Names match in any case, and a zone other than GMT makes a date
invalid, as RFC 9111, section 4.2 asks of caches.
"""

import re
from datetime import date as Day  # noqa: N812 - a calendar day, beside `date` as the name of values here
from functools import lru_cache

SECOND = 1_000_000
_EPOCH = Day(1970, 1, 1).toordinal()
_LONGEST = 40

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = {name.lower().encode(): number for number, name in enumerate(_MONTHS, 1)}

_NAME = b"(?:mon|tue|wed|thu|fri|sat|sun)"
_LONG_NAME = b"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH_NAME = b"(?P<month>" + b"|".join(_MONTH) + b")"
_TIME = rb"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
_FORMATS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _NAME + rb", (?P<day>\d\d) " + _MONTH_NAME + rb" (?P<year>\d{4}) " + _TIME + b" GMT",
        _LONG_NAME + rb", (?P<day>\d\d)-" + _MONTH_NAME + rb"-(?P<year>\d\d) " + _TIME + b" GMT",
        _NAME + b" " + _MONTH_NAME + rb" (?P<day>\d\d| \d) " + _TIME + rb" (?P<year>\d{4})",
    )
)
"""IMF-fixdate, rfc850-date, asctime-date."""


def parse(text: bytes, now: int) -> int | None:
    """Return the instant a date names, None when it is none. `now` places a year of two digits.

    >>> parse(b"Sun, 06 Nov 1994 08:49:37 GMT", 0)
    784111777000000
    """
    if len(text) > _LONGEST:
        return None
    return _parse(text.strip(b" \t"), now // (366 * 86_400 * SECOND))


@lru_cache(maxsize=256)
def _parse(text: bytes, now_year: int) -> int | None:
    """Parse with `now_year`, a coarse clock (years of 366 days since 1970), so that results can be remembered."""
    for pattern in _FORMATS:
        if (match := pattern.fullmatch(text)) is not None:
            year = match["year"]
            return _instant(match, int(year) if len(year) == 4 else _century(int(year), 1970 + now_year))
    return None


def _century(two_digits: int, this_year: int) -> int:
    """Return the year that two digits mean: one more than 50 years ahead is in the past (section 5.6.7)."""
    year = this_year - this_year % 100 + two_digits
    return year - 100 if year > this_year + 50 else year


def _instant(match: re.Match[bytes], year: int) -> int | None:
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"])
    if hour > 23 or minute > 59 or second > 60:  # a leap second is 60
        return None
    try:
        day = Day(year, _MONTH[match["month"].lower()], int(match["day"])).toordinal() - _EPOCH
    except ValueError:
        return None
    return (day * 86_400 + hour * 3600 + minute * 60 + second) * SECOND


def render(instant: int) -> bytes:
    """Return an instant of the years 1 to 9999 as an IMF-fixdate; later and earlier ones as the nearest of those.

    >>> render(784111777000000)
    b'Sun, 06 Nov 1994 08:49:37 GMT'
    """
    days, rest = divmod(instant // SECOND, 86_400)
    day = Day.fromordinal(min(max(days + _EPOCH, 1), Day.max.toordinal()))
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{_DAYS[day.weekday()]}, {day.day:02} {_MONTHS[day.month - 1]} {day.year:04} {clock} GMT".encode()
