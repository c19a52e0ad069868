"""What people say about a page's content, over what a method says: parts to keep, and parts to drop.

A part is named by a selector (`selectors`), or as `block:DIGEST` by the BLAKE3 of an atomic block's bytes
in hexadecimal: a block of a site's template has the same on every page. What is dropped is dropped, even inside what
is kept.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from blocks.model import body_digest
from extract.default.pagemason import Content, overlaps, passages_in
from extract.default.passages import Passages
from extract.default.reader import read_passages
from extract.protocol import Extraction, Page, Verdict
from extract.views.selectors import Selector, SelectorError, read_selectors, select

_BLOCK = re.compile(r"block:([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of pages: what selectors describe, and blocks by digest."""

    selectors: tuple[Selector, ...] = ()
    blocks: frozenset[bytes] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.selectors or self.blocks)

    def passages(self, page: Page, passages: Passages) -> set[int]:
        """Return the passages of a page that stand in these parts."""
        found: set[int] = set()
        elements = passages.elements
        for element in select(elements, self.selectors):
            found.update(range(elements.first[element], elements.last[element]))
        if self.blocks:
            flags = tuple(body_digest(piece) in self.blocks for piece in page.pieces)
            found.update(passages_in(page, passages, flags))
        return found


def read_parts(texts: Iterable[str]) -> Parts:
    """Return the parts that texts name. SelectorError quotes one that names none."""
    selectors: list[Selector] = []
    blocks = set()
    for text in texts:
        if text.startswith("block:"):
            match = _BLOCK.fullmatch(text)
            if match is None:
                raise SelectorError(f"{text!r} is no block: block: and 32 digits of a digest expected")
            blocks.add(bytes.fromhex(match[1]))
        else:
            selectors += read_selectors(text)
    return Parts(tuple(selectors), frozenset(blocks))


def ruled(extraction: Extraction, keep: Parts, drop: Parts) -> Extraction:
    """Return an extraction with parts kept and dropped whatever the method said.

    A block is content when over half of its text is in kept passages. Once a part of the page is kept for certain, the
    confidence is 1.0.
    """
    if not (keep or drop):
        return extraction
    page = extraction.page
    passages: Passages = getattr(extraction, "passages", None) or read_passages(page.source)
    kept_by_rule, dropped = keep.passages(page, passages), drop.passages(page, passages)
    before = set(extraction.kept if isinstance(extraction, Content) else passages_in(page, passages, extraction.flags))
    kept = tuple(sorted((before | kept_by_rule) - dropped))
    verdicts = _verdicts(extraction, passages, kept, kept_by_rule | dropped)
    confidence = 1.0 if kept_by_rule - dropped else min(1.0, max(0.0, extraction.score))
    if isinstance(extraction, Content):
        return replace(extraction, verdicts=verdicts, kept=kept, confidence=confidence)
    return Content(page, verdicts, passages, kept, confidence=confidence)


def _verdicts(
    extraction: Extraction, passages: Passages, kept: Sequence[int], by_rule: set[int]
) -> tuple[Verdict, ...]:
    """Return the verdicts with those changed that a rule has touched."""
    page, chosen = extraction.page, set(kept)
    verdicts = list(extraction.verdicts)
    total, inside, touched = [0.0] * len(page), [0.0] * len(page), [False] * len(page)
    for block, passage, size in zip(*(column.tolist() for column in overlaps(page, passages)), strict=True):
        total[block] += size
        inside[block] += size * (passage in chosen)
        touched[block] |= size > 0 and passage in by_rule
    for block, is_touched in enumerate(touched):
        if is_touched:
            content = inside[block] > total[block] / 2
            verdicts[block] = Verdict(content, 1.0 if content else 0.0, f"{'kept' if content else 'dropped'} by a rule")
    return tuple(verdicts)
