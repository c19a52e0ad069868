"""URL patterns as people type them: `*` stands for any characters, everything else for itself."""

import re
from collections.abc import Callable


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return a test whether a URL matches a pattern.

    `?` and `[` are literal, as they are common in URLs.

    >>> matcher("http://a.test/*")("http://a.test/x?y=[1]")
    True
    """
    if pattern == "*":
        return lambda url: True
    whole = re.compile(".*".join(map(re.escape, re.split(r"\*+", pattern))), re.DOTALL)
    return lambda url: whole.fullmatch(url) is not None


def literal(pattern: str) -> str | None:
    """Return the one URL a pattern can match, or None when it has a `*`."""
    return None if "*" in pattern else pattern
