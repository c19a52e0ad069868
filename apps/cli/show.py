"""pagemason show"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from apps.cli.common import find_capture, json_option, opened, print_json, printable, table, with_settings
from blocks.site import site_of
from settings import Settings
from store.base import Record, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.site_blocks import SiteBlocks
    from blocks.model import Capture


@click.command()
@click.argument("url")
@click.option("--at", metavar="TIME", help="The newest capture received at or before this time.  [default: now]")
@with_settings("store")
@json_option
def command(url: str, at: str | None, settings: Settings, as_json: bool) -> None:
    """Show the blocks of a page: where they begin, their size, on how many pages of the site they stand, which other
    block of the site each resembles (cosine above 0.9), and whether they are content.

    Of a site with more than 1000 captures so many are read, spread evenly.
    """
    with opened(settings, read_only=True) as store:
        record = find_capture(store, url, at)
        capture = store.read(record)
        site = _site(store, site_of(capture.url, settings.site_of), record)
        content = _content(store, capture, settings)
    rows = _rows(capture, site, content)
    if as_json:
        from apps.warc.dates import format_date

        about = {"url": capture.url, "time": format_date(capture.time), "status": capture.status}
        print_json({**about, "size": len(capture.body), "site_pages": len(site.urls), "blocks": rows})
        return
    click.echo(
        f"{printable(capture.url)}: {len(rows)} blocks, {len(capture.body)} bytes; {len(site.urls)} pages on this site"
    )
    head = ("block", "offset", "bytes", "pages", "cosine", "content", "tag", "begins")
    cells = [tuple(str(row[key]) for key in ("number", "offset", "size", "pages")) for row in rows]
    cosines = [f"{row['similar']['cosine']:.2f}" if row["similar"] else "" for row in rows]
    ends = [("yes" if row["content"] else "", row["tag"], row["begins"]) for row in rows]
    lines = [(*cell, cosine, *end) for cell, cosine, end in zip(cells, cosines, ends, strict=True)]
    for line in table([head, *lines], right={0, 1, 2, 3, 4}):
        click.echo(line)


def _site(store: Store, name: str, shown: Record) -> "SiteBlocks":
    """Count the blocks of a site; the capture shown is among those that are read."""
    from apps.site_blocks import SiteBlocks, spread

    records = store.of_site(name)
    chosen = {shown.id, *(record.id for record in spread(records))}
    site = SiteBlocks(name)
    for record in records:
        if record.id in chosen:
            site.add(record, store.read(record))
    return site


def _content(store: Store, capture: "Capture", settings: Settings) -> "Sequence[bool | None]":
    """Return which blocks of a page are content; None for each where no method can tell."""
    from apps.site_blocks import blocks_of
    from apps.viewing import extraction_of
    from extract.protocol import NeedsEvidence
    from store.packing.kinds import is_page

    if is_page(capture) and capture.body:
        with suppress(NeedsEvidence):
            return extraction_of(store, capture, settings).flags
    return [None] * len(blocks_of(capture))


def _rows(capture: "Capture", site: "SiteBlocks", content: "Sequence[bool | None]") -> list[dict[str, Any]]:
    """Return what is known of a page's blocks, in order."""
    from apps.site_blocks import blocks_of, excerpt

    return [
        {
            "number": n,
            "offset": block.offset,
            "size": len(block.data),
            "tag": block.tag,
            "pages": len(known.pages) if (known := site.of(block.data)) else 1,
            "similar": _similar(site, block.data),
            "content": judged,
            "begins": excerpt(block.data),
        }
        for n, (block, judged) in enumerate(zip(blocks_of(capture), content, strict=True))
    ]


def _similar(site: "SiteBlocks", block: bytes) -> dict[str, Any] | None:
    """Return where the most similar other block stands first, and its cosine."""
    from apps.warc.dates import format_date

    known = site.of(block)
    found = site.similar(known) if known else None
    if found is None:
        return None
    other, cosine = found
    number, offset = other.place
    capture = site.records[number].capture
    return {"url": capture.url, "time": format_date(capture.time), "offset": offset, "cosine": round(cosine, 4)}
