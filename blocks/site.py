"""Which site a URL belongs to: its host without `www.` and port, unless the settings map it."""

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
