"""pagemason stats"""

from typing import Any

import click

from apps.cli.common import human, json_option, opened, print_json, printable, table, with_settings
from settings import Settings
from store.base import SiteStats, Stats


@click.command()
@with_settings("store")
@json_option
def command(settings: Settings, as_json: bool) -> None:
    """Count captures, pages, blocks and bytes, by site.

    original: decoded bodies of all captures. exact: identical bodies once. block: uncompressed bytes of the
    distinct blocks, differences and recipes. ondisk: what the database occupies, indexes included.
    """
    with opened(settings, read_only=True) as store:
        stats = store.stats()
    if as_json:
        total = {**_counts(stats), "sites": stats.sites}
        keys = ("captures", "pages", "sites", "blocks", "bytes")
        by_site = [{"site": row.site, **_counts(row)} for row in stats.by_site]
        print_json({**{key: total[key] for key in keys}, "by_site": by_site})
        return
    head = ("site", "captures", "pages", "blocks", "original", "exact", "block", "ondisk", "saved")
    rows = [head, *(_row(printable(row.site) or "(none)", row) for row in stats.by_site), _row("total", stats)]
    for line in table(rows, right=set(range(1, len(head)))):
        click.echo(line)


def _counts(row: Stats | SiteStats) -> dict[str, Any]:
    figures = {name: getattr(row.bytes, name) for name in ("original", "exact", "block", "ondisk")}
    return {"captures": row.captures, "pages": row.pages, "blocks": row.blocks, "bytes": figures}


def _row(name: str, row: Stats | SiteStats) -> tuple[str, ...]:
    b = row.bytes
    saved = f"{1 - b.ondisk / b.original:.0%}" if b.original else "-"
    counts = (f"{n:,}" for n in (row.captures, row.pages, row.blocks))
    return (name, *counts, *map(human, (b.original, b.exact, b.block, b.ondisk)), saved)
