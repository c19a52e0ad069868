"""Which known block is the best base for a binary difference of this one.

What counts for a difference are bytes, markup as well as text, and scripts as much as either, so blocks are compared
by resemblance (Broder 1997) of what their bytes hold: the eight bytes after each separator (white space, quote, slash,
any character below `0`, `>`, and bytes that begin a character of a script without spaces). Of the hashes of these
anchors the smallest few are a block's sketch. Measured in docs/algorithms/similarity.md: differences from bases found
so are a fifth to a half smaller than from those with the greatest cosine of feature vectors, which know the text only.
"""

from collections.abc import Sequence

import numpy as np

from blocks.features import BlockVectors
from blocks.similarity import SimilarityIndex
from blocks.terms import Offsets, TermSets, Words, count_within, distinct, keyed, within

SKETCH_SIZE = 16
"""Hashes of a sketch: more, or all of the anchors, find bases that save less than one part in a hundred more."""

SAMPLED_ANCHORS = 40
"""Of blocks with more anchors only those hashes are sorted that are likely among the smallest."""

MAX_COMPARED = 4
"""How many candidates a sketch is compared with."""

WINDOW_BYTES = 1 << 17
"""Bytes looked at together: bounds the memory, and fits the processor's cache."""

_ZERO, _BELOW_OR_WIDE, _GREATER = np.uint8(0x30), np.uint8(0xB0), np.uint8(0x3E)
_U32, _SPREAD = np.uint64(32), np.uint64(0x9E3779B97F4A7C15)
_PAD = bytes(8)


def base_index() -> SimilarityIndex:
    """Return an empty index of sketches, about 250 bytes a block; what it calls cosine is that of two sketches."""
    return SimilarityIndex(n_counts=0, counts_share=0.0, max_compared=MAX_COMPARED)


def sketches(blocks: Sequence[bytes]) -> BlockVectors:
    """Return the sketches of blocks, of any encoding, as vectors without counts. Linear; best called with many."""
    parts: list[Words] = []
    n_anchors = np.zeros(len(blocks), np.int64)
    begin = 0
    while begin < len(blocks):
        stop, size = begin + 1, len(blocks[begin])
        while stop < len(blocks) and size + len(blocks[stop]) <= WINDOW_BYTES:
            size += len(blocks[stop])
            stop += 1
        keys, n_anchors[begin:stop] = _anchors(blocks[begin:stop], begin)
        parts.append(keys)
        begin = stop
    hashes, starts = distinct(np.concatenate(parts) if parts else np.empty(0, np.uint64), len(blocks))
    n = np.minimum(np.diff(starts), SKETCH_SIZE)
    smallest = hashes[within(starts[:-1], n)]
    terms = TermSets(smallest, np.concatenate(([0], np.cumsum(n))), n_anchors)
    return BlockVectors(np.empty((len(blocks), 0), np.float32), terms)


def _anchors(blocks: Sequence[bytes], first: int) -> tuple[Words, Offsets]:
    """Return row << 32 | hash of the anchors of blocks, a sample where there are many, and how many there are."""
    joined = b"".join((*blocks, _PAD))
    data = np.frombuffer(joined, np.uint8)[: -len(_PAD)]
    separates = data - _ZERO >= _BELOW_OR_WIDE
    separates |= data == _GREATER
    at = np.flatnonzero(separates[:-1] > separates[1:])  # the last of a row of separators
    ends = np.cumsum(np.fromiter(map(len, blocks), np.int64, len(blocks)))
    n = count_within(at, ends)
    words = np.ndarray((len(data) + 1,), "<u8", joined, strides=(1,))[at + 1]
    hashes = words * _SPREAD >> _U32
    most = np.full(len(n), 1 << 32, np.uint64)
    many = n > SAMPLED_ANCHORS
    most[many] = (1 << 32) * SAMPLED_ANCHORS // n[many]
    keys = keyed(hashes, n, first)
    whole = at + len(_PAD) < np.repeat(ends, n)  # an anchor's eight bytes lie in its block
    return keys[(hashes < np.repeat(most, n)) & whole], n
