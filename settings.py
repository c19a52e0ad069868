"""Every option once: name, type, default and explanation.

Flags, environment variables, config.yaml, addon options and docs/settings.md follow from `Settings`. Values come,
later ones winning, from the defaults, the configuration file, `PAGEMASON_*` variables, flags and `--set`. Only
the edges read this module: the pure rooms are given plain values.
"""

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_type_hints

ENVIRONMENT = "PAGEMASON_"
PREFIX = "pagemason_"
"""Before a setting's name where mitmproxy's options are in the same list."""

Text = tuple[str, ...]

_MiB = 1 << 20
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


def _option(
    default: Any,
    help: str,
    *,
    choices: Collection[str] = (),
    low: float = 0,
    high: float | None = None,
    flag: bool = False,
) -> Any:
    """Declare a setting: `low` and `high` bound numbers, `flag` gives `pagemason run` a flag of that name."""
    about = {"help": help, "choices": tuple(choices), "low": low, "high": high, "flag": flag}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=about)
    return field(default=default, metadata=about)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one process; making one with an invalid value raises SettingError."""

    store: str = _option(
        "",
        "Where captures are kept: sqlite:///PATH, postgresql+psycopg://USER@HOST/NAME, or memory: (gone with the "
        "process). Empty: an SQLite file in the data directory, $XDG_DATA_HOME/pagemason/pagemason.db.",
        flag=True,
    )
    site_of: Mapping[str, str] = _option(
        {},
        "Hosts that belong to another site, as host: site. A site is otherwise the host without www. and port; "
        "blocks are shared within a site.",
    )
    mode: str = _option(
        "cache",
        "cache: answer what HTTP says is fresh (RFC 9111). record: always fetch, keep every capture. replay: "
        "answer what is stored whatever its age, else fetch and keep. offline: stored or 504, never fetch.",
        choices=("cache", "record", "replay", "offline"),
        flag=True,
    )
    view: str = _option(
        "full",
        "What clients are given: full is the page as it came, content what people came for, without menus and "
        "advertisements. Rules and requests can ask for the other.",
        choices=("full", "content"),
        flag=True,
    )
    rules: str = _option(
        "",
        "File of rules for hosts: view, method, parts to keep or drop; read again when it changes. Empty: "
        "rules.yaml in $XDG_CONFIG_HOME/pagemason.",
    )
    min_confidence: float = _option(
        0.35, "Confidence below which a content view is the full page: the share expected to be right.", high=1
    )
    view_seconds: float = _option(
        5.0, "How long a client waits for a content view to be made; then it is given the full page.", low=0.01
    )
    view_bytes: int = _option(32 * _MiB, "Memory for content views.")
    proxy_mode: str = _option(
        "regular",
        "How clients reach the proxy: regular, reverse:URL, upstream:URL, transparent or socks5, as in mitmproxy.",
        flag=True,
    )
    listen_host: str = _option("127.0.0.1", "Address the proxy listens on.", flag=True)
    listen_port: int = _option(8080, "Port the proxy listens on; 0 takes a free one.", high=65535, flag=True)
    dashboard_host: str = _option("127.0.0.1", "Address of the dashboard, /metrics and the health checks.", flag=True)
    dashboard_port: int = _option(8081, "Port of the dashboard; 0 takes a free one.", high=65535, flag=True)
    dashboard_hosts: Text = _option(
        (),
        "Host names that the dashboard answers to, besides localhost and the address it listens on. Any other is "
        "refused, so that no web page can reach it under a name of its own.",
    )
    dashboard_frame_port: int = _option(
        0,
        "Port at which the dashboard shows stored pages, in frames without scripts; 0 takes the one after the "
        "dashboard's.",
        high=65535,
    )
    confdir: str = _option(
        "~/.mitmproxy",
        "Directory of the certificate authority, made at the first start; mitmproxy's own, so that one CA serves both.",
        flag=True,
    )
    max_body_bytes: int = _option(
        32 * _MiB,
        "Larger bodies pass through the proxy untouched and are not kept; the cap of a decoded body too.",
    )
    max_decoded_ratio: int = _option(
        1000,
        "A body that decodes to more than this many times its bytes is kept undecoded, as it came.",
        low=1,
    )
    max_record_bytes: int = _option(
        128 * _MiB,
        "At import larger records and files are passed over and named; the cap of a decoded body there. A page takes "
        "some ten times its size in memory while it is stored.",
        low=1,
    )
    memory_bytes: int = _option(128 * _MiB, "Memory for hot pages, answered without the database.")
    queue_bytes: int = _option(
        64 * _MiB, "Bodies that may wait for the writer; beyond it pages pass and the loss is counted."
    )
    queue_entries: int = _option(10_000, "Captures that may wait for the writer.", low=1)
    max_store_bytes: int = _option(
        0,
        "What the store may occupy on disk: the pages not used for longest go first. 0: no limit.",
    )
    high_water: float = _option(0.9, "Share of max_store_bytes at which room is made.", high=1)
    low_water: float = _option(
        0.75, "Share of max_store_bytes, and of max_site_bytes, down to which it is made.", high=1
    )
    max_site_bytes: int = _option(0, "What the packs of one site may occupy; 0: no limit.")
    max_age_days: float = _option(0.0, "Captures received longer ago are deleted; 0: never.")
    compact_idle_seconds: float = _option(
        30.0,
        "How long nothing must have been kept before sites with many small packs are compacted in the background; "
        "0: never.",
    )
    serve_private: bool = _option(
        False,
        "Answer clients with captures that a shared cache may not keep (record and replay keep them). For a proxy "
        "that one person uses.",
    )
    allow_open: bool = _option(
        False,
        "Listen beyond this machine without a password. Otherwise mitmproxy's option proxyauth is needed for that.",
    )
    allow_private: bool = _option(
        False,
        "When listening beyond this machine, let clients reach private networks and this machine through the proxy.",
    )
    via: bool = _option(False, "Name the proxy in Via, in requests and in answers.")
    heuristic_fraction: float = _option(
        0.1,
        "Share of the time since Last-Modified for which an answer without a lifetime counts as fresh.",
        high=1,
    )
    heuristic_max_seconds: int = _option(86_400, "Longest lifetime found that way, in seconds.")
    cookies_ignored: Text = _option(
        (),
        "Names of request cookies that are no login; * matches any characters. Any other cookie may be one.",
    )
    never_cache: Text = _option((), "Hosts whose answers are never kept or reused; *.example.org matches subdomains.")
    targeted_cache_control: Text = _option(
        (),
        "Header fields heeded before Cache-Control, first one found (RFC 9213), for example CDN-Cache-Control.",
    )
    drop_parameters: Text = _option(
        (), "Query parameters that do not tell pages apart, for example utm_*; * matches any characters."
    )
    sort_query: bool = _option(False, "Treat URLs whose query parameters differ in order only as one page.")
    collapse_seconds: float = _option(
        30.0, "How long a request waits for an equal one that is already under way; 0 never waits."
    )
    mitmproxy: Mapping[str, str] = _option(
        {}, "mitmproxy's own options, as name: value, for example ignore_hosts or ssl_insecure."
    )

    def __post_init__(self) -> None:
        for spec in fields(self):
            object.__setattr__(self, spec.name, coerce(spec, getattr(self, spec.name), spec.name))
        if not self.store:
            object.__setattr__(self, "store", default_store())


NO_SETTINGS = frozenset({"config", "traceback", "corpora"})
"""Variables with our prefix that are no settings: which file to read, how to fail, where the tests find pages."""

SPECS: Mapping[str, Field[Any]] = {spec.name: spec for spec in fields(Settings)}
_TYPES = get_type_hints(Settings)


def default_of(spec: Field[Any]) -> Any:
    """Return the declared default of a setting."""
    return spec.default_factory() if spec.default_factory is not MISSING else spec.default


def data_directory() -> Path:
    """Return the directory for our data, $XDG_DATA_HOME/pagemason."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "pagemason"


def config_directory() -> Path:
    """Return the directory for our configuration, $XDG_CONFIG_HOME/pagemason."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "pagemason"


def default_store() -> str:
    """Return the URL of the store used when none is named."""
    return f"sqlite:///{data_directory() / 'pagemason.db'}"


def rules_file(settings: Settings) -> Path:
    """Return where the rules for hosts are."""
    return Path(settings.rules).expanduser() if settings.rules else config_directory() / "rules.yaml"


def coerce(spec: Field[Any], value: Any, named: str) -> Any:
    """Return a value, or a text that spells one, as the setting's type. SettingError begins with `named`."""
    kind = _TYPES[spec.name]
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
