"""Where blocks begin, found once for all that compaction tries with a page. Pure."""

import itertools
from array import array
from collections.abc import Callable

import xxhash

from blocks.partition import partition

REMEMBERED_BYTES = 32 << 20

Cut = Callable[[bytes], list[bytes]]
"""Cuts a page into its atomic blocks."""


def cut(page: bytes) -> list[bytes]:
    """Return a page's atomic blocks."""
    return partition(page).pieces()


class Cutter:
    """Cuts pages as `cut` does, and remembers where, until that takes so many bytes.

    Compaction comes to each page a dozen times, in the same order: to forget what was not used for longest would be
    to forget always what comes next.
    """

    def __init__(self, max_bytes: int = REMEMBERED_BYTES) -> None:
        self._room = max_bytes
        self._starts: dict[bytes, array[int]] = {}
        """By the xxh3-128 of a page, where its blocks begin, and its end."""

    def __call__(self, page: bytes) -> list[bytes]:
        digest = xxhash.xxh3_128_digest(page)
        starts = self._starts.get(digest)
        if starts is not None:
            return [page[a:b] for a, b in itertools.pairwise(starts)]
        found = partition(page)
        if self._room > 0:
            self._starts[digest] = array("Q", found.starts)
            self._room -= 8 * len(found.starts)
        return found.pieces()
