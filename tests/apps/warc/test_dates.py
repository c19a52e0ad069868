"""Dates of archives, in all the precisions and spellings they come in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.warc.dates import format_date, parse_date

MAY = 1_714_979_289_000_000


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2024-05-06T07:08:09Z", MAY),
        ("2024-05-06T07:08:09.5Z", MAY + 500_000),
        ("2024-05-06T07:08:09.123456789Z", MAY + 123_456),
        ("2024-05-06T09:08:09+02:00", MAY),
        ("2024-05-06 07:08:09", MAY),
        ("20240506070809", MAY),
        ("2024-05-06T07:08Z", MAY - 9_000_000),
        ("1970", 0),
        ("1970-02", 31 * 86_400_000_000),
        ("1969-12-31T23:59:59Z", -1_000_000),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
        ("yesterday", None),
        ("", None),
        ("2024-13-01T00:00:00Z", None),
        ("0000-01-01T00:00:00Z", None),
        ("2024-05-06T07:08:61Z", None),
        ("2024-05-06T07:08:09+99:99", None),
        ("٢٠٢٤-05-06T07:08:09Z", None),
    ],
)
def test_a_date_means_a_time_or_is_none(text: str, time: int | None) -> None:
    assert parse_date(text) == time


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_what_is_written_is_read_back(time: int) -> None:
    assert parse_date(format_date(time)) == time


@given(st.text())
def test_any_text_is_a_date_or_none(text: str) -> None:
    assert isinstance(parse_date(text), int | None)


@given(st.integers())
def test_any_number_is_written_as_a_date(time: int) -> None:
    assert parse_date(format_date(time)) is not None
