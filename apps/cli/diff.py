"""pagemason diff"""

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from apps.cli.common import Failure, find_capture, json_option, opened, print_json, printable, with_settings
from settings import Settings
from store.base import Record, Store

if TYPE_CHECKING:
    from apps.site_blocks import Placed


@click.command()
@click.argument("url")
@click.option("--from", "earlier", metavar="TIME", help="The capture of this time.  [default: the one before --to]")
@click.option("--to", "later", metavar="TIME", help="The capture of this time.  [default: the newest]")
@with_settings("store")
@json_option
def command(url: str, earlier: str | None, later: str | None, settings: Settings, as_json: bool) -> None:
    """Show which blocks of a page went and came between two captures.

    A time stands for the newest capture received at or before it.
    """
    from apps.site_blocks import blocks_of, excerpt
    from apps.warc.dates import format_date

    with opened(settings, read_only=True) as store:
        new = find_capture(store, url, later, "--to")
        old = _before(store, new) if earlier is None else find_capture(store, url, earlier, "--from")
        before, after = blocks_of(store.read(old)), blocks_of(store.read(new))
    gone, come = _missing(before, after), _missing(after, before)
    times = format_date(old.capture.time), format_date(new.capture.time)
    if as_json:
        rows = {"same": len(after) - len(come), "removed": _rows(gone), "added": _rows(come)}
        print_json({"url": new.capture.url, "from": times[0], "to": times[1], **rows})
        return
    click.echo(f"{printable(new.capture.url)}: {times[0]} to {times[1]}, {len(after) - len(come)} blocks the same")
    for sign, blocks in (("-", gone), ("+", come)):
        for block in blocks:
            click.echo(f"{sign} {block.offset:8} {len(block.data):7}  {excerpt(block.data, 80)}")


def _before(store: Store, newer: Record) -> Record:
    records = store.find(newer.capture.url, before=newer.capture.time, limit=2)
    if len(records) < 2:
        raise Failure(f"{newer.capture.url}: there is no capture before this one")
    return records[1]


def _missing(blocks: "list[Placed]", others: "list[Placed]") -> "list[Placed]":
    """Return the blocks that have no equal among the others, one for one, in order."""
    left = Counter(block.data for block in others)
    missing = []
    for block in blocks:
        if left[block.data]:
            left[block.data] -= 1
        else:
            missing.append(block)
    return missing


def _rows(blocks: "list[Placed]") -> list[dict[str, Any]]:
    from apps.site_blocks import excerpt

    return [
        {"offset": block.offset, "size": len(block.data), "tag": block.tag, "begins": excerpt(block.data, 80)}
        for block in blocks
    ]
