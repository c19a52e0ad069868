"""RFC 9111, section 4.2: lifetime and age."""

import pytest

from proxy.caching import Policy
from proxy.caching.dates import SECOND
from tests.proxy.caching.build import after, date, keep

DAY = 86_400


def lifetime(*lines: str, status: int = 200, policy: Policy | None = None, dated: int | None = 0) -> float:
    """Return the lifetime in seconds of a response with these header lines."""
    return keep(*lines, status=status, policy=policy, date=dated).lifetime / SECOND


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["Cache-Control: max-age=60"], 60),
        (["cAcHe-CoNtRoL: max-age=60"], 60),
        (["Cache-Control: max-age=60", "Expires: 0"], 60),
        (["Cache-Control: max-age=0", f"Expires: {date(60)}"], 0),
        (["Cache-Control: max-age=1, s-maxage=60"], 60),
        (["Cache-Control: max-age=60", "Cache-Control: s-maxage=1"], 1),
        (["Cache-Control: max-age=60, s-maxage=x"], 0),
        ([f"Expires: {date(60)}"], 60),
        ([f"Expires: {date(-60)}"], 0),
        ([f"Expires: {date(0)}"], 0),
        (["Expires: 0"], 0),
        (["Expires: Thu, 18 Aug 2050 02:01:18 UTC"], 0),
        ([f"Expires: {date(60)}", f"Expires: {date(30)}"], 30),
        ([f"Expires: {date(60)}", "Expires: never"], 0),
        ([], 0),
    ],
)
def test_the_stated_lifetime_of_4_2_1(lines: list[str], expected: int) -> None:
    assert lifetime(*lines) == expected


def test_expires_is_counted_from_the_date() -> None:
    assert lifetime(f"Expires: {date(300)}", dated=400) == 0
    assert lifetime(f"Expires: {date(20)}", dated=10) == 10
    assert lifetime(f"Expires: {date(10)}", "Date: foo", dated=None) == 10


def test_of_contradictory_dates_each_use_takes_the_safe_one() -> None:
    stored = keep(f"Expires: {date(60)}", f"Date: {date(-30)}", date=20)
    assert (stored.lifetime, stored.age(after(0))) == (40 * SECOND, 30 * SECOND)


@pytest.mark.parametrize(
    ("status", "lines", "expected"),
    [
        (200, [], DAY / 10),
        (404, [], DAY / 10),
        (201, [], 0),
        (403, [], 0),
        (503, [], 0),
        (599, [], 0),
        (599, ["Cache-Control: public"], DAY / 10),
        (200, ["Pragma: no-cache"], 0),
        (200, ["Pragma: no-cache", "Cache-Control: public"], DAY / 10),
        (200, [f"Last-Modified: {date(-2 * DAY)}"], 0),
    ],
)
def test_a_heuristic_lifetime_is_a_tenth_of_the_time_since_last_modified(
    status: int, lines: list[str], expected: float
) -> None:
    assert lifetime(f"Last-Modified: {date(-DAY)}", *lines, status=status) == expected


def test_without_a_usable_last_modified_there_is_no_heuristic_lifetime() -> None:
    assert lifetime('ETag: "a"') == 0
    assert lifetime("Last-Modified: yesterday") == 0
    assert lifetime(f"Last-Modified: {date(60)}") == 0


def test_the_heuristic_lifetime_is_capped() -> None:
    assert lifetime(f"Last-Modified: {date(-1000 * DAY)}") == DAY
    assert lifetime(f"Last-Modified: {date(-1000 * DAY)}", policy=Policy(heuristic_max_seconds=60)) == 60
    assert lifetime(f"Last-Modified: {date(-1000 * DAY)}", policy=Policy(heuristic_fraction=0)) == 0


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], 0),
        (["Age: 30"], 30),
        (["Age: 030"], 30),
        (["Age: 30, 90"], 30),
        (["Age: 0,7200"], 0),
        (["Age: 30;x=y"], 30),
        (["Age: 0", "Age: 90"], 90),
        (["Age: 90", "Age: 0"], 90),
        (["Age: 2147483648"], 2**31),
        (["Age: 99999999999"], 2**31),
        (["Age: -30"], 2**31),
        (["Age: 30.0"], 2**31),
        (["Age: abc"], 2**31),
        (["Age:"], 2**31),
        (["Age: 0, 0"], 2**31),
        ([f"Age: {'9' * 65_000}"], 2**31),
    ],
)
def test_the_age_that_a_response_says(lines: list[str], expected: int) -> None:
    assert keep(*lines).age_seconds(after(0)) == expected


def test_an_overflowing_age_is_never_fresh() -> None:
    stored = keep("Age: 2147483648", "Cache-Control: max-age=99999999999")
    assert stored.fresh_until == 0


def test_the_corrected_initial_age_of_4_2_3() -> None:
    assert keep(date=-30).age_seconds(after(0)) == 30
    assert keep("Age: 20", date=-30).age_seconds(after(0)) == 30
    assert keep("Age: 40", date=-30).age_seconds(after(0)) == 40
    assert keep("Age: 40", date=-30, took=5).age_seconds(after(0)) == 45
    assert keep("Age: 40", date=30).age_seconds(after(0)) == 40


def test_age_grows_with_the_clock_and_does_not_shrink_with_it() -> None:
    stored = keep("Age: 40")
    assert stored.age_seconds(after(2.9)) == 42
    assert stored.age_seconds(after(-100)) == 40


TARGETED = Policy(targeted_cache_control=("CDN-Cache-Control",))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["CDN-Cache-Control: max-age=60"], 60),
        (["CDN-Cache-Control: max-age=60", "Cache-Control: max-age=1"], 60),
        (["CDN-Cache-Control: max-age=1", "Cache-Control: max-age=60"], 1),
        (["CDN-Cache-Control: max-age=0", f"Expires: {date(60)}"], 0),
        (["CDN-Cache-Control: foo", f"Expires: {date(60)}"], 0),
        (["CDN-Cache-Control: max-age=60, &&&", "Cache-Control: max-age=1"], 1),
        (['CDN-Cache-Control: max-age="60"', "Cache-Control: max-age=1"], 1),
        (["CDN-Cache-Control:", "Cache-Control: max-age=1"], 1),
        (["Cache-Control: max-age=1"], 1),
    ],
)
def test_a_targeted_field_takes_the_place_of_cache_control_and_expires(lines: list[str], expected: int) -> None:
    assert lifetime(*lines, policy=TARGETED) == expected


def test_targeted_fields_are_heeded_only_where_the_settings_name_them() -> None:
    assert lifetime("CDN-Cache-Control: max-age=60", "Cache-Control: max-age=1") == 1
