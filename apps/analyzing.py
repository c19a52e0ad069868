"""What captures would take in a store, without storing them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from blocks.model import Capture
from blocks.site import site_of
from store.models import PRIVATE
from store.packing.building import Builder
from store.packing.known import Known
from store.packing.packs import decode

ROW_BYTES = 45
"""What a capture costs in the database beside its pack, about (docs/format.md)."""


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


class Analysis:
    """Builds packs as the store would, counts them, and lets go of them."""

    def __init__(self, sites: Mapping[str, str]) -> None:
        self._mapping = sites
        self._builders: dict[str, Builder] = {}
        self._amounts: dict[str, Amount] = {}
        self._bodies: dict[int, bytes] = {}
        """Large bodies that are no pages, as packed: builders do not keep them."""
        self._numbers = count(1)

    def add(self, capture: Capture) -> None:
        """Count a capture."""
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
