"""pagemason similar"""

from typing import TYPE_CHECKING, Any

import click

from apps.cli.common import find_capture, json_option, opened, print_json, printable, table, with_settings
from blocks.site import site_of
from settings import Settings

if TYPE_CHECKING:
    from blocks.model import Capture
    from store.duplicates import NearDuplicate


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
    from store.duplicates import near_duplicates

    with opened(settings, read_only=True) as store:
        record = find_capture(store, url, at)
        found = near_duplicates(store, record, content_blocks)
    shown = found.found[:limit]
    if as_json:
        rows = [_row(near, settings) for near in shown]
        about = {"url": record.capture.url, "time": format_date(record.capture.time), "blocks": found.n_blocks}
        print_json({**about, "unread": found.n_unread, "similar": rows})
        return
    url = printable(record.capture.url)
    click.echo(f"{url}: {found.n_blocks} content blocks of 40 words or more, {len(found.found)} pages with one of them")
    if shown:
        head = ("resemblance", "blocks", "site", "time", "url")
        cells = [tuple(str(cell) for cell in _row(near, settings).values()) for near in shown]
        for line in table([head, *(tuple(map(printable, cell)) for cell in cells)], right={0, 1}):
            click.echo(line)
    if found.n_unread:
        click.echo(f"{found.n_unread} more captures were not looked at; `pagemason compact` makes looking cheap")


def _row(near: "NearDuplicate", settings: Settings) -> dict[str, Any]:
    """Return what is shown of one page, in the order of the columns."""
    from apps.warc.dates import format_date

    capture = near.record.capture
    site = site_of(capture.url, settings.site_of)
    where = {"site": site, "time": format_date(capture.time), "url": capture.url}
    return {"resemblance": round(near.resemblance, 4), "shared_blocks": near.n_shared, **where}


def content_blocks(capture: "Capture") -> list[bytes]:
    """Return the content blocks of a page by the default method; all blocks when it finds none."""
    from extract.protocol import page_of
    from extract.registry import DEFAULT_METHOD, extractor

    made = extractor(DEFAULT_METHOD)
    page = page_of(capture.url, capture.body, capture.header("content-type"))
    flags = made.extract(page, made.prepare(())).flags
    chosen = [piece for piece, content in zip(page.pieces, flags, strict=True) if content]
    return chosen or page.pieces
