"""pagemason export"""

from collections.abc import Iterator
from pathlib import Path

import click

from apps.cli.common import MAX_TIME, MIN_TIME, Failure, opened, progress, time_option, with_settings
from blocks.model import Capture
from settings import Settings
from store.base import Store


@click.command()
@click.argument("file", metavar="FILE.warc.gz", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("pattern", default="*")
@click.option("--revisit", is_flag=True, help="Write a body that the site has brought before as a revisit record.")
@click.option("--from", "first", metavar="TIME", help="Only captures received at or after this time.")
@click.option("--to", "last", metavar="TIME", help="Only captures received at or before this time.")
@with_settings("store")
def command(file: Path, pattern: str, revisit: bool, first: str | None, last: str | None, settings: Settings) -> None:
    """Write the captures whose URL matches PATTERN to a WARC file.

    Bodies are written decoded, with Content-Encoding and Transfer-Encoding renamed X-Archive-Orig-*. The file
    appears when it is complete, and not when nothing matches.
    """
    import time

    from apps.cli.version import version
    from apps.warc.writing import write_warc

    times = time_option(first, "--from", MIN_TIME), time_option(last, "--to", MAX_TIME)
    with opened(settings, read_only=True) as store, progress("exporting", None) as bar:
        n = write_warc(
            file,
            _some(store, pattern, *times),
            software=f"pagemason/{version()}",
            now=time.time_ns() // 1000,
            revisit=revisit,
            written=lambda n: bar(n, f"{n} captures"),
        )
    click.echo(f"{n} captures written to {file}")


def _some(store: Store, pattern: str, first: int, last: int) -> Iterator[Capture]:
    """Yield the captures of a time. Failure when there is none: the file that is there is not replaced by nothing."""
    none = True
    for record in store.captures(pattern):
        if first <= record.capture.time <= last:
            none = False
            yield store.read(record)
    if none:
        raise Failure(f"{pattern}: no capture matches")
