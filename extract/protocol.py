"""What every method takes and gives: Page, Evidence, Verdict, Extraction. `extract.registry` finds methods by name.

An extractor learns from many pages and judges one: `prepare(pages)` gives evidence, which is pure, can be pickled and
merged (so that a store or a batch job builds it piece by piece), and `extract(page, evidence)` gives one verdict for
each atomic block of the page. Segmenters cut a page for retrieval and judge nothing.
"""

import codecs
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np

from blocks.encoding import STATEFUL, decode_as, encoding_of
from blocks.partition import PARTITIONING_TAGS, Partition, partition
from extract.markup import Scan, scan, visible_text
from extract.tree import Tree, build_tree


class MissingExtra(ImportError):
    """A method needs packages of an optional extra that are not installed; the message says which extra."""


class NeedsEvidence(ValueError):
    """A method was asked to judge with evidence of fewer pages than it needs; the message says how many."""


@dataclass(frozen=True)
class Page:
    """A page as the methods see it: URL, original bytes, the name of their encoding, and the atomic blocks.

    What is derived from these is computed once, when first asked for.
    """

    url: str
    body: bytes
    encoding: str
    partition: Partition

    def __len__(self) -> int:
        """The number of atomic blocks."""
        return len(self.partition)

    @cached_property
    def pieces(self) -> list[bytes]:
        """The bytes of each block."""
        return self.partition.pieces()

    @cached_property
    def parts(self) -> list[str]:
        """The source of each block, decoded; what the encoding does not know becomes U+FFFD."""
        return decode_pieces(self.pieces, self.encoding)

    @cached_property
    def source(self) -> str:
        """The decoded source: `parts` joined."""
        return "".join(self.parts) if self._whole is None else self._whole

    @cached_property
    def starts(self) -> list[int]:
        """Where each block starts in `source`, and the length of `source` at the end: n_blocks + 1 offsets."""
        if self._whole is None:
            return [0, *accumulate(map(len, self.parts))]
        if len(self._whole) == len(self.body):
            return self.partition.starts
        not_first = np.flatnonzero(np.frombuffer(self.body, np.int8) < -64)  # of each character's bytes
        starts = np.array(self.partition.starts)
        offsets: list[int] = (starts - np.searchsorted(not_first, starts)).tolist()
        return offsets

    @cached_property
    def _whole(self) -> str | None:
        """The body decoded in one, when it is UTF-8 all through: blocks begin and end in ASCII."""
        if self.encoding != "utf-8":
            return None
        try:
            return self.body.decode()
        except UnicodeDecodeError:
            return None

    @cached_property
    def scan(self) -> Scan:
        """The tags and the visible text of `source`."""
        return scan(self.source)

    @cached_property
    def tree(self) -> Tree:
        """The element tree of `source`."""
        return build_tree(self.source, self.scan)

    @cached_property
    def texts(self) -> list[str]:
        """The visible text of each block, character references resolved, white space collapsed."""
        return [visible_text(self.source, self.scan, a, b) for a, b in pairwise(self.starts)]


def decode_pieces(pieces: Sequence[bytes], encoding: str) -> list[str]:
    """Return the pieces decoded, each for itself unless the encoding has a state; unknown encodings read as UTF-8."""
    if encoding not in STATEFUL:
        return [decode_as(piece, encoding) for piece in pieces]
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    return [decoder.decode(piece) for piece in pieces]


def page_of(
    url: str,
    body: bytes,
    content_type: bytes = b"",
    *,
    encoding: str = "",
    tag_set: Sequence[str] = PARTITIONING_TAGS,
) -> Page:
    """Return the page of some bytes, cut at the partitioning tags; its encoding is found out unless given."""
    return Page(url, body, encoding or encoding_of(body, content_type), partition(body, tag_set))


class Verdict(NamedTuple):
    """What a method says of one block: content or not, a score that grows with its confidence that it is, and why."""

    content: bool
    score: float
    why: str


@dataclass(frozen=True)
class Extraction:
    """A verdict for each block of a page, in the order of the page's blocks."""

    page: Page
    verdicts: tuple[Verdict, ...]

    def __post_init__(self) -> None:
        if len(self.verdicts) != len(self.page):
            raise ValueError(f"{len(self.verdicts)} verdicts for the {len(self.page)} blocks of {self.page.url}")

    @property
    def flags(self) -> tuple[bool, ...]:
        """Which blocks are content."""
        return tuple(verdict.content for verdict in self.verdicts)

    @cached_property
    def text(self) -> str:
        """The visible text of the content blocks, a line a block; blocks without text leave no line."""
        chosen = (text for text, verdict in zip(self.page.texts, self.verdicts, strict=True) if verdict.content)
        return "\n".join(text for text in chosen if text)

    @property
    def score(self) -> float:
        """The mean score of the content blocks, 0.0 when there are none."""
        scores = [verdict.score for verdict in self.verdicts if verdict.content]
        return sum(scores) / len(scores) if scores else 0.0


class Evidence(Protocol):
    """What many pages of one class teach a method. `prepare(())` is the evidence of no page, neutral in `merge`."""

    @property
    def n_pages(self) -> int:
        """On how many distinct pages (URLs) it rests."""
        ...

    def merge(self, other: Self) -> Self:
        """Return the evidence of both; neither is changed."""
        ...


@dataclass(frozen=True, slots=True)
class NoEvidence:
    """The evidence of a method that looks at the page only."""

    n_pages: int = 0

    def merge(self, other: "NoEvidence") -> "NoEvidence":
        """Return the sum of the pages seen."""
        return NoEvidence(self.n_pages + other.n_pages)


E = TypeVar("E", bound=Evidence)


class Extractor(Protocol[E]):
    """Decides which blocks of a page are content. Parameters are the constructor's; an extractor keeps no state."""

    @property
    def name(self) -> str:
        """The name in its paper."""
        ...

    def prepare(self, pages: Iterable[Page]) -> E:
        """Return what these pages of one class teach."""
        ...

    def extract(self, page: Page, evidence: E) -> Extraction:
        """Return a verdict for each block of the page. NeedsEvidence when the pages seen are too few."""
        ...


class Segment(NamedTuple):
    """A part of a page for retrieval: spans of `Page.source` in order, as (start, end) characters, and their text."""

    spans: tuple[tuple[int, int], ...]
    text: str


class Segmenter(Protocol):
    """Cuts a page into segments for retrieval."""

    @property
    def name(self) -> str:
        """The name in its paper."""
        ...

    def segment(self, page: Page) -> list[Segment]:
        """Return the segments in the order of the page; those without text are left out."""
        ...
