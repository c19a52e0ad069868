"""pagemason analyze"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from apps.cli.common import human, json_option, notes_printed, print_json, printable, progress, table, with_settings
from blocks.model import Capture
from settings import Settings

if TYPE_CHECKING:
    from apps.analyzing import Amount


@click.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE")
@with_settings()
@json_option
def command(path: Path, settings: Settings, as_json: bool) -> int:
    """Say what a WARC file would take in the store, and store nothing.

    original: decoded bodies. exact: identical bodies once. block: uncompressed bytes of the distinct blocks, and
    recipes. packed: compressed as on arrival, with what a row costs; `compact` takes it down further.
    """
    from apps.analyzing import Amount, Analysis
    from apps.warc.entries import Kind, Note
    from apps.warc.messages import Limits
    from apps.warc.sources import Position, entries, size_of

    limits = Limits(settings.max_record_bytes, settings.max_decoded_ratio)
    position = Position(size_of([path]))
    analysis = Analysis(settings.site_of)
    skipped = damaged = 0
    with progress("analyzing", position.total) as bar, notes_printed() as note:
        for entry in entries([path], limits, position):
            if isinstance(entry, Capture):
                analysis.add(entry)
            else:
                skipped += 1
            if isinstance(entry, Note):
                note(entry)
                damaged += entry.kind is Kind.DAMAGED
            bar(position.done, "")
    sites = analysis.finish()
    total = Amount()
    for amount in sites.values():
        total.add(amount)
    if as_json:
        rows = [{"site": site, **_figures(amount)} for site, amount in sorted(sites.items())]
        print_json({**_figures(total), "skipped": skipped, "by_site": rows})
        return 1 if damaged else 0
    head = ("site", "captures", "original", "exact", "block", "packed", "saved")
    rows_shown = [_row(printable(site) or "(none)", amount) for site, amount in sorted(sites.items())]
    for line in table([head, *rows_shown, _row("total", total)], right=set(range(1, len(head)))):
        click.echo(line)
    if skipped:
        click.echo(f"{skipped} other records passed over")
    return 1 if damaged else 0


def _figures(amount: "Amount") -> dict[str, Any]:
    figures = {name: getattr(amount, name) for name in ("original", "exact", "block", "packed")}
    return {"captures": amount.captures, "bytes": figures}


def _row(name: str, amount: "Amount") -> tuple[str, ...]:
    saved = f"{1 - amount.packed / amount.original:.0%}" if amount.original else "-"
    sizes = (amount.original, amount.exact, amount.block, amount.packed)
    return (name, f"{amount.captures:,}", *map(human, sizes), saved)
