"""Sites of URLs, and their spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.site import site_of, spellings, without_default_port


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("http://a.test", "http://a.test:80"),
        ("http://a.test/", "http://a.test:80/"),
        ("https://A.test?x=:80", "https://A.test:443?x=:80"),
        ("http://[::1]/x", "http://[::1]:80/x"),
        ("HTTP://a.test:80#f", "HTTP://a.test#f"),
        ("http://a.test:443/", None),
        ("http://a.test:/", None),
        ("https://a.test:80/", None),
        ("ftp://a.test/", None),
        ("http:///x", None),
        ("http://", None),
        ("http://:80", None),
        ("http://a.test:80:80", None),
        ("http://name:word@a.test/", "http://name:word@a.test:80/"),
        ("no url", None),
        ("", None),
    ],
)
def test_spellings(url: str, other: str | None) -> None:
    assert spellings(url) == ((url,) if other is None else (url, other))


@given(st.text("htps:/?#[]@80 43a.\n\ud800") | st.builds("http://{}{}".format, st.text(), st.text(":80/?")))
def test_spellings_name_each_other_and_one_site(url: str) -> None:
    first, *other = spellings(url)
    assert first == url
    for name in other:
        assert set(spellings(name)) == {url, name}
        assert site_of(name) == site_of(url)
        assert without_default_port(name) == without_default_port(url)
