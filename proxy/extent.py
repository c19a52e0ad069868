"""How much body an answer has, as its head says."""

from blocks.model import Headers
from proxy.caching.fields import values

AT_ONCE_BYTES = 1 << 20
"""Bodies of a known length up to this are sent when they are there whole: their parts would come together anyway."""

_ENDLESS = (b"text/event-stream", b"multipart/x-mixed-replace", b"application/grpc")
"""How the types of answers begin that may have no end. None of them is kept."""


def is_endless(headers: Headers) -> bool:
    """Tell whether a body may have no end."""
    return any(value.strip().lower().startswith(_ENDLESS) for value in values(headers, b"content-type"))


def length(headers: Headers) -> int | None:
    """Return how many bytes a body is said to have; None when nothing is said."""
    lengths = values(headers, b"content-length")
    return int(lengths[0]) if lengths and lengths[0].isdigit() and len(lengths[0]) < 19 else None


def ends_with_connection(headers: Headers) -> bool:
    """Tell whether an HTTP/1 body ends where its connection does (RFC 9112, section 6.3)."""
    return not values(headers, b"content-length") and not values(headers, b"transfer-encoding")
