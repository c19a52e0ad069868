"""pagemason gc"""

import click

from apps.cli.common import dry_run_option, opened, with_settings
from apps.cli.compact import print_plan
from settings import Settings


@click.command("gc")
@with_settings("store")
@dry_run_option
def command(settings: Settings, dry_run: bool) -> None:
    """Drop what no capture needs any more."""
    with opened(settings) as store:
        print_plan(store.collect(dry_run=dry_run), dry_run)
