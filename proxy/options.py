"""Our settings as mitmproxy options, for `mitmdump -s proxy/addon.py`: each with our prefix, `pagemason_mode`."""

import typing
from collections.abc import Mapping
from typing import Any

from mitmproxy.addonmanager import Loader
from mitmproxy.options import Options

from settings import PREFIX, SPECS, Settings, Text, coerce, load

_FOR_RUN_ONLY = frozenset(
    ("listen_host", "listen_port", "confdir", "proxy_mode", "mitmproxy", "dashboard_host", "dashboard_port")
)
"""Settings that mitmdump has its own options for, or that have no meaning there."""

NAMES = tuple(name for name in SPECS if name not in _FOR_RUN_ONLY)

_TYPES = typing.get_type_hints(Settings)


def declare(loader: Loader) -> None:
    """Add our options. Their defaults are what configuration file and environment say. Raises SettingError."""
    base = load()
    for name in NAMES:
        spec = SPECS[name]
        kind, value = _option(_TYPES[name], getattr(base, name))
        choices = spec.metadata["choices"] or None
        loader.add_option(PREFIX + name, kind, value, spec.metadata["help"], choices)


def settings_of(options: Options) -> Settings:
    """Return the settings that the options say. Raises SettingError."""
    values = {
        name: coerce(SPECS[name], getattr(options, PREFIX + name), PREFIX + name)
        for name in NAMES
        if PREFIX + name in options
    }
    return Settings(**values)


def _option(kind: Any, value: Any) -> tuple[Any, Any]:
    """Return the type and value of an option: mitmproxy knows texts, whole numbers, truths and lists of texts."""
    if kind in (bool, int, str):
        return kind, value
    if kind == Text:
        return typing.Sequence[str], list(value)
    if isinstance(value, Mapping):
        return str, ",".join(f"{left}={right}" for left, right in value.items())
    return str, str(value)
