"""Where settings come from: the configuration file, the environment, flags and `--set`."""

import os
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from settings.declared import SPECS, Settings, coerce, config_directory
from settings.values import SettingError

ENVIRONMENT = "PAGEMASON_"
PREFIX = "pagemason_"
"""Before a setting's name where mitmproxy's options are in the same list."""

NO_SETTINGS = frozenset({"config", "traceback", "corpora"})
"""Variables with our prefix that are no settings: which file to read, how to fail, where the tests find pages."""


def unknown(name: str, known: Iterable[str], where: str) -> SettingError:
    """Return the error for a name that is no setting; it names the nearest that is one."""
    near = get_close_matches(name, list(known), 1, 0.5)
    return SettingError(f"{where}: {name!r} is no setting" + (f"; did you mean {near[0]}?" if near else ""))


def load(
    config: Path | None = None,
    *,
    flags: Mapping[str, Any] | None = None,
    assignments: Iterable[str] = (),
    mitmproxy_options: Collection[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings from all sources. SettingError names the source, the value and what was expected.

    `flags` holds what the command line named (None: not given), `assignments` the arguments of `--set`, which may
    also name one of `mitmproxy_options`. `environ` is the process's environment unless given.
    """
    environ = os.environ if environ is None else environ
    values = _from_file(config, environ) | _from_environment(environ)
    for name, value in (flags or {}).items():
        if value is not None:
            values[name] = coerce(SPECS[name], value, f"--{name.replace('_', '-')}")
    foreign = dict(values.get("mitmproxy", {}))
    for assignment in assignments:
        _assign(assignment, values, foreign, mitmproxy_options)
    return Settings(**{**values, "mitmproxy": foreign})


def config_file(config: Path | None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the configuration file to read: the one named, else the user's, else ./config.yaml, else None."""
    if config is not None or environ.get("PAGEMASON_CONFIG"):
        return config or Path(environ["PAGEMASON_CONFIG"])
    return next((p for p in (config_directory() / "config.yaml", Path("config.yaml")) if p.is_file()), None)


def _from_file(config: Path | None, environ: Mapping[str, str]) -> dict[str, Any]:
    path = config_file(config, environ)
    if path is None:
        return {}
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        content = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
    except OSError as exc:
        raise SettingError(f"{path}: cannot be read: {exc.strerror}") from exc
    except (YAMLError, ValueError) as exc:
        raise SettingError(f"{path}: is not YAML: {' '.join(str(exc).split())}") from exc
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingError(f"{path}: is not a list of settings, written NAME: VALUE")
    if config is None and path == Path("config.yaml") and not any(name in SPECS for name in content):
        return {}  # another program's file in the working directory
    for name in content:
        if name not in SPECS:
            raise unknown(str(name), SPECS, str(path))
    return {name: coerce(SPECS[name], value, f"{path}: {name}") for name, value in content.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Read PAGEMASON_*. Other names with this prefix are an error only when they look misspelt: Kubernetes, for
    one, sets PAGEMASON_SERVICE_HOST and its like for a service of that name."""
    values = {}
    for variable, text in environ.items():
        name = variable.removeprefix(ENVIRONMENT).lower()
        if not variable.startswith(ENVIRONMENT) or name in NO_SETTINGS:
            continue
        if name in SPECS:
            values[name] = coerce(SPECS[name], text, variable)
        elif get_close_matches(name, SPECS, 1, 0.85):
            raise unknown(name, SPECS, variable)
    return values


SAME_IN_MITMPROXY = frozenset({"listen_host", "listen_port", "confdir"})
"""Settings that mitmproxy has too, by the same name and with the same meaning."""


def _assign(
    assignment: str, values: dict[str, Any], foreign: dict[str, str], mitmproxy_options: Collection[str]
) -> None:
    """Take one KEY=VALUE of `--set` into the settings, or into mitmproxy's options."""
    key, equals, text = assignment.partition("=")
    if not equals or not key:
        raise SettingError(f"--set: {assignment!r} is not KEY=VALUE")
    name = key.removeprefix(PREFIX)
    if key in SPECS and key in mitmproxy_options and key not in SAME_IN_MITMPROXY:
        other = " or proxy_mode" if key == "mode" else ""
        raise SettingError(f"--set: {key!r} is an option of mitmproxy too: write {PREFIX}{key}{other} instead")
    if name in SPECS:
        values[name] = coerce(SPECS[name], text, f"--set {key}")
    elif key in mitmproxy_options:
        foreign[key] = text
    else:
        raise unknown(key, {*SPECS, *mitmproxy_options}, "--set")
