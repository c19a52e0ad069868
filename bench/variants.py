"""What each idea earns: a corpus compacted in memory by the store's own code, with an idea left out or packs of
another size. Nothing is written. What is counted is packs' bodies and, compressed by themselves, recipes and tokens:
as for packs of whole pages there is no index, no URL and no header.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from unittest.mock import patch

import msgpack
import zstandard

from bench.baselines import by_site
from blocks.model import Capture
from store import layout
from store.building import IN_COMPACTION, Builder, NewPack
from store.known import Known
from store.packs import decode
from store.tokens import Kinds


def blocks(captures: Sequence[Capture], read_bytes: int, *, similar: bool) -> int:
    """Return the bytes of packs of blocks such that a cold page costs a base and a pack, `read_bytes` together.

    `similar` says whether blocks that differ in tokens only are kept as one.
    """
    with ExitStack() as stack:
        stack.enter_context(patch.object(layout, "BASE_BYTES", read_bytes // 2))
        if not similar:
            stack.enter_context(patch.object(Kinds, "pairs", return_value=()))
        return sum(_site([page for page in pages if not page.private], read_bytes) for pages in _sites(captures))


def _sites(captures: Sequence[Capture]) -> Iterable[list[Capture]]:
    return (sorted(pages, key=lambda page: (page.url, page.time)) for pages in by_site(captures).values())


def _site(pages: list[Capture], read_bytes: int) -> int:
    """Compact one site as `store.rewriting` does; return the bytes of its packs."""
    make = replace(IN_COMPACTION, pack_bytes=read_bytes // 2)
    chosen = layout.choose_base(lambda: iter(pages), len(pages), make.pack_bytes)
    known = Known(1, "", lambda pack: b"")
    builder = Builder(known, count(1), make)
    whole = chosen.whole if len(pages) > 1 else frozenset[int]()
    if len(pages) > 1:
        builder.base(chosen.base)
    for first in (True, False):
        for number, page in enumerate(pages):
            if (number in whole) == first:
                builder.add(page, chosen.pairs[number])
        builder.flush()
    return sum(len(pack.body) + _recipes(pack, known.base_head if pack.base else b"") for pack in builder.take())


def _recipes(pack: NewPack, base_head: bytes) -> int:
    head = msgpack.unpackb(decode(pack.head, base_head), unicode_errors="surrogatepass")
    return len(zstandard.ZstdCompressor(level=19).compress(head["runs"] + msgpack.packb(head["tokens"])))
