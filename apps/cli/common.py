"""What commands share: options from Settings, the store, output."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from settings import SPECS, Settings, default_of, default_store, load
from store.base import Record, Store

Command = Callable[..., Any]

MOST_NOTES = 200

UNERASED = "bytes of purged pages may still be in the files of the database's tables"

MIN_TIME, MAX_TIME = -(1 << 62), 1 << 62
"""Before and after every capture, in microseconds."""


class Failure(click.ClickException):
    """The command could not do what was asked; the message is one sentence. Exit code 1."""


def with_settings(*flags: str) -> Callable[[Command], Command]:
    """Add --config and a flag for each setting named; the command is given `settings` in their place."""

    def decorate(command: Command) -> Command:
        def call(*args: Any, config: Path | None, **given: Any) -> Any:
            chosen = {name: given.pop(name) for name in flags}
            settings = _load(config, chosen, given.pop("assignments", ()))
            return command(*args, settings=settings, **given)

        call.__doc__ = command.__doc__
        call.__name__ = command.__name__
        call.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
        for name in reversed(flags):
            call = _flag(name)(call)
        path = click.Path(path_type=Path)
        return click.option("--config", type=path, metavar="FILE", help="Read settings from this file.")(call)

    return decorate


def _load(config: Path | None, chosen: Mapping[str, Any], assignments: tuple[str, ...]) -> Settings:
    if not assignments:
        return load(config, flags=chosen)
    from proxy.master import option_names

    return load(config, flags=chosen, assignments=assignments, mitmproxy_options=option_names())


def _flag(name: str) -> Callable[[Command], Command]:
    spec = SPECS[name]
    choices = spec.metadata["choices"]
    metavar = (
        "|".join(choices) if choices else {"store": "URL", "proxy_mode": "MODE"}.get(name, name.split("_")[-1].upper())
    )
    default = default_of(spec)
    shown = f"  [default: {default}]" if default != "" else ""
    return click.option(f"--{name.replace('_', '-')}", name, metavar=metavar, help=spec.metadata["help"] + shown)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
jobs_option = click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Worker processes.  [default: one a core]"
)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def opened(settings: Settings, *, create: bool = False, read_only: bool = False) -> Iterator[Store]:
    """Give the store that the settings name, and let go of it afterwards."""
    from store.opening import open_store

    if create and settings.store == default_store():
        Path(settings.store.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    store = open_store(settings.store, create=create, read_only=read_only, sites=settings.site_of)
    try:
        yield store
    finally:
        store.close()


def time_option(value: str | None, name: str, default: int = 0) -> int:
    """Return the time that an option names in microseconds, `default` when it was not given."""
    from apps.warc.dates import parse_date

    if value is None:
        return default
    if (time := parse_date(value)) is None:
        raise click.BadParameter(f"{value!r} is no time, such as 2024-05-06T07:08:09Z", param_hint=f"'{name}'")
    return time


def find_capture(store: Store, url: str, at: str | None = None, option: str = "--at") -> Record:
    """Return the newest capture of a URL, received at or before `at` if given; `option` is what names that time.
    Failure when there is none."""
    before = None if at is None else time_option(at, option)
    for name in spellings(url):
        for record in store.find(name, before=before, limit=1):
            return record
    raise Failure(f"{url}: not in the store" + (f" at {at}" if at and store.find(url, limit=1) else ""))


def spellings(url: str) -> Iterator[str]:
    """Yield the URLs under which a page may be kept that people call by this one: without a path it means the root,
    and what follows # is never sent.

    >>> list(spellings("http://a.test"))
    ['http://a.test', 'http://a.test/']
    >>> list(spellings("http://a.test/b#c"))
    ['http://a.test/b#c', 'http://a.test/b']
    """
    yield url
    bare = url.partition("#")[0]
    if bare.count("/") == 2:
        bare += "/"
    if bare != url:
        yield bare


def print_json(value: Any) -> None:
    """Print a value as one JSON document."""
    click.echo(json.dumps(value, indent=2))


def printable(text: str) -> str:
    """Return text without the characters that would steer a terminal: stored URLs are anybody's."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def human(n_bytes: float) -> str:
    """Return a size for people.

    >>> human(52_400_000)
    '52.4 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if abs(n_bytes) < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} TB"


def table(rows: list[tuple[str, ...]], right: frozenset[int] | set[int] = frozenset()) -> Iterator[str]:
    """Yield the lines of a table, the first row its head; columns in `right` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


@contextmanager
def notes_printed() -> Iterator[Callable[[object], None]]:
    """Give a function that prints a note about what was read to standard error; the first MOST_NOTES of them."""
    n = 0

    def note(what: object) -> None:
        nonlocal n
        n += 1
        if n <= MOST_NOTES:
            print("pagemason:", printable(str(what)), file=sys.stderr, flush=True)

    yield note
    if n > MOST_NOTES:
        print(f"pagemason: and {n - MOST_NOTES} more of this kind", file=sys.stderr)


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int, str], None]]:
    """Show a progress bar on standard error while the context lasts, on a terminal only. The function given is
    told how much of `total` is done, and a word to show."""
    if not sys.stderr.isatty():
        yield lambda done, word: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, word: bar.update(task, completed=done, description=f"{what} {word}")
