"""pagemason check"""

from typing import Any

import click

from apps.cli.common import json_option, opened, print_json, printable, with_settings
from settings import Settings
from store.base import Finding


@click.command()
@click.option("--repair", is_flag=True, help="Drop what is lost and keep the rest.")
@with_settings("store")
@json_option
def command(repair: bool, settings: Settings, as_json: bool) -> int:
    """Read everything again and name what is damaged. The exit code is 1 when anything is."""
    with opened(settings, read_only=not repair) as store:
        n_captures, findings = store.check(repair=repair)
    if as_json:
        print_json({"captures": n_captures, "damaged": [row for finding in findings for row in _rows(finding)]})
    else:
        for finding in findings:
            click.echo(printable(finding.what))
        n_damaged = len({number for finding in findings for number in finding.ids})
        click.echo(f"{n_captures} captures, {n_damaged} damaged" if findings else f"{n_captures} captures, all sound")
    return 1 if findings else 0


def _rows(finding: Finding) -> list[dict[str, Any]]:
    """Return a finding as rows, one for each capture it damages; one without a URL when it damages none."""
    if not finding.urls:
        return [{"url": None, "what": finding.what}]
    return [{"url": url, "what": finding.what} for url in finding.urls]
