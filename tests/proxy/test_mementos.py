"""Which capture stands for a page at a time, and the links to the others."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy import mementos

SECOND = 1_000_000
TIMES = [1_700_000_000 * SECOND, 1_600_000_000 * SECOND, 1_500_000_000 * SECOND]
URL = "http://a.test/x?y=1"


@pytest.mark.parametrize(
    ("field", "time"),
    [
        (b"Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777 * SECOND),
        (b"Sunday, 06-Nov-94 08:49:37 GMT", None),
        (b"1994-11-06T08:49:37Z", None),
        (b"Sun, 06 Nov 1994 08:49:37 CET", None),
        (b"Sun, 31 Nov 1994 08:49:37 GMT", None),
        (b"", None),
    ],
)
def test_only_rfc_1123_dates_are_accepted(field: bytes, time: int | None) -> None:
    assert mementos.accepted(field) == time


@pytest.mark.parametrize(
    ("time", "expected"),
    [(TIMES[0] + 5, TIMES), (TIMES[1], TIMES[1:]), (TIMES[1] - 1, TIMES[2:]), (0, TIMES[2:])],
)
def test_a_page_at_a_time_is_the_newest_capture_by_then_else_the_first(time: int, expected: list[int]) -> None:
    assert mementos.at(TIMES, time, lambda found: found) == expected


@given(st.integers(-(10**20), 10**20))
def test_a_stamp_means_its_time(time: int) -> None:
    first, last = mementos.time_of("00010101000000"), mementos.time_of("99991231235959999999")
    assert first is not None
    assert last is not None
    assert mementos.time_of(mementos.stamp(time)) == min(max(time, first), last)


@settings(max_examples=50)
@given(st.text())
def test_any_text_is_a_stamp_or_none(text: str) -> None:
    mementos.time_of(text)


def test_a_timemap_lists_all_captures_and_where_it_is() -> None:
    lines = mementos.timemap(URL, TIMES).decode().splitlines()
    assert lines[0] == f'<{URL}>;rel="original",'
    assert lines[1] == f'<http://pagemason.alt/timegate/{URL}>;rel="timegate",'
    assert lines[2] == (
        f'<http://pagemason.alt/timemap/link/{URL}>;rel="self";type="application/link-format"'
        ';from="Fri, 14 Jul 2017 02:40:00 GMT";until="Tue, 14 Nov 2023 22:13:20 GMT",'
    )
    assert [line.split(";")[1] for line in lines[3:]] == ['rel="first memento"', 'rel="memento"', 'rel="last memento"']
    assert lines[3] == (
        f'<http://pagemason.alt/memento/20170714024000/{URL}>;rel="first memento"'
        ';datetime="Fri, 14 Jul 2017 02:40:00 GMT",'
    )
    assert not lines[-1].endswith(",")


def test_the_links_of_a_memento_lead_to_its_neighbours() -> None:
    relations = re.findall(r'rel="([^"]+)"', mementos.links(URL, TIMES, TIMES[1]).decode())
    assert relations == ["original", "timegate", "timemap", "first prev memento", "memento", "last next memento"]
    alone = re.findall(r'rel="([^"]+)"', mementos.links(URL, TIMES[:1], TIMES[0]).decode())
    assert alone == ["original", "timegate", "timemap", "first last memento"]


@settings(max_examples=50)
@given(st.text(), st.lists(st.integers(0, 4 * 10**15), min_size=1, max_size=5))
def test_no_url_breaks_out_of_its_link(url: str, times: list[int]) -> None:
    link = mementos.links(url, times, times[0])
    assert link.count(b"<") == link.count(b">") == link.count(b";rel=")
    assert not re.search(rb"[\r\n\0]", link)
