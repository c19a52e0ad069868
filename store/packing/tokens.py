"""Session ids, CSRF tokens and nonces: pages that differ in such a token only are told to be the same. Pure.

A page with a token of its own is kept as if it had the site's first token of that kind, and its recipe remembers
which one to put back: the blocks are then equal, byte for byte, to those the site has. Two tokens are of one kind
when they have one length and the bytes before them are the same (`sid=`, `name="csrf" value="`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

MIN_BYTES, MAX_BYTES = 16, 64
"""Letters and digits, at least one digit; 16 characters hold the 64 bits that a guess must not hit."""

CONTEXT_BYTES = 6
MAX_TOKENS = 8
"""Tokens replaced in one page at the most."""

SEARCHED_BYTES = 1 << 19
"""What putting a page's tokens back may search: each takes 0.3 ms a megabyte at every read. On pages so large that this
matters they save nothing (frontpages take 0.3 % less without them)."""

MAX_KINDS = 4096
"""Kinds remembered for one site."""

Pairs = tuple[tuple[bytes, bytes], ...]
"""(the site's token, the page's token), in the order in which they are put back."""

Kind = tuple[bytes, int]
"""The bytes before a token, and its length."""

_GROUP = 4
_FULL = np.uint32(0x01010101)


def find_tokens(text: bytes) -> list[tuple[Kind, bytes]]:
    """Return what looks like a token, with its kind, in order."""
    found = []
    for start, stop in _words(text):
        token = text[start:stop]
        if not token.isalpha():
            found.append(((text[max(0, start - CONTEXT_BYTES) : start], stop - start), token))
    return found


def _words(text: bytes) -> list[tuple[int, int]]:
    """Return where words of MIN_BYTES to MAX_BYTES letters and digits start and stop.

    Wherever such a word begins, three neighbouring groups of four bytes are full. What it has beside its full groups
    are up to three bytes before and behind; the padding ends a word that reaches to either end of the text.
    """
    data = np.frombuffer(text + bytes(_GROUP), np.uint8)
    is_word = (data | 32) - 97 < 26  # bytes below wrap around
    is_word |= data - 48 < 10
    in_word = is_word.view(np.uint8)
    full = in_word[: len(data) // _GROUP * _GROUP].view(np.uint32) == _FULL
    hits = np.flatnonzero(full[:-2] & full[1:-1] & full[2:])
    if not len(hits):
        return []
    gaps = np.flatnonzero(np.diff(hits) > 1)
    starts = _GROUP * hits[np.concatenate(([0], gaps + 1))]
    stops = _GROUP * (hits[np.concatenate((gaps, [len(hits) - 1]))] + 3)
    starts -= in_word[starts - 1] * (1 + in_word[starts - 2] * (1 + in_word[starts - 3]))
    stops += in_word[stops] * (1 + in_word[stops + 1] * (1 + in_word[stops + 2]))
    wanted = (stops - starts >= MIN_BYTES) & (stops - starts <= MAX_BYTES)
    return list(zip(starts[wanted].tolist(), stops[wanted].tolist(), strict=True))


def restore(body: bytes, pairs: Pairs) -> bytes:
    """Return a page with its own tokens."""
    for ours, theirs in pairs:
        body = body.replace(ours, theirs)
    return body


def canonical(body: bytes, pairs: Pairs) -> bytes:
    """Return a page with the site's tokens: what `restore` undoes."""
    for ours, theirs in reversed(pairs):
        body = body.replace(theirs, ours)
    return body


class Kinds:
    """The first token of each kind that a site has shown."""

    def __init__(self) -> None:
        self._firsts: dict[Kind, bytes] = {}
        self.n_texts = 0
        """Texts whose tokens were learned."""

    def learn(self, tokens: Iterable[tuple[Kind, bytes]]) -> None:
        """Remember those of a text's tokens that are the first of their kind."""
        self.n_texts += 1
        for kind, token in tokens:
            if len(self._firsts) >= MAX_KINDS:
                return
            self._firsts.setdefault(kind, token)

    def pairs(self, body: bytes, tokens: Iterable[tuple[Kind, bytes]]) -> Pairs:
        """Return which of a page's tokens can be replaced by the site's, so that it can be undone."""
        votes: dict[bytes, Counter[bytes]] = defaultdict(Counter)
        for kind, token in tokens:
            first = self._firsts.get(kind)
            if first is not None and first != token:
                votes[token][first] += 1
        most = min(MAX_TOKENS, SEARCHED_BYTES // max(1, len(body)))
        pairs: list[tuple[bytes, bytes]] = []
        taken: set[bytes] = set()
        replaced = body
        for theirs in sorted(votes, key=lambda token: (-votes[token].total(), token))[: 4 * MAX_TOKENS]:
            ours = votes[theirs].most_common(1)[0][0]
            if ours in taken or len(pairs) == most or ours in replaced:
                continue
            taken.add(ours)
            replaced = replaced.replace(theirs, ours)
            pairs.insert(0, (ours, theirs))
        return tuple(pairs) if restore(replaced, tuple(pairs)) == body else ()
