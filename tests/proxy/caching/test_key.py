"""The cache key: where a request goes and what it asks for."""

import pytest

from proxy.caching import Policy, key_of, key_of_url
from proxy.caching.key import resolve, same_origin

PLAIN = Policy()


@pytest.mark.parametrize(
    ("scheme", "host", "port", "target", "expected"),
    [
        ("http", "a.test", 80, "/x?y=1", "http://a.test/x?y=1"),
        ("HTTPS", "A.Test", 443, "/X", "https://a.test/X"),
        ("http", "a.test", 443, "/", "http://a.test:443/"),
        ("https", "a.test", None, "", "https://a.test/"),
        ("http", "::1", 8080, "/", "http://[::1]:8080/"),
        ("http", "[::1]", 80, "/", "http://[::1]/"),
        ("http", "a.test", 80, "http://other.test/x?y", "http://a.test/x?y"),
        ("http", "a.test", 80, "http://other.test?y", "http://a.test/?y"),
        ("http", "a.test", 80, "http://other.test", "http://a.test/"),
        ("http", "a.test", 80, "/x://y", "http://a.test/x://y"),
        ("http", "a.test", 80, "/a//b/../c%2F%2f?", "http://a.test/a//b/../c%2F%2f?"),
        ("http", "a.test/b?", 80, "/c", "http://a.test%2Fb%3F/c"),
        ("http", "a.test", 80, "/\xfc\udcff #", "http://a.test/%C3%BC%FF%20%23"),
    ],
)
def test_the_key_is_the_url_of_the_connection(
    scheme: str, host: str, port: int | None, target: str, expected: str
) -> None:
    assert key_of(scheme, host, port, target, PLAIN) == expected


@pytest.mark.parametrize(
    ("policy", "query", "expected"),
    [
        (PLAIN, "?b=1&a=2&utm_x=3", "?b=1&a=2&utm_x=3"),
        (Policy(drop_parameters=("utm_*",)), "?b=1&utm_x=3&a=2&utm_y", "?b=1&a=2"),
        (Policy(drop_parameters=("utm_*",)), "?utm_x=3", ""),
        (Policy(drop_parameters=("utm_*",)), "?utm%5Fx=3&UTM_x=1", "?UTM_x=1"),
        (Policy(drop_parameters=("x",)), "?xy=1&y=x", "?xy=1&y=x"),
        (Policy(sort_query=True), "?b=1&a=2&a=1", "?a=1&a=2&b=1"),
        (Policy(sort_query=True), "?", "?"),
    ],
)
def test_settings_make_urls_equal_that_differ_in_their_query(policy: Policy, query: str, expected: str) -> None:
    assert key_of("http", "a.test", 80, "/x" + query, policy) == "http://a.test/x" + expected
    assert key_of_url("http://A.test:80/x" + query + "#top", policy) == "http://a.test/x" + expected


@pytest.mark.parametrize("url", ["", "/x", "ftp://a.test/", "http://", "http://[::1", "http://a.test:x/", "mailto:a"])
def test_what_is_no_web_url_has_no_key(url: str) -> None:
    assert key_of_url(url, PLAIN) is None


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (b"", "http://a.test/d/page?q"),
        (b"x", "http://a.test/d/x"),
        (b"/x#y", "http://a.test/x"),
        (b"../x", "http://a.test/x"),
        (b"//B.test/x", "http://b.test/x"),
        (b"HTTP://A.TEST:80/x", "http://a.test/x"),
        (b"http://[", None),
        (b"javascript:x", None),
    ],
)
def test_references_are_resolved(reference: bytes, expected: str | None) -> None:
    assert resolve("http://a.test/d/page?q", reference) == expected


def test_same_origin_is_scheme_host_and_port() -> None:
    assert same_origin("http://a.test/x", "http://a.test/y?z")
    for other in ("https://a.test/x", "http://a.test:81/x", "http://b.test/x"):
        assert not same_origin("http://a.test/x", other)
