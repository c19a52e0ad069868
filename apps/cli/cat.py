"""pagemason cat"""

import sys

import click

from apps.cli.common import find_capture, opened, with_settings
from settings import Settings


@click.command()
@click.argument("url")
@click.option("--at", metavar="TIME", help="The newest capture received at or before this time.  [default: now]")
@click.option("--view", type=click.Choice(["full"]), default="full", help="The page as it came.")
@click.option("--format", "form", type=click.Choice(["html"]), default="html", help="The body as it is.")
@with_settings("store")
def command(url: str, at: str | None, view: str, form: str, settings: Settings) -> None:
    """Write a page's body to standard output, and nothing else."""
    with opened(settings, read_only=True) as store:
        body = store.read(find_capture(store, url, at)).body
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()
