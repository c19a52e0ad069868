"""RFC 9111, section 4: one fetch for requests of one moment."""

import pytest

from proxy.caching import Policy, may_wait, shares
from tests.proxy.caching.build import after, get, keep

POLICY = Policy(cookies_ignored=("_ga",))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("User-Agent: x", True),
        ("Cookie: _ga=1", True),
        ("Cookie: session=1", False),
        ("Authorization: x", False),
        ("Range: bytes=0-1", False),
        ('If-None-Match: "a"', False),
        ("Cache-Control: no-cache", False),
    ],
)
def test_requests_whose_response_could_be_for_anyone_wait(line: str, expected: bool) -> None:
    assert may_wait(get(line), POLICY) is expected
    assert not may_wait(get(line, method="HEAD"), POLICY)
    assert not may_wait(get(line, has_body=True), POLICY)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Cache-Control: max-age=60", True),
        ("X: no lifetime", True),
        ("Cache-Control: max-age=0", False),
        ("Expires: 0", False),
        ("Cache-Control: no-cache", False),
        ("Vary: Foo", False),
    ],
)
def test_who_waited_shares_a_response_that_allows_it(line: str, expected: bool) -> None:
    stored = keep(line, asked=get("Foo: 1"))
    assert shares(stored, get("Foo: 2"), after(0), POLICY) is expected
