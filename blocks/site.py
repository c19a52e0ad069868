"""Which site a URL belongs to: its host without `www.` and port, or what the settings say. How a URL may be spelled."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit


def host_of(url: str) -> str:
    """Return the lower-case host of a URL, empty when it has none. Never raises."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def site_of(url: str, mapping: Mapping[str, str] | None = None) -> str:
    """Return the site of a URL.

    >>> site_of("http://www.a.test:80/x")
    'a.test'
    >>> site_of("http://m.a.test/x", {"m.a.test": "a.test"})
    'a.test'
    """
    site = host_of(url).removeprefix("www.")
    return mapping.get(site, site) if mapping else site


_HOST = r"(?:[^/?#@]*@)?(?:\[[^/?#@\]]*\]|[^/?#@:\[\]]+)"
_AUTHORITY = re.compile(rf"(http|https)(://{_HOST})(:[0-9]*)?(?=[/?#]|\Z)", re.IGNORECASE)
_PORTS = {"http": ":80", "https": ":443"}


def spellings(url: str) -> tuple[str, ...]:
    """Return a URL and, second, what it is with its scheme's default port left out or written: the same one (RFC 9110,
    section 4.2.3). Archives write it, clients leave it out. Nothing else is compared.

    >>> spellings("http://a.test:80/x")
    ('http://a.test:80/x', 'http://a.test/x')
    >>> spellings("https://a.test/x")
    ('https://a.test/x', 'https://a.test:443/x')
    >>> spellings("http://a.test:8080/x")
    ('http://a.test:8080/x',)
    """
    match = _AUTHORITY.match(url)
    if match is None:
        return (url,)
    scheme, host, port = match.groups()
    default, rest = _PORTS[scheme.lower()], url[match.end() :]
    if port is None:
        return url, f"{scheme}{host}{default}{rest}"
    return (url, f"{scheme}{host}{rest}") if port == default else (url,)


def without_default_port(url: str) -> str:
    """Return a URL as clients spell it.

    >>> without_default_port("https://a.test:443")
    'https://a.test'
    """
    return min(spellings(url), key=len)


_START = re.compile(r"https?://(?:www\.)?", re.IGNORECASE)


def sort_key(url: str) -> str:
    """Return what URLs are sorted by so that captures of one page lie together, by HTTP and by HTTPS, with and without
    `www.`.

    >>> sort_key("https://www.a.test/x"), sort_key("http://a.test/x")
    ('a.test/x', 'a.test/x')
    """
    start = _START.match(url)
    return url[start.end() :] if start else url
