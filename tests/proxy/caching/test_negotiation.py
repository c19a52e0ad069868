"""RFC 9110, section 12.5.3: which coding a client gets of a body whose coding was removed."""

import pytest

from proxy.caching import answer, coding_for
from tests.proxy.caching.build import after, date, get, headers, keep

CODED = ("Cache-Control: max-age=60", "Content-Encoding: gzip", 'ETag: "a"', "Content-MD5: x")
AVAILABLE = ("br", "zstd", "gzip")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gzip", "gzip"),
        ("gzip, br", "br"),
        ("gzip;q=1, br;q=0.5", "gzip"),
        ("GZIP", "gzip"),
        ("x-gzip", "gzip"),
        ("deflate", ""),
        ("*", "br"),
        ("*;q=0.5, br;q=0", "zstd"),
        ("*;q=0", ""),
        ("gzip;q=0", ""),
        ("gzip;q=0.5, identity", ""),
        ("identity;q=0, gzip;q=0.1", "gzip"),
        ("identity;q=0", ""),
        ("gzip;q=x", ""),
        ("", ""),
        ("gzip" + " " * 60_000, "gzip"),
    ],
)
def test_the_coding_a_client_likes_best_of_those_available(line: str, expected: str) -> None:
    stored = keep(*CODED, coding="gzip")
    assert coding_for(stored, get(f"Accept-Encoding: {line}"), AVAILABLE) == expected


def test_lines_of_accept_encoding_are_one_list() -> None:
    asked = get("Accept-Encoding: gzip;q=0.5", "accept-encoding: br")
    assert coding_for(keep(*CODED, coding="gzip"), asked, AVAILABLE) == "br"


def test_a_client_that_names_no_coding_gets_none() -> None:
    assert coding_for(keep(*CODED, coding="gzip"), get(), AVAILABLE) == ""


def test_a_body_that_is_kept_as_it_came_is_sent_as_it_came() -> None:
    asked = get("Accept-Encoding: br")
    assert coding_for(keep("Cache-Control: max-age=60"), asked, AVAILABLE) == ""
    opaque = keep(*CODED)
    assert coding_for(opaque, asked, AVAILABLE) == ""
    assert (b"Content-Encoding", b"gzip") in answer(opaque, asked, 9, after(0)).headers


def test_a_range_is_cut_from_the_body_without_coding() -> None:
    asked = get("Accept-Encoding: gzip", "Range: bytes=0-1")
    stored = keep(*CODED, coding="gzip")
    assert coding_for(stored, asked, AVAILABLE) == ""
    assert answer(stored, asked, 9, after(0)).status == 206


def test_a_recoded_body_has_a_weak_tag_and_says_what_it_varies_on() -> None:
    stored = keep(*CODED, "Vary: Foo", coding="gzip", date=None)
    plain = answer(stored, get(), 9, after(0)).headers
    assert plain == headers(CODED[0], 'ETag: W/"a"', "Vary: Foo", f"Date: {date(0)}", "Vary: Accept-Encoding", "Age: 0")
    assert answer(stored, get(), 9, after(0), coding="br").headers == (*plain, (b"Content-Encoding", b"br"))


@pytest.mark.parametrize("tag", ['"a"', 'W/"a"'])
def test_either_tag_of_a_recoded_body_finds_it_unchanged(tag: str) -> None:
    stored = keep(*CODED, coding="gzip")
    assert answer(stored, get(f"If-None-Match: {tag}"), 9, after(0)).status == 304


def test_a_vary_that_says_it_already_is_left_alone() -> None:
    stored = keep(*CODED, "vary: accept-encoding, Foo", coding="gzip")
    assert [value for name, value in stored.served if name.lower() == b"vary"] == [b"accept-encoding, Foo"]
