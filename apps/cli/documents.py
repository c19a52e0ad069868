"""Settings as text: config.yaml with every explanation, and the table of the documentation."""

import textwrap
from typing import Any

from settings import ENVIRONMENT, SPECS, default_of

_HEADER = """\
# Pagemason's settings, all at their defaults.
#
# Later sources win: the defaults, this file, the environment ({environment}MODE=replay), flags (--mode replay),
# --set mode=replay. The file is the one --config or {environment}CONFIG names, else config.yaml in
# $XDG_CONFIG_HOME/pagemason, else ./config.yaml. Sizes may be written as 64 MiB.
"""

_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def config_yaml() -> str:
    """Return a configuration file that says every setting's default and explains it."""
    parts = [_HEADER.format(environment=ENVIRONMENT)]
    for name, spec in SPECS.items():
        about = textwrap.wrap(spec.metadata["help"], 110, initial_indent="# ", subsequent_indent="# ")
        parts.append("\n".join([*about, f"{name}: {_yaml(name, default_of(spec))}", ""]))
    return "\n".join(parts)


def _yaml(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {v}" for k, v in value.items()) + "}"
    if name.endswith("_bytes"):
        return next((f"{value // size} {unit}" for size, unit in _SIZES if value and value % size == 0), str(value))
    return '""' if value == "" else str(value)


def settings_table() -> str:
    """Return the settings as a table in Markdown."""
    rows = ["| setting | default | flag | meaning |", "|---|---|---|---|"]
    for name, spec in SPECS.items():
        flag = f"`--{name.replace('_', '-')}`" if spec.metadata["flag"] else ""
        meaning = spec.metadata["help"].replace("|", "\\|")
        rows.append(f"| `{name}` | `{_yaml(name, default_of(spec))}` | {flag} | {meaning} |")
    return "\n".join(rows) + "\n"
