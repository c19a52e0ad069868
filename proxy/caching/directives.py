"""Cache-Control of requests and responses (RFC 9111, section 5.2; RFC 5861; RFC 8246).

Unknown directives are ignored. What is malformed, repeated or contradictory is read the way that caches less: the
shorter lifetime, the longer `min-fresh`, a restriction whatever its argument, a permission only when well formed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from proxy.caching.fields import OWS, split, tokens

LONGEST = 2**31
"""Seconds. Greater values, and sums that grow beyond, count as this (section 1.2.2)."""


@dataclass(frozen=True, slots=True)
class Directives:
    """What a Cache-Control says; lifetimes and windows in seconds, None when absent.

    `no_cache` and `private` are the forms for the whole message; `no_cache_fields` the fields, in lower case, that
    a qualified no-cache names. A qualified `private` counts as `private`: the rest of such an answer may depend on
    the person as well.
    """

    max_age: int | None = None
    s_maxage: int | None = None
    stale_while_revalidate: int | None = None
    stale_if_error: int | None = None
    min_fresh: int | None = None
    max_stale: int | None = None
    no_cache: bool = False
    no_store: bool = False
    private: bool = False
    public: bool = False
    must_revalidate: bool = False
    proxy_revalidate: bool = False
    must_understand: bool = False
    immutable: bool = False
    only_if_cached: bool = False
    no_cache_fields: tuple[bytes, ...] = ()


NOTHING = Directives()

_Choice = Callable[[int, int], int]

_SECONDS: dict[bytes, tuple[str, _Choice, int]] = {
    b"max-age": ("max_age", min, 0),
    b"s-maxage": ("s_maxage", min, 0),
    b"stale-while-revalidate": ("stale_while_revalidate", min, 0),
    b"stale-if-error": ("stale_if_error", min, 0),
    b"min-fresh": ("min_fresh", max, LONGEST),
    b"max-stale": ("max_stale", min, 0),
}
"""Directive: field, which of two values counts, what a malformed value counts as."""

_RESTRICTIONS: dict[bytes, str] = {
    b"no-store": "no_store",
    b"private": "private",
    b"must-revalidate": "must_revalidate",
    b"proxy-revalidate": "proxy_revalidate",
    b"only-if-cached": "only_if_cached",
}

_PERMISSIONS: dict[bytes, str] = {
    b"public": "public",
    b"immutable": "immutable",
    b"must-understand": "must_understand",
}


def seconds(text: bytes) -> int | None:
    """Return delta-seconds, at most LONGEST, or None when the text is no such number (section 1.2.2)."""
    if not text.isdigit():
        return None
    digits = text.lstrip(b"0")
    return LONGEST if len(digits) > 10 else min(int(digits or b"0"), LONGEST)


def unquoted(text: bytes) -> bytes | None:
    """Return an argument without its quotes, None when the quoted string is not well formed.

    Both forms of an argument are accepted, whichever the directive's definition shows (section 5.2).
    """
    if not text.startswith(b'"'):
        return text if text == text.strip(OWS) and b'"' not in text else None
    if len(text) < 2 or not text.endswith(b'"'):
        return None
    inner = text[1:-1]
    return inner if b'"' not in inner and b"\\" not in inner else None


def parse(lines: Iterable[bytes]) -> Directives:
    """Return the directives of all lines of Cache-Control. Never raises; linear in the length."""
    found: dict[str, int | bool | tuple[bytes, ...]] = {}
    for line in lines:
        whole, garbled = split(line)
        for member in whole:
            _note(found, member, garbled=False)
        for member in garbled:
            _note(found, member, garbled=True)
    return Directives(**found) if found else NOTHING  # type: ignore[arg-type]


def _note(found: dict[str, int | bool | tuple[bytes, ...]], member: bytes, *, garbled: bool) -> None:
    """Add one directive; what is garbled can restrict, but permit nothing."""
    name, equals, argument = member.partition(b"=")
    lowered = name.lower().rstrip(OWS)
    if lowered in _RESTRICTIONS:
        found[_RESTRICTIONS[lowered]] = True
    elif lowered in _PERMISSIONS:
        if not equals and not garbled:
            found[_PERMISSIONS[lowered]] = True
    elif lowered == b"no-cache":
        _no_cache(found, unquoted(argument) if equals and not garbled else None)
    elif (spec := _SECONDS.get(lowered)) is not None:
        # "max-age =1" is no max-age, yet whoever wrote it meant to say something about freshness
        text = unquoted(argument) if len(lowered) == len(name) and not garbled else None
        _seconds(found, spec, text, bare=lowered == b"max-stale" and not equals and not garbled)


def _no_cache(found: dict[str, int | bool | tuple[bytes, ...]], argument: bytes | None) -> None:
    """Note a no-cache: for the fields it names, or for the whole response when it names none properly."""
    names = tokens([argument]) if argument else []
    if not names:
        found["no_cache"] = True
    else:
        earlier = found.get("no_cache_fields", ())
        found["no_cache_fields"] = (*earlier, *names) if isinstance(earlier, tuple) else tuple(names)


def _seconds(
    found: dict[str, int | bool | tuple[bytes, ...]],
    spec: tuple[str, _Choice, int],
    text: bytes | None,
    *,
    bare: bool,
) -> None:
    """Note a number of seconds; `max-stale` without one accepts any staleness (section 5.2.1.2)."""
    field, choose, malformed = spec
    value = LONGEST if bare else seconds(text) if text is not None else None
    value = malformed if value is None else value
    earlier = found.get(field)
    found[field] = choose(earlier, value) if isinstance(earlier, int) else value
