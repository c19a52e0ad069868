"""pagemason compact"""

import click

from apps.cli.common import cores, dry_run_option, human, jobs_option, opened, with_settings
from settings import Settings
from store.base import Plan


@click.command()
@with_settings("store")
@dry_run_option
@jobs_option
def command(settings: Settings, dry_run: bool, jobs: int | None) -> None:
    """Rewrite small packs into large, strongly compressed ones."""
    with opened(settings) as store:
        print_plan(store.compact(dry_run=dry_run, jobs=jobs or cores()), dry_run)


def print_plan(plan: Plan, dry_run: bool) -> None:
    """Print what a clean-up did, or would do."""
    for note in plan.notes:
        click.echo(note)
    would = "would be " if dry_run else ""
    sizes = f"{human(plan.bytes_before)} before, {human(plan.bytes_after)} after"
    click.echo(f"{plan.rewrite} packs {would}rewritten, {plan.drop} dropped; {sizes}")
