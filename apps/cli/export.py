"""pagemason export"""

from pathlib import Path

import click

from apps.cli.common import opened, progress, with_settings
from settings import Settings


@click.command()
@click.argument("file", metavar="FILE.warc.gz", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("pattern", default="*")
@click.option("--revisit", is_flag=True, help="Write a body that the site has brought before as a revisit record.")
@with_settings("store")
def command(file: Path, pattern: str, revisit: bool, settings: Settings) -> None:
    """Write the captures whose URL matches PATTERN to a WARC file.

    Bodies are written decoded, with Content-Encoding and Transfer-Encoding renamed X-Archive-Orig-*. The file
    appears when it is complete.
    """
    import time

    from apps.cli.version import version
    from apps.warc.writing import write_warc

    with opened(settings, read_only=True) as store, progress("exporting", None) as bar:
        n = write_warc(
            file,
            (store.read(record) for record in store.captures(pattern)),
            software=f"pagemason/{version()}",
            now=time.time_ns() // 1000,
            revisit=revisit,
            written=lambda n: bar(n, f"{n} captures"),
        )
    click.echo(f"{n} captures written to {file}")
