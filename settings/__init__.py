"""Every option once: name, type, default and explanation, in `declared`.

Flags, environment variables, config.yaml, addon options and docs/settings.md follow from `Settings`. Values come,
later ones winning, from the defaults, the configuration file, `PAGEMASON_*` variables, flags and `--set` (`sources`);
`values` says what spells one. Only the edges read this: the pure rooms are given plain values.
"""

from settings.declared import (
    SPECS,
    Settings,
    coerce,
    config_directory,
    data_directory,
    default_of,
    default_store,
    rules_file,
)
from settings.sources import ENVIRONMENT, PREFIX, config_file, load
from settings.values import SettingError, Text

__all__ = [
    "ENVIRONMENT",
    "PREFIX",
    "SPECS",
    "SettingError",
    "Settings",
    "Text",
    "coerce",
    "config_directory",
    "config_file",
    "data_directory",
    "default_of",
    "default_store",
    "load",
    "rules_file",
]
