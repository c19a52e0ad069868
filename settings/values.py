"""Values of settings, from what a file, a variable or a flag says. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import Field
from typing import Any

Text = tuple[str, ...]

_SIZE = re.compile(r"\s*(\d+)\s*(?:([KMG])i?B?|B)?\s*", re.IGNORECASE)
_POWER = {"K": 10, "M": 20, "G": 30}
_TRUTH = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}
_STORE = re.compile(r"memory:|sqlite:///.+|postgresql(?:\+psycopg)?://.+", re.DOTALL)
_PROXY_MODE = re.compile(r"(?:regular|transparent|socks5|reverse:.+|upstream:.+)(?:@.+)?", re.DOTALL)


class SettingError(ValueError):
    """A setting is not known or its value is not valid; the message is one sentence for people."""


def typed(spec: Field[Any], kind: Any, value: Any, named: str) -> Any:
    """Return a value, or a text that spells one, as a setting's type, `kind`. SettingError begins with `named`."""
    if kind is bool:
        return _truth(value, named)
    if kind in (int, float):
        return _number(spec, kind, value, named)
    if kind is str:
        return _text(spec, value, named)
    if kind == Text:
        return _texts(value, named)
    return _mapping(value, named)


def _truth(value: Any, named: str) -> bool:
    found = value if isinstance(value, bool) else _TRUTH.get(str(value).lower())
    if found is None:
        raise SettingError(f"{named}: {value!r} is neither true nor false")
    return found


def _number(spec: Field[Any], kind: type, value: Any, named: str) -> int | float:
    low, high = spec.metadata["low"], spec.metadata["high"]
    expected = f"{'a whole number' if kind is int else 'a number'} " + (
        f"of at least {low}" if high is None else f"from {low} to {high}"
    )
    number: int | float | None = None
    if isinstance(value, str):
        size = _SIZE.fullmatch(value) if spec.name.endswith("_bytes") else None
        try:
            number = int(size[1]) << _POWER.get((size[2] or "").upper(), 0) if size else kind(value)
        except ValueError:
            number = None
    elif not isinstance(value, bool) and isinstance(value, int | float) and (kind is float or value == value // 1):
        number = kind(value)
    if number is None or not (low <= number and (high is None or number <= high)) or number == float("inf"):
        raise SettingError(f"{named}: {value!r} is not {expected}")
    return number


def _text(spec: Field[Any], value: Any, named: str) -> str:
    choices = spec.metadata["choices"]
    if not isinstance(value, str) or "\0" in value:
        raise SettingError(f"{named}: {value!r} is not a text")
    if choices and value not in choices:
        raise SettingError(f"{named}: {value!r} is not {_any_of(choices)}")
    if spec.name == "store" and value and not _STORE.fullmatch(value):
        raise SettingError(f"{named}: {value!r} is not sqlite:///PATH, postgresql+psycopg://USER@HOST/NAME or memory:")
    if spec.name == "proxy_mode" and not _PROXY_MODE.fullmatch(value):
        raise SettingError(f"{named}: {value!r} is not regular, reverse:URL, upstream:URL, transparent or socks5")
    return value


def _any_of(choices: Collection[str]) -> str:
    return next(iter(choices)) if len(choices) == 1 else f"one of {', '.join(choices)}"


def _texts(value: Any, named: str) -> Text:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return tuple(value)
    if value is None:
        return ()
    raise SettingError(f"{named}: {value!r} is not a list of texts")


def _mapping(value: Any, named: str) -> Mapping[str, str]:
    if value is None:
        return {}
    if isinstance(value, str):
        pairs = [part.partition("=") for part in value.split(",") if part.strip()]
        if all(equals for _, equals, _ in pairs):
            return {left.strip(): right.strip() for left, _, right in pairs}
    elif isinstance(value, Mapping) and all(isinstance(v, str | int | float | bool) for v in value.values()):
        return {str(k): str(v).lower() if isinstance(v, bool) else str(v) for k, v in value.items()}
    raise SettingError(f"{named}: {value!r} is not a mapping, written KEY: VALUE or KEY=VALUE,KEY=VALUE")
