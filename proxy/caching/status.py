"""The fields that say what the cache did: Cache-Status (RFC 9211) and Via (RFC 9110, section 7.6.3)."""

import re

from proxy.caching.model import SECOND, Stored

NAME = "pagemason"

_TOKEN = re.compile(r"[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*")
_UNPRINTABLE = re.compile(r'[^ -~]|["\\]')


def cache_status(
    *,
    hit: bool = False,
    fwd: str = "",
    fwd_status: int | None = None,
    ttl: int | None = None,
    stored: bool = False,
    collapsed: bool = False,
    detail: str = "",
) -> bytes:
    """Return the member for this cache, for a Cache-Status field after those of caches nearer the origin.

    `ttl` is in seconds, negative when stale (section 2.5); see `ttl_seconds`.

    >>> cache_status(fwd="uri-miss", stored=True)
    b'pagemason; fwd=uri-miss; stored'
    """
    parts = [NAME]
    if hit:
        parts.append("hit")
    elif fwd:
        parts.append(f"fwd={fwd}")
        if fwd_status is not None:
            parts.append(f"fwd-status={fwd_status}")
    if stored:
        parts.append("stored")
    if collapsed:
        parts.append("collapsed")
    if ttl is not None:
        parts.append(f"ttl={ttl}")
    if detail:
        quoted = _UNPRINTABLE.sub("?", detail)
        parts.append(f"detail={detail}" if _TOKEN.fullmatch(detail) else f'detail="{quoted}"')
    return "; ".join(parts).encode()


def ttl_seconds(stored: Stored, now: int) -> int:
    """Return the seconds a stored response stays fresh, negative when it is stale."""
    return (stored.lifetime - stored.age(now)) // SECOND


def via(http_version: bytes) -> bytes:
    """Return the Via member of this proxy for a message received in a version such as b"HTTP/1.1"."""
    protocol, _, version = http_version.partition(b"/")
    number = version.removesuffix(b".0") if version.startswith((b"2", b"3")) else version
    received = number if protocol.upper() == b"HTTP" and number else http_version
    return received + b" " + NAME.encode()
