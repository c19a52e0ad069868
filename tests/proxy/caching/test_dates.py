"""RFC 9110, section 5.6.7: HTTP dates."""

import pytest

from proxy.caching.dates import SECOND, parse, render
from tests.proxy.caching.build import T

NOVEMBER_6 = 784_111_777 * SECOND


@pytest.mark.parametrize(
    "text",
    [
        b"Sun, 06 Nov 1994 08:49:37 GMT",
        b"Sunday, 06-Nov-94 08:49:37 GMT",
        b"Sun Nov  6 08:49:37 1994",
        b"SUN, 06 NOV 1994 08:49:37 gmt",
        b" Sun, 06 Nov 1994 08:49:37 GMT\t",
    ],
)
def test_one_instant_in_every_format_and_case(text: bytes) -> None:
    assert parse(text, T) == NOVEMBER_6


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"0",
        b"-1",
        b"foo",
        b"Sun, 06 Nov 1994 08:49:37 UTC",
        b"Sun, 06 Nov 1994 08:49:37 AEST",
        b"Sun, 06 Nov 1994 08:49:37 +0000",
        b"Sun, 06 Nov 1994 08:49:37",
        b"Sun, 06 Nov 94 08:49:37 GMT",
        b"Sun 06 Nov 1994 08:49:37 GMT",
        b"Sun, 06  Nov  1994 08:49:37 GMT",
        b"Sun, 06-Nov-1994 08:49:37 GMT",
        b"Sun, 06 Nov 1994 08.49.37 GMT",
        b"Sun, 06 Nov 1994 8:49:37 GMT",
        b"Sun, 31 Feb 1994 08:49:37 GMT",
        b"Sun, 06 Nov 1994 24:00:00 GMT",
        b"Sun, 06 Nov 1994 08:60:37 GMT",
        b"Sun, 06 Nov 0000 08:49:37 GMT",
        b"1994-11-06T08:49:37Z",
        b"784111777",
        b"S" * 65_536,
    ],
)
def test_anything_else_is_no_date(text: bytes) -> None:
    assert parse(text, T) is None


@pytest.mark.parametrize(("year", "expected"), [(b"50", b"2050"), (b"70", b"2070"), (b"80", b"1980"), (b"99", b"1999")])
def test_a_year_of_two_digits_is_at_most_50_years_ahead(year: bytes, expected: bytes) -> None:
    two = parse(b"Monday, 18-Aug-" + year + b" 02:01:18 GMT", T)
    assert two == parse(b"Mon, 18 Aug " + expected + b" 02:01:18 GMT", T)


@pytest.mark.parametrize("instant", [0, NOVEMBER_6, T, -1, 2**62, -(2**62)])
def test_a_rendered_date_is_read_back(instant: int) -> None:
    seconds = parse(render(instant), T)
    assert seconds is not None
    if abs(instant) < 2**61:
        assert seconds == instant // SECOND * SECOND
