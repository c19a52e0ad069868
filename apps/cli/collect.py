"""pagemason gc"""

import time

import click

from apps.cli.common import dry_run_option, opened, with_settings
from apps.cli.compact import print_plan
from proxy.upkeep import budget_of
from settings import Settings


@click.command("gc")
@with_settings("store")
@click.option(
    "--erase",
    is_flag=True,
    help="Write the tables of a PostgreSQL store anew, so that nothing of purged "
    "pages is left in its files. All others wait, and the disk needs as much room again.",
)
@dry_run_option
def command(settings: Settings, erase: bool, dry_run: bool) -> None:
    """Drop what no capture needs any more, and captures until the store is within its limits.

    The limits are the settings max_store_bytes, max_site_bytes and max_age_days.
    """
    with opened(settings) as store:
        if budget := budget_of(settings):
            print_plan(store.evict(budget, int(time.time()), dry_run=dry_run), dry_run)
        print_plan(store.collect(dry_run=dry_run), dry_run)
        if erase and not dry_run:
            store.erase()
