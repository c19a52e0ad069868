"""Session ids, CSRF tokens and nonces: pages that differ in such a token only are told to be the same. Pure.

A page with a token of its own is kept as if it had the site's first token of that kind, and its recipe remembers
which one to put back: the blocks are then equal, byte for byte, to those the site has. Two tokens are of one kind
when they have one length and the bytes before them are the same (`sid=`, `name="csrf" value="`).
"""

import re
from collections import Counter

TOKEN = re.compile(rb"(?<![0-9A-Za-z])(?=[A-Za-z]*[0-9])[0-9A-Za-z]{16,64}(?![0-9A-Za-z])")
"""Letters and digits, at least one digit; 16 characters hold the 64 bits that a guess must not hit."""

CONTEXT_BYTES = 6
MAX_TOKENS = 8
"""Tokens replaced in one page at the most."""

MAX_KINDS = 4096
"""Kinds remembered for one site."""

Pairs = tuple[tuple[bytes, bytes], ...]
"""(the site's token, the page's token), in the order in which they are put back."""


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
        self._firsts: dict[tuple[bytes, int], bytes] = {}

    def learn(self, text: bytes) -> None:
        """Remember the tokens of a text that are the first of their kind."""
        for match in TOKEN.finditer(text):
            if len(self._firsts) >= MAX_KINDS:
                return
            self._firsts.setdefault(_kind(text, match), match[0])

    def pairs(self, body: bytes, new: bytes) -> Pairs:
        """Return which of a page's tokens can be replaced by the site's, so that it can be undone.

        `new` is what of the page the site does not have; tokens are looked for there only.
        """
        votes: dict[bytes, Counter[bytes]] = {}
        for match in TOKEN.finditer(new):
            first = self._firsts.get(_kind(new, match))
            if first is not None and first != match[0]:
                votes.setdefault(match[0], Counter())[first] += 1
        pairs: list[tuple[bytes, bytes]] = []
        taken: set[bytes] = set()
        replaced = body
        for theirs in sorted(votes, key=lambda token: (-votes[token].total(), token))[: 4 * MAX_TOKENS]:
            ours = votes[theirs].most_common(1)[0][0]
            if ours in taken or len(pairs) == MAX_TOKENS or ours in replaced:
                continue
            taken.add(ours)
            replaced = replaced.replace(theirs, ours)
            pairs.insert(0, (ours, theirs))
        return tuple(pairs) if restore(replaced, tuple(pairs)) == body else ()


def _kind(text: bytes, match: re.Match[bytes]) -> tuple[bytes, int]:
    start, end = match.span()
    return text[max(0, start - CONTEXT_BYTES) : start], end - start
