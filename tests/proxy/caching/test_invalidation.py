"""RFC 9111, section 4.4: what an unsafe request invalidates."""

import pytest

from proxy.caching import invalidated
from tests.proxy.caching.build import URL, get, reply


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "FROBNICATE"])
def test_an_unsafe_method_invalidates_its_target(method: str) -> None:
    assert invalidated(get(method=method), reply(status=204)) == (URL,)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_a_safe_method_invalidates_nothing(method: str) -> None:
    assert invalidated(get(method=method), reply("Location: /x")) == ()


@pytest.mark.parametrize(("status", "expected"), [(200, True), (303, True), (404, False), (500, False), (101, False)])
def test_only_a_response_without_error_invalidates(status: int, expected: bool) -> None:
    assert bool(invalidated(get(method="POST"), reply(status=status))) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Location: /x", ["http://a.test/x"]),
        ("Content-Location: y?z", ["http://a.test/y?z"]),
        ("location: http://A.test:80/x#y", ["http://a.test/x"]),
        (f"Location: {URL}", []),
        ("Location: http://b.test/x", []),
        ("Location: https://a.test/x", []),
        ("Location: http://a.test:81/x", []),
        ("Location: http://[", []),
        ("Location: mailto:a@a.test", []),
    ],
)
def test_locations_on_the_same_origin_are_invalidated_too(line: str, expected: list[str]) -> None:
    assert invalidated(get(method="PUT"), reply(line)) == (URL, *expected)
