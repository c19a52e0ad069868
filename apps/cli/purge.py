"""pagemason purge"""

import click

from apps.cli.common import UNERASED, Failure, dry_run_option, opened, with_settings
from settings import Settings


@click.command()
@click.argument("pattern")
@with_settings("store")
@dry_run_option
def command(pattern: str, settings: Settings, dry_run: bool) -> None:
    """Delete the captures whose URL matches PATTERN, and every byte that only they use.

    In PATTERN, * stands for any characters; without one it is a URL.
    """
    with opened(settings) as store:
        n = store.purge(pattern, dry_run=dry_run)
        unerased = store.unerased()
    if not n:
        raise Failure(f"{pattern}: no capture matches")
    click.echo(f"{n} captures {'would be deleted' if dry_run else 'deleted'}")
    if unerased and not dry_run:
        click.echo(f"{UNERASED}: pagemason gc --erase writes them anew, and others wait meanwhile", err=True)
