"""The settings: what there is to choose, from what, and what each means."""

import os
from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

from settings.values import Text, typed

_MiB = 1 << 20


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
        64 * _MiB,
        "Bodies that may wait for the writer, and as many again that are collected on their way to a client; beyond it "
        "pages pass and the loss is counted.",
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
    return typed(spec, _TYPES[spec.name], value, named)
