"""Where blocks begin, found once for all that compaction tries with a page. Pure."""

import itertools
from array import array
from collections.abc import Callable, Iterable

import xxhash

from blocks.partition import partition

REMEMBERED_BYTES = 32 << 20

Cut = Callable[[bytes], list[bytes]]
"""Cuts a page into its atomic blocks."""


def cut(page: bytes) -> list[bytes]:
    """Return a page's atomic blocks."""
    return partition(page).pieces()


def cut_alike(page: bytes, pieces: Iterable[bytes]) -> list[bytes]:
    """Return a page's atomic blocks, given those that it has with other tokens: these are as long, and letters and
    digits too many to be a tag's name.

    >>> cut_alike(b"<p>id=0123456789abcdef<p>two", [b"<p>id=fedcba9876543210", b"<p>two"])
    [b'<p>id=0123456789abcdef', b'<p>two']
    """
    ends = itertools.accumulate(map(len, pieces), initial=0)
    return [page[a:b] for a, b in itertools.pairwise(ends)]


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
