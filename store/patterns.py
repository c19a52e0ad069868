"""URL patterns as people type them: `*` stands for any characters, everything else for itself."""

from collections.abc import Callable


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return a test whether a URL matches a pattern, in time linear in the URL's length.

    `?` and `[` are literal, as they are common in URLs.

    >>> matcher("http://a.test/*")("http://a.test/x?y=[1]")
    True
    """
    start, *middle = pattern.split("*")
    if not middle:
        return lambda url: url == pattern
    end = middle.pop()
    parts = [part for part in middle if part]

    def matches(url: str) -> bool:
        """Take each part where it stands first: if any choice of places fits, that one does. Never goes back."""
        stop = len(url) - len(end)
        if stop < len(start) or not (url.startswith(start) and url.endswith(end)):
            return False
        at = len(start)
        for part in parts:
            found = url.find(part, at, stop)
            if found < 0:
                return False
            at = found + len(part)
        return True

    return matches


def literal(pattern: str) -> str | None:
    """Return the one URL a pattern can match, or None when it has a `*`."""
    return None if "*" in pattern else pattern
