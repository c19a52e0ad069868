"""pagemason import"""

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from apps.cli.common import human, json_option, notes_printed, opened, print_json, progress, with_settings
from settings import Settings
from store.base import Store

if TYPE_CHECKING:
    from apps.warc.importing import Tally


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@with_settings("store")
@json_option
def command(paths: tuple[Path, ...], settings: Settings, as_json: bool) -> int:
    """Keep what WARC files (.warc, .warc.gz), HAR files and folders of HTML hold.

    Prints how many captures are acknowledged, that is, safe whatever happens next, each time there are more.
    Captures that the store has already are skipped. The exit code is 1 when something could not be read.
    """
    from apps.warc.importing import import_entries
    from apps.warc.messages import Limits
    from apps.warc.sources import Position, entries, size_of

    start = time.monotonic()
    position = Position(size_of(paths))
    limits = Limits(settings.max_record_bytes, settings.max_decoded_ratio)
    with ExitStack() as stack:
        bar = stack.enter_context(progress("importing", position.total))
        report = _Report(as_json)
        notes = stack.enter_context(notes_printed())

        def committed(tally: "Tally") -> None:
            bar(position.done, f"{tally.captures} captures")
            report.committed(tally)

        stores: list[Store] = []

        def store() -> Store:
            if not stores:
                stores.append(stack.enter_context(opened(settings, create=True)))
            return stores[0]

        tally = import_entries(entries(paths, limits, position), store, committed=committed, noted=notes)
    seconds = time.monotonic() - start
    if as_json:
        print_json({"captures": tally.captures, "skipped": tally.skipped, "seconds": round(seconds, 3)})
    else:
        speed = human(position.total / seconds if seconds else 0)
        click.echo(f"{tally.captures} captures kept, {tally.skipped} skipped, {seconds:.1f} s ({speed}/s of files)")
    return 1 if tally.damaged else 0


class _Report:
    """Prints the count of what is acknowledged: to standard output, beside JSON to standard error; not on a terminal,
    which has the progress bar."""

    def __init__(self, as_json: bool) -> None:
        self._stream = sys.stderr if as_json else sys.stdout
        self._acknowledged = 0

    def committed(self, tally: "Tally") -> None:
        if tally.captures > self._acknowledged and not self._stream.isatty():
            print(f"{tally.captures} acknowledged", file=self._stream, flush=True)
        self._acknowledged = tally.captures
