"""pagemason doctor"""

import os
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from apps.cli.common import UNERASED, human, json_option, opened, print_json, with_settings
from settings import SPECS, Settings, config_file
from store.base import NotAStore, StoreError

OLDEST_PYTHON = (3, 11)
ENOUGH_BYTES = 1 << 30

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\d.]+)")


@dataclass(frozen=True, slots=True)
class Result:
    """What one look found: `ok`, `warn` (works, but) or `fail` (does not work)."""

    state: str
    what: str
    found: str


@click.command()
@with_settings(*(name for name, spec in SPECS.items() if spec.metadata["flag"]))
@json_option
def command(settings: Settings, as_json: bool) -> int:
    """Look for what could keep Pagemason from working. The exit code is 1 when something does."""
    results = list(_results(settings))
    if as_json:
        print_json([{"state": r.state, "what": r.what, "found": r.found} for r in results])
    else:
        for r in results:
            click.echo(f"{r.state:4}  {r.what:12} {r.found}")
    return 1 if any(r.state == "fail" for r in results) else 0


def _results(settings: Settings) -> Iterator[Result]:
    found = ".".join(map(str, sys.version_info[:3]))
    yield Result("ok" if sys.version_info >= OLDEST_PYTHON else "fail", "python", f"{found}, {sys.executable}")
    yield _packages()
    path = config_file(None)
    yield Result("ok", "config", str(path) if path else "none, all settings at their defaults")
    yield _store(settings)
    yield from _disk(settings)
    yield _port("proxy", settings.listen_host, settings.listen_port, "--listen-port")
    yield _port("dashboard", settings.dashboard_host, settings.dashboard_port, "--dashboard-port")
    yield _certificate(settings)
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    yield Result("ok" if browser else "warn", "chromium", browser or "not found: only tests and measured boxes need it")


def _packages() -> Result:
    """Look for the packages of the base install, as our own metadata names them: `name[extra]>=version`."""
    from importlib.metadata import PackageNotFoundError, requires, version

    try:
        wanted = [match for line in requires("pagemason") or () if (match := _REQUIREMENT.fullmatch(line))]
    except PackageNotFoundError:
        return Result("warn", "packages", "pagemason itself is not installed: this is a bare checkout")
    wrong = []
    for name, least in (match.groups() for match in wanted):
        try:
            if _numbers(has := version(name)) < _numbers(least):
                wrong.append(f"{name}>={least} (is {has})")
        except PackageNotFoundError:
            wrong.append(f"{name}>={least} (missing)")
    if wrong:
        return Result("fail", "packages", "install " + ", ".join(wrong))
    return Result("ok", "packages", f"pagemason {version('pagemason')}, mitmproxy {version('mitmproxy')}")


def _numbers(version: str) -> list[int]:
    """Return the numbers a version begins with: 11, 0, 2 of `11.0.2rc1`."""
    return [int(part) for part in re.findall(r"\d+", re.split(r"[^\d.]", version)[0])]


def _store(settings: Settings) -> Result:
    from apps.cli.init import shown

    try:
        with opened(settings, read_only=True) as store:
            if store.unerased():
                return Result("warn", "store", f"{shown(settings.store)}: {UNERASED}: run pagemason gc --erase")
            return Result("ok", "store", f"{shown(settings.store)}, {store.stats().captures} captures")
    except NotAStore as exc:
        path = _sqlite_path(settings)
        if path is not None and not path.exists():
            return Result("ok", "store", f"{shown(settings.store)}, made at the first start")
        return Result("fail", "store", str(exc))
    except StoreError as exc:
        return Result("fail", "store", str(exc))


def _sqlite_path(settings: Settings) -> Path | None:
    prefix, _, path = settings.store.partition(":///")
    return Path(path) if prefix.startswith("sqlite") else None


def _disk(settings: Settings) -> Iterator[Result]:
    path = _sqlite_path(settings)
    if path is None:
        return
    place = next((parent for parent in path.absolute().parents if parent.exists()), Path("/"))
    free = shutil.disk_usage(place).free
    yield Result("ok" if free > ENOUGH_BYTES else "warn", "disk", f"{human(free)} free at {place}")


def _port(what: str, host: str, port: int, flag: str) -> Result:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host, port), family=family):
            return Result("ok", what, f"{host}:{port} is free")
    except OSError as exc:
        reason = (os.strerror(exc.errno) if exc.errno and exc.errno > 0 else str(exc)).lower()
        return Result("warn", what, f"{host}:{port}: {reason}: running already, or choose another with {flag}")


def _certificate(settings: Settings) -> Result:
    path = Path(settings.confdir).expanduser() / "mitmproxy-ca-cert.pem"
    return Result("ok", "certificate", str(path) if path.exists() else f"{path}, made at the first start")
