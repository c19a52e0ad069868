"""pagemason ls"""

import json
from typing import Any

import click

from apps.cli.common import json_option, opened, printable, with_settings
from settings import Settings
from store.base import Record


@click.command()
@click.argument("pattern", default="*")
@with_settings("store")
@json_option
def command(pattern: str, settings: Settings, as_json: bool) -> None:
    """List captures: time, status, bytes, URL.

    In PATTERN, * stands for any characters; without one it is a URL. By site, URL and time.
    """
    with opened(settings, read_only=True) as store:
        if not as_json:
            for record in store.captures(pattern):
                click.echo(_line(record))
            return
        before = "[\n"
        for record in store.captures(pattern):
            click.echo(before + json.dumps(_row(record)), nl=False)
            before = ",\n"
        click.echo("\n]" if before == ",\n" else "[]")


def _line(record: Record) -> str:
    from apps.warc.dates import format_date

    capture = record.capture
    private = " (private)" if capture.private else ""
    return f"{format_date(capture.time):27} {capture.status:3} {record.size:9} {printable(capture.url)}{private}"


def _row(record: Record) -> dict[str, Any]:
    from apps.warc.dates import format_date

    capture = record.capture
    return {
        "url": capture.url,
        "time": format_date(capture.time),
        "status": capture.status,
        "size": record.size,
        "type": capture.header("Content-Type").decode("latin-1"),
        "private": capture.private,
        "record_id": capture.record_id,
        "digest": record.digest.hex(),
    }
