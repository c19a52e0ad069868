"""Which blocks of a page are content, derived from a truth text: the rule by which every method is scored.

Truth in our corpora is the text of the main content, not blocks. The rule: read the visible words of the page in
order; a word is *covered* when it lies in a window of four neighbouring words that the truth has too; a block is
content when more than half of its words are covered. Windows cross the borders of blocks, so a heading of one word
within the article counts by its neighbours, and the same word in a menu does not. A block without words has no label
and is counted nowhere: nobody can tell from a text whether a spacer belongs to it.

Words are runs of ASCII letters and digits, and single characters beyond Latin: damaged accents in a page or a truth
then cost a word and not the sentence. Truth of the kind `fields` (shops) marks the blocks that hold a whole value;
what else is of interest on such a page it does not say, so precision there is a lower bound.
"""

import re
from collections.abc import Mapping, Sequence

WINDOW = 4
"""Neighbouring words that must stand in the truth in the same order."""

MAJORITY = 0.5
"""The share of a block's words that must be exceeded."""

_WORD = re.compile(r"[0-9a-z]+|[^\W\d_\u0000-\u024f]")

Label = bool | None
"""Content, not content, or without a word."""


def words(text: str) -> list[str]:
    """Return the words of a text for comparison.

    >>> words("Véronique's 2 cafés, 東京")
    ['v', 'ronique', 's', '2', 'caf', 's', '東', '京']
    """
    return _WORD.findall(text.casefold())


def labels_of_text(texts: Sequence[str], truth: str) -> list[Label]:
    """Return a label for each block from the blocks' visible texts and the truth text."""
    wanted = words(truth)
    per_block = [words(text) for text in texts]
    stream = [word for block in per_block for word in block]
    size = min(WINDOW, len(wanted))
    windows = {tuple(wanted[i : i + size]) for i in range(len(wanted) - size + 1)} if size else set()
    covered = [False] * len(stream)
    for i in range(len(stream) - size + 1):
        if tuple(stream[i : i + size]) in windows:
            covered[i : i + size] = [True] * size
    return _majority(per_block, covered)


def labels_of_fields(texts: Sequence[str], fields: Mapping[str, Sequence[str]]) -> list[Label]:
    """Return a label for each block: content when it holds a whole value of a field."""
    values = {" ".join(words(value)) for each in fields.values() for value in each}
    values.discard("")
    labels: list[Label] = []
    for text in texts:
        joined = f" {' '.join(words(text))} "
        labels.append(any(f" {value} " in joined for value in values) if joined.strip() else None)
    return labels


def _majority(per_block: Sequence[Sequence[str]], covered: Sequence[bool]) -> list[Label]:
    labels: list[Label] = []
    at = 0
    for block in per_block:
        count = sum(covered[at : at + len(block)])
        labels.append(count > MAJORITY * len(block) if block else None)
        at += len(block)
    return labels
