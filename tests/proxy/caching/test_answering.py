"""RFC 9111, sections 4 and 4.3.2; RFC 9110, sections 13 and 14: what a client gets from a stored response."""

import pytest

from proxy.caching import answer
from tests.proxy.caching.build import after, date, get, headers, keep

BODY = b"0123456789A"
FRESH = "Cache-Control: max-age=60"
RECEIVED = f"Date: {date(0)}"
"""The Date of a response that came without one (RFC 9110, section 6.6.1)."""


def test_a_hit_repeats_the_fields_that_are_for_everyone_and_adds_the_age() -> None:
    stored = keep(
        FRESH,
        "Age: 30",
        "Set-Cookie: a=b",
        "Connection: x-hop, cache-control",
        "X-Hop: 1",
        "Keep-Alive: 5",
        "Transfer-Encoding: chunked",
        "Content-Length: 99",
        "A: 1",
        "a: 2",
        date=None,
    )
    found = answer(stored, get(), len(BODY), after(3))
    assert found == (200, headers(FRESH, "A: 1", "a: 2", RECEIVED, "Age: 33"), 0, 11)


def test_fields_that_a_qualified_no_cache_names_are_withheld() -> None:
    stored = keep('Cache-Control: max-age=60, no-cache="A, set-cookie"', "A: 1", "B: 2", date=None)
    assert answer(stored, get(), 0, after(0)).headers[1:] == headers("B: 2", RECEIVED, "Age: 0")


@pytest.mark.parametrize(
    ("etag", "asked", "expected"),
    [
        ('"a"', '"a"', 304),
        ('"a"', 'W/"a"', 304),
        ('W/"a"', '"a"', 304),
        ('W/"a"', 'W/"a"', 304),
        ('"a"', '"1", "a", "2"', 304),
        ('"a,b"', '"1","a,b"', 304),
        ('"a\\"', '"a\\", "b"', 304),
        ('"a\xfc"', '"a\xfc"', 304),
        ('"a"', "*", 304),
        ("abc", "abc", 304),
        ('"a"', '"b"', 200),
        ('"a"', '"A"', 200),
        ('"a"', '""', 200),
        ('"a"', "", 200),
        ("", '""', 200),
    ],
)
def test_if_none_match_is_compared_weakly(etag: str, asked: str, expected: int) -> None:
    stored = keep(FRESH, *([f"ETag: {etag}"] if etag else []))
    assert answer(stored, get(f"If-None-Match: {asked}"), 11, after(0)).status == expected


@pytest.mark.parametrize(
    ("lines", "since", "expected"),
    [
        ([f"Last-Modified: {date(-300)}"], date(-300), 304),
        ([f"Last-Modified: {date(-300)}"], date(-200), 304),
        ([f"Last-Modified: {date(-300)}"], date(-301), 200),
        ([f"Last-Modified: {date(-300)}"], "Tuesday, 14-Nov-23 22:13:20 GMT", 304),
        ([f"Last-Modified: {date(-300)}"], "yesterday", 200),
        ([], date(0), 304),
        ([], date(-1), 200),
    ],
)
def test_if_modified_since_is_compared_with_last_modified_or_date(lines: list[str], since: str, expected: int) -> None:
    stored = keep(FRESH, *lines)
    assert answer(stored, get(f"If-Modified-Since: {since}"), 11, after(0)).status == expected


def test_if_none_match_comes_before_if_modified_since() -> None:
    stored = keep(FRESH, 'ETag: "a"', f"Last-Modified: {date(-300)}")
    since = f"If-Modified-Since: {date(-1)}"
    assert answer(stored, get('If-None-Match: "b"', since), 11, after(0)).status == 200
    assert answer(stored, get('If-None-Match: "a"', f"If-Modified-Since: {date(-900)}"), 11, after(0)).status == 304


def test_a_304_has_the_fields_of_the_200_but_those_of_the_body() -> None:
    stored = keep(FRESH, 'ETag: "a"', "Vary: Foo", "Content-Type: text/html", "Content-Location: /x", date=None)
    found = answer(stored, get('If-None-Match: "a"'), 11, after(2))
    assert found == (304, headers(FRESH, 'ETag: "a"', "Vary: Foo", "Content-Location: /x", RECEIVED, "Age: 2"), 0, 0)


def test_conditions_and_ranges_are_for_a_stored_200() -> None:
    stored = keep(FRESH, 'ETag: "a"', status=404)
    assert answer(stored, get('If-None-Match: "a"', "Range: bytes=0-1"), 11, after(0)).status == 404


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("bytes=0-1", b"01"),
        ("bytes=1-", b"123456789A"),
        ("bytes=-1", b"A"),
        ("bytes=-99", BODY),
        ("bytes=9-99", b"9A"),
        ("Bytes = 2-2", b"2"),
        ("bytes=0-1,2-3", b"0123"),
        ("bytes=4-6, 5-8, 99-", b"45678"),
    ],
)
def test_a_range_is_cut_from_the_stored_body(value: str, expected: bytes) -> None:
    status, fields, start, stop = answer(keep(FRESH), get(f"Range: {value}"), len(BODY), after(0))
    assert (status, BODY[start:stop]) == (206, expected)
    assert (b"Content-Range", b"bytes %d-%d/11" % (start, stop - 1)) in fields


@pytest.mark.parametrize(
    "value",
    [
        *("bytes=0-1,4-5", "bytes=2-1", "bytes=", "bytes=-", "bytes=a-b", "lines=0-1", "0-1", "bytes=0-1,x"),
        *("bytes=" + ",".join(["0-1"] * 100), "bytes=" + "9" * 60_000 + "-"),
    ],
)
def test_other_ranges_get_the_whole_body(value: str) -> None:
    assert answer(keep(FRESH), get(f"Range: {value}"), 11, after(0))[::2] == (200, 0)


@pytest.mark.parametrize(
    ("value", "size"), [("bytes=11-", 11), ("bytes=99-100", 11), ("bytes=-0", 11), ("bytes=0-", 0)]
)
def test_a_range_outside_the_body_is_not_satisfiable(value: str, size: int) -> None:
    found = answer(keep(FRESH), get(f"Range: {value}"), size, after(0))
    assert (found.status, found.start, found.stop) == (416, 0, 0)
    assert (b"Content-Range", b"bytes */%d" % size) in found.headers


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('"a"', 206),
        ('W/"a"', 200),
        ('"b"', 200),
        (date(-300), 206),
        (date(-299), 200),
        ("yesterday", 200),
        ("", 200),
    ],
)
def test_if_range_needs_a_strong_validator(condition: str, expected: int) -> None:
    stored = keep(FRESH, 'ETag: "a"', f"Last-Modified: {date(-300)}")
    asked = get("Range: bytes=0-1", f"If-Range: {condition}")
    assert answer(stored, asked, 11, after(0)).status == expected
    coded = keep(FRESH, 'ETag: "a"', f"Last-Modified: {date(-300)}", coding="gzip")
    assert answer(coded, asked, 11, after(0)).status == 200


def test_a_last_modified_of_the_same_second_as_the_date_is_not_strong() -> None:
    stored = keep(FRESH, f"Last-Modified: {date(0)}")
    assert answer(stored, get("Range: bytes=0-1", f"If-Range: {date(0)}"), 11, after(0)).status == 200


def test_a_head_has_no_range() -> None:
    assert answer(keep(FRESH), get("Range: bytes=0-1", method="HEAD"), 11, after(0)).status == 200
