"""Which content coding a client gets (RFC 9110, section 12.5.3), and what coding a body again does to its fields.

A body whose coding was removed is coded for each client. Its bytes need not be the origin's then, so that a strong
entity tag becomes a weak one; weak comparison still finds the stored tag, whichever of the two a client sends.
"""

from collections.abc import Sequence
from functools import lru_cache

from blocks.model import Headers
from proxy.caching.fields import values, without
from proxy.caching.model import Request, Stored
from proxy.caching.validation import is_strong
from proxy.caching.vary import preferences

_OF_THE_CODED_BODY = frozenset((b"content-digest", b"content-encoding", b"content-md5", b"digest", b"repr-digest"))
_REMEMBERED_BYTES = 256


def coding_for(stored: Stored, request: Request, available: Sequence[str]) -> str:
    """Return the coding in which to send a stored body, "" for none; `available` is in the order we like them.

    A body that came without a coding is sent as it came, and so is one with a coding that could not be removed. A
    range is cut from the body without coding, when the client takes that.
    """
    if not stored.coding:
        return ""
    return chosen_coding(request.headers, () if b"range" in request.special else available)


def chosen_coding(headers: Headers, available: Sequence[str]) -> str:
    """Return the coding that a request's fields prefer, "" for none."""
    lines = values(headers, b"accept-encoding")
    if not lines:
        return ""  # any coding would do (section 12.5.3), and a client that says nothing may know none
    line = lines[0] if len(lines) == 1 else b", ".join(lines)
    choose = _choose if len(line) <= _REMEMBERED_BYTES else _choose.__wrapped__
    return choose(line, tuple(available))


@lru_cache(maxsize=256)
def _choose(line: bytes, available: tuple[str, ...]) -> str:
    """Return the coding with the greatest weight; of equals the first available, and any before none.

    Nothing acceptable is the same as no coding: the section lets a server send that rather than an error.
    """
    accepted = preferences(line)
    anything = accepted.get(b"*", 0)
    best, weight = "", accepted.get(b"identity", anything if b"*" in accepted else 1)
    for coding in available:
        offered = accepted.get(coding.encode(), accepted.get(b"x-" + coding.encode(), anything))
        if offered > weight or (offered == weight and offered and not best):
            best, weight = coding, offered
    return best


def recoded(headers: Headers) -> Headers:
    """Return the fields of a response whose body is not in the origin's coding any more.

    Without those that describe the coded bytes, with weak entity tags, and with a Vary that says what chooses.
    """
    changed = [_weakened(pair) for pair in without(headers, _OF_THE_CODED_BODY)]
    named = b",".join(value for name, value in changed if name.lower() == b"vary").lower()
    if b"accept-encoding" not in named and b"*" not in named:
        changed.append((b"Vary", b"Accept-Encoding"))
    return tuple(changed)


def _weakened(pair: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    name, value = pair
    if name.lower() == b"etag" and is_strong(value.strip()):
        return name, b"W/" + value.strip()
    return pair
