"""pagemason analyze"""

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import click

from apps.cli.common import human, json_option, print_json, printable, progress, table, with_settings
from blocks.model import Capture
from blocks.site import site_of
from settings import Settings
from store.building import Builder
from store.known import Known
from store.models import PRIVATE
from store.packs import decode


@dataclass(slots=True)
class Amount:
    """What captures of one site would take: bytes of bodies, of distinct ones, of blocks and recipes, compressed."""

    captures: int = 0
    original: int = 0
    exact: int = 0
    block: int = 0
    packed: int = 0

    def add(self, other: "Amount") -> None:
        """Add another's figures."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


ROW_BYTES = 45
"""What a capture costs in the database beside its pack, about (docs/format.md)."""


@click.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE")
@with_settings()
@json_option
def command(path: Path, settings: Settings, as_json: bool) -> None:
    """Say what a WARC file would take in the store, and store nothing.

    original: decoded bodies. exact: identical bodies once. block: uncompressed bytes of the distinct blocks, and
    recipes. packed: compressed as on arrival, with what a row costs; `compact` takes it down further.
    """
    from apps.warc.messages import Limits
    from apps.warc.sources import Position, entries, size_of

    limits = Limits(settings.max_record_bytes, settings.max_decoded_ratio)
    position = Position(size_of([path]))
    building = _Sites(settings)
    skipped = 0
    with progress("analyzing", position.total) as bar:
        for entry in entries([path], limits, position):
            if isinstance(entry, Capture):
                building.add(entry)
            else:
                skipped += 1
            bar(position.done, "")
    sites = building.finish()
    total = Amount()
    for amount in sites.values():
        total.add(amount)
    if as_json:
        rows = [{"site": site, **_figures(amount)} for site, amount in sorted(sites.items())]
        print_json({**_figures(total), "skipped": skipped, "by_site": rows})
        return
    head = ("site", "captures", "original", "exact", "block", "packed", "saved")
    rows_shown = [_row(printable(site) or "(none)", amount) for site, amount in sorted(sites.items())]
    for line in table([head, *rows_shown, _row("total", total)], right=set(range(1, len(head)))):
        click.echo(line)
    if skipped:
        click.echo(f"{skipped} other records passed over")


class _Sites:
    """Builds packs as the store would, counts them, and lets go of them."""

    def __init__(self, settings: Settings) -> None:
        self._mapping = settings.site_of
        self._builders: dict[str, Builder] = {}
        self._amounts: dict[str, Amount] = {}
        self._bodies: dict[int, bytes] = {}
        """Large bodies that are no pages, as packed: builders do not keep them."""
        self._numbers = count(1)

    def add(self, capture: Capture) -> None:
        site = site_of(capture.url, self._mapping)
        if site not in self._builders:
            self._amounts[site] = Amount()
            self._builders[site] = Builder(Known(len(self._builders), site, self._load), self._numbers)
        self._builders[site].add(capture)
        self._count(site)

    def _count(self, site: str) -> None:
        amount = self._amounts[site]
        builder = self._builders[site]
        for pack in builder.take():
            if pack.id not in builder.known.raws and pack.kind != PRIVATE:
                self._bodies[pack.id] = pack.body
            n = len(pack.captures)
            packed = len(pack.head) + len(pack.body) + ROW_BYTES * n
            amount.add(Amount(n, sum(pack.sizes), pack.exact, pack.raw + pack.recipes, packed))

    def _load(self, pack: int) -> bytes:
        return decode(self._bodies[pack])

    def finish(self) -> dict[str, Amount]:
        """Close all packs and return the amounts by site."""
        for site, builder in self._builders.items():
            builder.flush()
            self._count(site)
        return self._amounts


def _figures(amount: Amount) -> dict[str, Any]:
    figures = {name: getattr(amount, name) for name in ("original", "exact", "block", "packed")}
    return {"captures": amount.captures, "bytes": figures}


def _row(name: str, amount: Amount) -> tuple[str, ...]:
    saved = f"{1 - amount.packed / amount.original:.0%}" if amount.original else "-"
    sizes = (amount.original, amount.exact, amount.block, amount.packed)
    return (name, f"{amount.captures:,}", *map(human, sizes), saved)
