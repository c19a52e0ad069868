"""pagemason export"""

from pathlib import Path

import click

from apps.cli.common import MAX_TIME, MIN_TIME, opened, progress, time_option, with_settings
from settings import Settings


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
    appears when it is complete.
    """
    import time

    from apps.cli.version import version
    from apps.warc.writing import write_warc

    times = time_option(first, "--from", MIN_TIME), time_option(last, "--to", MAX_TIME)
    with opened(settings, read_only=True) as store, progress("exporting", None) as bar:
        n = write_warc(
            file,
            (store.read(r) for r in store.captures(pattern) if times[0] <= r.capture.time <= times[1]),
            software=f"pagemason/{version()}",
            now=time.time_ns() // 1000,
            revisit=revisit,
            written=lambda n: bar(n, f"{n} captures"),
        )
    click.echo(f"{n} captures written to {file}")
