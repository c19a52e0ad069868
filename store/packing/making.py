"""How packs are made: on arrival and in compaction. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import zstandard

from store.models import ARRIVAL, COMPACTED
from store.packing.packs import MAX_READ_BYTES, Codec


@dataclass(frozen=True, slots=True)
class Make:
    """How packs are made. `pack_bytes` closes a pack; `remember` lets later packs refer to its blocks; `parameters` are
    those of zstd that are not the level's, `plain` those which packs without a base have instead; `read_bytes` is what
    reading a page decompresses at the most, heads included (unless the page itself is larger), 0 for no bound."""

    kind: int
    level: int
    pack_bytes: int
    join_bytes: int
    remember: bool
    parameters: Mapping[str, int] = field(default_factory=dict)
    plain: Mapping[str, int] = field(default_factory=dict)
    read_bytes: int = 0

    def codec(self, base: bytes = b"") -> Codec:
        """Return what encodes the packs; `base` is their dictionary."""
        return Codec(self.level, base, self.parameters if base else {**self.parameters, **self.plain})


_LAZY = {"strategy": zstandard.STRATEGY_LAZY, "search_log": 5, "hash_log": 19, "chain_log": 18}
_GREEDY = {"strategy": zstandard.STRATEGY_GREEDY}

ON_ARRIVAL = Make(ARRIVAL, level=9, pack_bytes=1 << 17, join_bytes=64, remember=True, parameters=_LAZY, plain=_GREEDY)
"""Small packs, so that a page may need a compacted base and pack beside its own. Looking one byte ahead instead of two,
but at twice the candidates, in tables that fit the processor's cache: two thirds to nine tenths of level 9's time, for
within 0.3 % of its bytes. The first pack of a site, without a base, is taken as it comes: two thirds of that time for
2 % more bytes, of one pack a site."""

IN_COMPACTION = Make(
    COMPACTED, level=21, pack_bytes=480 << 10, join_bytes=128, remember=False, read_bytes=MAX_READ_BYTES
)
"""A page needs its pack and the base, and nothing else; `store.packing.shapes` says how large the packs are. Level 22
takes 0.1 to 0.3 % off, for up to a third more time (books)."""
