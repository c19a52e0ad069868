"""Targeted Cache-Control fields: dictionaries of structured values (RFC 9213; RFC 9651, section 4.2.2)."""

import base64
import binascii
import re
from collections.abc import Sequence

from proxy.caching.directives import LONGEST, Directives

Value = bool | int | float | bytes

_KEY = rb"[a-z*][a-z0-9_.*-]*+"
_BARE = (
    rb"(?:(?P<number>-?\d{1,15}+(?:\.\d{1,3}+)?)"
    rb'|"(?P<text>(?:[ !#-\[\]-~]++|\\["\\])*+)"'
    rb"|(?P<token>[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*+)"
    rb"|:(?P<binary>[A-Za-z0-9+/=]*+):"
    rb"|\?(?P<truth>[01])"
    rb"|@(?P<date>-?\d{1,15}+)"
    rb'|%"(?P<display>(?:[ !#$&-~]++|%[0-9a-f]{2})*+)")'
)
_UNNAMED = re.sub(rb"\?P<[a-z]+>", b"?:", _BARE)
_PARAMETERS = rb"(?:; *+" + _KEY + rb"(?:=" + _UNNAMED + rb")?+)*+"
_MEMBER = re.compile(
    rb"(?P<key>" + _KEY + rb")(?:=(?:" + _BARE + rb"|(?P<list>\((?: *+" + _UNNAMED + _PARAMETERS + rb")*+ *+\))))?+"
    rb"(?P<parameters>" + _PARAMETERS + rb")"
)
_COMMA = re.compile(rb"[ \t]*+,[ \t]*+")

_INTEGERS = {
    "max-age": "max_age",
    "s-maxage": "s_maxage",
    "stale-while-revalidate": "stale_while_revalidate",
    "stale-if-error": "stale_if_error",
}
_RESTRICTIONS = {
    "no-store": "no_store",
    "private": "private",
    "no-cache": "no_cache",
    "must-revalidate": "must_revalidate",
    "proxy-revalidate": "proxy_revalidate",
}
_PERMISSIONS = {"public": "public", "must-understand": "must_understand", "immutable": "immutable"}


def dictionary(lines: Sequence[bytes]) -> dict[str, Value] | None:
    """Return the members of a structured dictionary, None when it does not parse; an inner list becomes True.

    Linear in the length. Of a key that is repeated the last value counts, as the specification says.
    """
    text = b", ".join(lines).strip(b" ")
    found: dict[str, Value] = {}
    at = 0
    while at < len(text):
        match = _MEMBER.match(text, at)
        if match is None:
            return None
        value = _value(match)
        if value is None:
            return None
        found[match["key"].decode()] = value
        at = match.end()
        if at == len(text):
            return found
        comma = _COMMA.match(text, at)
        if comma is None or comma.end() == len(text):
            return None
        at = comma.end()
    return found


def _value(match: re.Match[bytes]) -> Value | None:
    if (number := match["number"]) is not None:
        return _number(number)
    if match["truth"] is not None:
        return match["truth"] == b"1"
    if match["binary"] is not None:
        try:
            return base64.b64decode(match["binary"], validate=True)
        except (binascii.Error, ValueError):
            return None
    if match["date"] is not None:
        return int(match["date"])
    for name in ("text", "token", "display"):
        if match[name] is not None:
            return match[name]
    return True


def _number(text: bytes) -> int | float | None:
    """Return an integer of up to 15 digits or a decimal with up to 12 before the point (section 3.3)."""
    whole, point, _ = text.partition(b".")
    if not point:
        return int(text)
    return float(text) if len(whole.lstrip(b"-")) <= 12 else None


def targeted(lines: Sequence[bytes]) -> Directives | None:
    """Return the directives of a targeted field, None when it is to be ignored (RFC 9213, section 2.1).

    It is ignored when it is empty, does not parse, or gives a directive a value of the wrong type: then nobody
    knows what its author wanted, and Cache-Control is still there. A negative number counts as 0.
    """
    members = dictionary(lines)
    if not members:
        return None
    found: dict[str, int | bool] = {}
    for key, value in members.items():
        if key in _INTEGERS:
            if isinstance(value, bool) or not isinstance(value, int):
                return None
            found[_INTEGERS[key]] = min(max(value, 0), LONGEST)
        elif key in _RESTRICTIONS:
            # a list of fields, private=("a"), restricts the whole response, as its Cache-Control form does here
            found[_RESTRICTIONS[key]] = value is not False
        elif key in _PERMISSIONS:
            found[_PERMISSIONS[key]] = value is True
    return Directives(**found)  # type: ignore[arg-type]
