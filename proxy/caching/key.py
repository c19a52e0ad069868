"""The cache key (RFC 9111, section 2), and the URLs that a response speaks for (sections 4.4, RFC 9110, 9.3.3).

The key of a URL is the URL: scheme and authority of the connection, never of a Host field that says otherwise, and
the raw target. Two settings make more URLs equal.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from urllib.parse import unquote_plus, urljoin, urlsplit

from proxy.caching.model import Policy

_PORTS = {"http": 80, "https": 443}
_NOT_OF_A_HOST = re.compile(r"[^!-~]|[/?#@\\]")
_NOT_OF_A_TARGET = re.compile(r"[^!-~]|#")


def key_of(scheme: str, host: str, port: int | None, target: str, policy: Policy) -> str:
    """Return the key of a request: where it goes, by the connection, and what it asks for, as it asks.

    `target` is a path with query, or an absolute URL of which only these count. The host is compared in lower
    case and a default port left out (RFC 9110, section 4.2.3); nothing else is normalised, since origins may
    tell apart what looks equal. What cannot stand in a URL is percent-encoded: the key is a URL in ASCII.
    """
    scheme = scheme.lower()
    host = _NOT_OF_A_HOST.sub(_encoded, host.lower())
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    authority = host if port is None or port == _PORTS.get(scheme) else f"{host}:{port}"
    return f"{scheme}://{authority}{reduced(_NOT_OF_A_TARGET.sub(_encoded, _path(target)), policy)}"


def _encoded(odd: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in _bytes(odd[0]))


def _bytes(text: str) -> bytes:
    """Return the bytes that were received: undecodable ones are surrogates in mitmproxy's texts."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _path(target: str) -> str:
    """Return path and query of a request target in origin or absolute form (RFC 9112, section 3.2)."""
    if not target.startswith("/") and "://" in target:
        rest = target.partition("://")[2]
        cut = re.search(r"[/?]", rest)
        target = rest[cut.start() :] if cut else ""
    return target if target.startswith("/") else "/" + target


def reduced(target: str, policy: Policy) -> str:
    """Return a target without the parameters of `drop_parameters`, the rest in order if `sort_query` is set."""
    path, question, query = target.partition("?")
    if not question or not (policy.drop_parameters or policy.sort_query):
        return target
    parameters = query.split("&")
    if policy.drop_parameters:
        parameters = [part for part in parameters if not _is_dropped(part, policy.drop_parameters)]
    if policy.sort_query:
        parameters.sort()
    return f"{path}?{'&'.join(parameters)}" if parameters else path


def _is_dropped(parameter: str, patterns: Sequence[str]) -> bool:
    name = unquote_plus(parameter.partition("=")[0])
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def key_of_url(url: str, policy: Policy) -> str | None:
    """Return the key of an absolute http(s) URL, None when it is none."""
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        return None
    if scheme not in _PORTS or not host:
        return None
    return key_of(scheme, host, port, url.partition("#")[0], policy)


def resolve(base: str, reference: bytes) -> str | None:
    """Return a reference as an absolute URL in the form of a key, None when it is none."""
    try:
        joined = urljoin(base, reference.decode("latin-1").strip())
    except ValueError:
        return None
    return key_of_url(joined, Policy())


def same_origin(one: str, other: str) -> bool:
    """Tell whether two keys have the same scheme and authority (RFC 9110, section 4.3.1)."""
    return one.split("/", 3)[:3] == other.split("/", 3)[:3]
