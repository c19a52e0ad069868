"""pagemason similar"""

import click

from apps.cli.common import find_capture, json_option, opened, print_json, printable, table, with_settings
from settings import Settings


@click.command()
@click.argument("url")
@click.option("--at", metavar="TIME", help="The newest capture received at or before this time.  [default: now]")
@click.option("--limit", type=click.IntRange(1), default=20, metavar="N", show_default=True, help="Show so many.")
@with_settings("store")
@json_option
def command(url: str, at: str | None, limit: int, settings: Settings, as_json: bool) -> None:
    """Show which stored pages, on all sites, have the same content blocks of 40 words or more as a page.

    For each, how many of these blocks it has, and the resemblance of both pages' long content blocks: the share of
    their shingles of three words that both have. Of each page one capture is named; what is private is left out.
    """
    from apps.warc.dates import format_date
    from proxy.views.similar import near_duplicates_by_content, rows_of

    with opened(settings, read_only=True) as store:
        record = find_capture(store, url, at)
        found = near_duplicates_by_content(store, store.read(record))
    rows = list(rows_of(found, settings.site_of))
    shown = rows[:limit]
    if as_json:
        about = {"url": record.capture.url, "time": format_date(record.capture.time), "blocks": found.n_blocks}
        print_json({**about, "unread": found.n_unread, "similar": shown})
        return
    url = printable(record.capture.url)
    click.echo(f"{url}: {found.n_blocks} content blocks of 40 words or more, {len(rows)} pages with one of them")
    if shown:
        head = ("resemblance", "blocks", "site", "time", "url")
        cells = [tuple(str(cell) for cell in row.values()) for row in shown]
        for line in table([head, *(tuple(map(printable, cell)) for cell in cells)], right={0, 1}):
            click.echo(line)
    if found.n_unread:
        click.echo(f"{found.n_unread} more captures were not looked at; `pagemason compact` makes looking cheap")
