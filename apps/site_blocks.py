"""The blocks of stored pages, and what the pages of a site have in common: on how many each block stands, and which
block each resembles. Counted from the pages themselves, nothing of it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from blocks.encoding import encoding_of
from blocks.features import block_vectors
from blocks.model import Capture, body_digest
from blocks.partition import partition
from blocks.similarity import SimilarityIndex
from store.base import Record, SiteStats
from store.packing.kinds import is_page

MAX_CAPTURES = 1000
"""Captures of a site that are read to see where its blocks stand; of more, this many spread evenly."""

SIMILAR = 0.9
"""The cosine above which a block is said to resemble another (Debnath et al. 2005, section 4.4.1)."""

MAX_BLOCKS = 200_000
"""Distinct blocks of a site that are told apart; later ones are left out."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An atomic block and where it begins in its page."""

    offset: int
    data: bytes
    tag: str


def blocks_of(capture: Capture) -> list[Placed]:
    """Return a page's atomic blocks in order; of what is no page, the body as one; of an empty body none."""
    if not capture.body:
        return []
    if not is_page(capture):
        return [Placed(0, capture.body, "")]
    found = partition(capture.body)
    return [Placed(*row) for row in zip(found.starts, found.pieces(), found.tags, strict=False)]


def excerpt(data: bytes, n_characters: int = 60) -> str:
    """Return how a block begins, on one line, without what would steer a terminal."""
    text = " ".join(data[: 8 * n_characters].decode("utf-8", "replace").split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)[:n_characters]


def spread(records: Sequence[Record]) -> Sequence[Record]:
    """Return at most MAX_CAPTURES of a site's captures, spread evenly."""
    return records[:: -(-len(records) // MAX_CAPTURES) or 1]


@dataclass(slots=True)
class Known:
    """A distinct block of a site: where it stands first, on which pages (numbers), in how many captures, and the
    most similar block that the site had before it, if any."""

    digest: bytes
    size: int
    tag: str
    place: tuple[int, int]
    """Number of the capture it stands in first, and offset there."""
    pages: list[int] = field(default_factory=list)
    n_captures: int = 0
    base: int = -1
    cosine: float = 0.0

    @property
    def saved(self) -> int:
        """Bytes that keeping it once saves, before compression."""
        return self.size * (self.n_captures - 1)


@dataclass(slots=True)
class SiteBlocks:
    """The distinct blocks of a site, in the order in which they were met; `records` are the captures read."""

    site: str = ""
    stats: SiteStats | None = None
    made: float = 0.0
    records: list[Record] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    known: list[Known] = field(default_factory=list)
    by_digest: dict[bytes, int] = field(default_factory=dict)
    index: SimilarityIndex = field(default_factory=SimilarityIndex)
    n_site_captures: int = 0
    template_bytes: int = 0
    all_bytes: int = 0

    @property
    def template_share(self) -> float | None:
        """Share of the pages' bytes that lie in blocks which stand on more than half of the pages."""
        return self.template_bytes / self.all_bytes if self.all_bytes and len(self.urls) > 1 else None

    def of(self, block: bytes) -> Known | None:
        """Return what is known of a block's bytes."""
        at = self.by_digest.get(body_digest(block))
        return None if at is None else self.known[at]

    def add(self, record: Record, capture: Capture) -> None:
        """Count the blocks of a capture; captures of one page come one after the other."""
        if not self.urls or self.urls[-1] != capture.url:
            self.urls.append(capture.url)
        page, number = len(self.urls) - 1, len(self.records)
        self.records.append(record)
        new: list[Placed] = []
        distinct = {body_digest(block.data): block for block in reversed(blocks_of(capture))}
        for digest, block in reversed(distinct.items()):
            at = self.by_digest.get(digest)
            if at is None:
                if len(self.known) >= MAX_BLOCKS:
                    continue
                at = self.by_digest[digest] = len(self.known)
                self.known.append(Known(digest, len(block.data), block.tag, (number, block.offset)))
                new.append(block)
            known = self.known[at]
            known.n_captures += 1
            if not known.pages or known.pages[-1] != page:
                known.pages.append(page)
        self._find_bases(new, capture)

    def _find_bases(self, new: list[Placed], capture: Capture) -> None:
        if not new:
            return
        first = len(self.known) - len(new)
        codec = encoding_of(capture.body, capture.header("content-type"))
        found = self.index.find_and_add(
            np.arange(first, first + len(new)), block_vectors([block.data for block in new], codec), SIMILAR
        )
        for at, (base, cosine) in enumerate(zip(found.ids.tolist(), found.cosines.tolist(), strict=True), first):
            self.known[at].base, self.known[at].cosine = base, cosine

    def similar(self, known: Known) -> tuple[Known, float] | None:
        """Return the most similar block that is not the same, and its cosine; None when none is above SIMILAR."""
        if known.base >= 0:
            return self.known[known.base], known.cosine
        me = self.by_digest[known.digest]
        later = max((block for block in self.known if block.base == me), key=lambda b: b.cosine, default=None)
        return None if later is None else (later, later.cosine)

    def finish(self) -> None:
        """Sum up what needs all pages."""
        half = len(self.urls) / 2
        self.all_bytes = sum(block.size * block.n_captures for block in self.known)
        self.template_bytes = sum(b.size * b.n_captures for b in self.known if len(b.pages) > half)
