"""RFC 9211: what Cache-Status says."""

import pytest

from proxy.caching import cache_status, ttl_seconds, via
from tests.proxy.caching.build import after, keep


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"hit": True}, b"pagemason; hit"),
        ({"hit": True, "ttl": -5}, b"pagemason; hit; ttl=-5"),
        ({"fwd": "uri-miss", "stored": True, "ttl": 60}, b"pagemason; fwd=uri-miss; stored; ttl=60"),
        ({"fwd": "stale", "fwd_status": 304, "collapsed": True}, b"pagemason; fwd=stale; fwd-status=304; collapsed"),
        ({"fwd": "bypass", "detail": "never_cache"}, b"pagemason; fwd=bypass; detail=never_cache"),
        ({"fwd": "miss", "detail": 'Vary: "x"\r\n\xfc'}, b'pagemason; fwd=miss; detail="Vary: ?x????"'),
        ({}, b"pagemason"),
    ],
)
def test_cache_status(about: dict[str, object], expected: bytes) -> None:
    assert cache_status(**about) == expected  # type: ignore[arg-type]


def test_the_ttl_is_what_is_left_of_the_lifetime() -> None:
    stored = keep("Cache-Control: max-age=60", "Age: 10")
    assert (ttl_seconds(stored, after(20)), ttl_seconds(stored, after(60))) == (30, -10)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (b"HTTP/1.1", b"1.1 pagemason"),
        (b"HTTP/1.0", b"1.0 pagemason"),
        (b"HTTP/2.0", b"2 pagemason"),
        (b"X/1", b"X/1 pagemason"),
    ],
)
def test_via_names_the_version_received(version: bytes, expected: bytes) -> None:
    assert via(version) == expected
