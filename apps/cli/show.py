"""pagemason show"""

from collections.abc import Mapping
from typing import Any

import click

from apps.cli.blocks import Placed, blocks_of, excerpt
from apps.cli.common import find_capture, json_option, opened, print_json, printable, table, with_settings
from blocks.model import Capture
from blocks.site import site_of
from settings import Settings
from store.base import Record, Store

MAX_CAPTURES = 1000
"""Captures of the site that are read to see where a block stands; of more, this many spread evenly."""


@click.command()
@click.argument("url")
@click.option("--at", metavar="TIME", help="The newest capture received at or before this time.  [default: now]")
@with_settings("store")
@json_option
def command(url: str, at: str | None, settings: Settings, as_json: bool) -> None:
    """Show the blocks of a page: where they begin, their size, on how many pages of the site they stand."""
    with opened(settings, read_only=True) as store:
        capture = store.read(find_capture(store, url, at))
        blocks = blocks_of(capture)
        records = _of_site(store, capture, settings.site_of)
        pages = _document_frequency(store, blocks, records[:: -(-len(records) // MAX_CAPTURES) or 1])
    n_pages = len({record.capture.url for record in records})
    if as_json:
        print_json(_document(capture, blocks, pages, n_pages))
        return
    click.echo(
        f"{printable(capture.url)}: {len(blocks)} blocks, {len(capture.body)} bytes; {n_pages} pages on this site"
    )
    head = ("block", "offset", "bytes", "pages", "tag", "begins")
    rows = [
        (str(n), str(block.offset), str(len(block.data)), str(pages[block.data]), block.tag, excerpt(block.data))
        for n, block in enumerate(blocks)
    ]
    for line in table([head, *rows], right={0, 1, 2, 3}):
        click.echo(line)


def _of_site(store: Store, capture: Capture, sites: Mapping[str, str]) -> list[Record]:
    site = site_of(capture.url, sites)
    return [record for record in store.captures() if site_of(record.capture.url, sites) == site]


def _document_frequency(store: Store, blocks: list[Placed], records: list[Record]) -> dict[bytes, int]:
    """Return for each block on how many distinct pages (URLs) it stands: at least 1, on its own."""
    urls: dict[bytes, set[str]] = {block.data: set() for block in blocks}
    for record in records:
        for block in blocks_of(store.read(record)):
            if block.data in urls:
                urls[block.data].add(record.capture.url)
    return {data: max(1, len(found)) for data, found in urls.items()}


def _document(capture: Capture, blocks: list[Placed], pages: Mapping[bytes, int], n_pages: int) -> dict[str, Any]:
    from apps.warc.dates import format_date

    rows = [
        {
            "number": n,
            "offset": block.offset,
            "size": len(block.data),
            "tag": block.tag,
            "pages": pages[block.data],
            "similar": None,
            "begins": excerpt(block.data),
        }
        for n, block in enumerate(blocks)
    ]
    return {
        "url": capture.url,
        "time": format_date(capture.time),
        "status": capture.status,
        "size": len(capture.body),
        "site_pages": n_pages,
        "blocks": rows,
    }
