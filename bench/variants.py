"""What each idea earns: a corpus compacted in memory by the store's own code, with an idea left out or packs of
another size. Nothing is written. What is counted is packs' bodies and, compressed by themselves, recipes and tokens:
as for packs of whole pages there is no index, no URL and no header.
"""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from itertools import count
from unittest.mock import patch

import msgpack
import zstandard

from bench.baselines import by_site, cold_bytes
from blocks.model import Capture
from blocks.site import sort_key
from store.packing.building import Builder, NewPack
from store.packing.known import Known
from store.packing.layout import survey
from store.packing.neighbours import arranged
from store.packing.packs import decode
from store.packing.shapes import choose_shape, fill
from store.packing.tokens import Kinds


def blocks(captures: Sequence[Capture], pack_bytes: int, *, similar: bool) -> int:
    """Return the bytes of packs of blocks such that a cold page decompresses as much as in packs of whole pages: a base
    and a pack, twice `pack_bytes` together, or what `baselines.cold_bytes` says where a site's pages are larger.

    `similar` says whether blocks that differ in tokens only are kept as one.
    """
    with patch.object(Kinds, "pairs", return_value=()) if not similar else nullcontext():
        return sum(_site([page for page in pages if not page.private], pack_bytes) for pages in _sites(captures))


def _sites(captures: Sequence[Capture]) -> Iterable[list[Capture]]:
    return (sorted(pages, key=lambda page: (sort_key(page.url), page.time)) for pages in by_site(captures).values())


def _site(pages: list[Capture], pack_bytes: int) -> int:
    """Compact one site as `store.upkeep.rewriting` does; return the bytes of its packs."""
    if not pages:
        return 0
    read_bytes = max(2 * pack_bytes, cold_bytes(pages, pack_bytes))
    pages = [pages[number] for number in arranged(survey(pages))]
    shape = choose_shape(lambda: pages, survey(pages), read_bytes=read_bytes)
    raws: dict[int, bytes] = {}
    known = Known(1, "", raws.__getitem__)
    total = 0
    for pack in fill(Builder(known, count(1), shape.make), shape.layout, lambda: pages, len(pages)):
        base, base_head = (known.raw(pack.base), known.base_head) if pack.base else (b"", b"")
        raws[pack.id] = decode(pack.body, base)
        total += len(pack.body) + _recipes(pack, base_head)
    return total


def _recipes(pack: NewPack, base_head: bytes) -> int:
    head = msgpack.unpackb(decode(pack.head, base_head), unicode_errors="surrogatepass")
    return len(zstandard.ZstdCompressor(level=19).compress(head["runs"] + msgpack.packb(head["tokens"])))
