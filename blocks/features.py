"""The block feature vector (Debnath et al. 2005, sections 3.1 and 5.1) and the cosine of two.

A block has a count for each feature and a binary feature for each term. Raw counts drown the terms: two texts of a
hundred different words each are one at 0.99. Here the counts, as logarithms, and the terms are brought to length one
each, and share the squared length of the whole vector as COUNTS_SHARE to the rest; so the cosine of two blocks with
text is COUNTS_SHARE * (cosine of the counts) + (1 - COUNTS_SHARE) * (cosine of the terms). The choice is measured in
docs/algorithms/similarity.md.

The tags are counted without a parser: `>` ends a tag, in quotes as well. Script content and comments do not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blocks.terms import Hashes, Offsets, TermSets, Words, count_within, keyed, term_sets, within
from blocks.text import joined, resolved, without_raw_text

COUNTS_SHARE = 0.1
"""What the counts make up of a block vector's squared length; the terms make up the rest."""

MAX_KEYS = 1 << 22
"""Terms of pairs compared together: bounds the memory at some 100 MB."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A column of the counts: how many there are of `unit`; the start tags that are counted, none for terms."""

    name: str
    unit: str
    tags: tuple[str, ...] = ()


def _tags(name: str, tags: str) -> Feature:
    return Feature(name, "tags", tuple(tags.split()))


FEATURES = (
    Feature("terms", "terms"),
    _tags("headings", "h1 h2 h3 h4 h5 h6"),
    _tags("phrases", "b strong i em u s font big small mark cite q code pre tt sub sup abbr time address blockquote"),
    _tags("paragraphs", "p"),
    _tags("breaks", "br"),
    _tags("rules", "hr"),
    _tags("lists", "ul ol dl menu dir"),
    _tags("items", "li dt dd"),
    _tags("tables", "table"),
    _tags("rows", "tr"),
    _tags("cells", "td th"),
    _tags("links", "a area"),
    _tags("images", "img picture svg"),
    _tags("objects", "object applet embed video audio canvas"),
    _tags("frames", "frame iframe frameset"),
    _tags("forms", "form fieldset"),
    _tags("inputs", "input select textarea button option"),
    _tags("scripts", "script noscript"),
    _tags("styles", "style link"),
    _tags("divisions", "div span center section article aside header footer nav main figure"),
    _tags("heads", "html head title meta base body"),
)
"""The columns of the counts, in order: text, text-tag, list, table, link, object, frame, form, script and style-sheet
of the paper's list, some of them in finer kinds, and the partitioning tags."""

N_FEATURES = len(FEATURES)


@dataclass(frozen=True, slots=True)
class BlockVectors:
    """The feature vectors of blocks: `counts`, float32 of shape (n_blocks, n_features), and the terms of each."""

    counts: NDArray[np.float32]
    terms: TermSets

    def __len__(self) -> int:
        return len(self.counts)

    def rows(self, rows: Offsets) -> "BlockVectors":
        """Return the vectors of some of the blocks."""
        return BlockVectors(self.counts[rows], self.terms.rows(rows))


def block_vectors(blocks: Sequence[bytes], encoding: str = "utf-8") -> BlockVectors:
    """Return the feature vectors of blocks of pages in one encoding. Linear; best called with many at once."""
    if not blocks:
        return BlockVectors(np.empty((0, N_FEATURES), np.float32), term_sets("", 0))
    counts, plain = _tag_counts(without_raw_text(joined(blocks, encoding)), len(blocks))
    terms = term_sets(resolved(plain.decode("utf-8", "replace")), len(blocks))
    counts[:, 0] = terms.n_terms
    return BlockVectors(counts, terms)


def plain_texts(blocks: Sequence[bytes], encoding: str = "utf-8") -> str:
    """Return the texts that `block_vectors` sees, joined by NUL characters; `<` and `>` of tags remain."""
    _, plain = _tag_counts(without_raw_text(joined(blocks, encoding)), len(blocks))
    return resolved(plain.decode("utf-8", "replace"))


def cosine(a: bytes, b: bytes, encoding: str = "utf-8") -> float:
    """Return the cosine of the feature vectors of two blocks, 0.0 to 1.0; of two without any feature, 1.0.

    >>> round(cosine(b"<p>the same words", b"<p>the <b>other words"), 2)
    0.69
    """
    vectors = block_vectors((a, b), encoding)
    return float(cosines(vectors, np.array([0]), vectors, np.array([1]))[0])


def cosines(
    a: BlockVectors, rows: NDArray[np.integer], b: BlockVectors, others: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the cosine of each pair, row rows[i] of `a` and row others[i] of `b`: shape (n_pairs,), 0.0 to 1.0."""
    shared = shared_terms(a.terms.hashes, a.terms.starts, rows, b.terms.hashes, b.terms.starts, others)
    n, m = np.diff(a.terms.starts)[rows], np.diff(b.terms.starts)[others]
    return combine(shared, n, m, cosine_of_counts(a.counts[rows], b.counts[others]))


def combine(
    shared: Offsets, n: Offsets, m: Offsets, of_counts: NDArray[np.float64], share: float = COUNTS_SHARE
) -> NDArray[np.float64]:
    """Return the cosine of block vectors with n and m distinct terms, `shared` of them the same."""
    of_terms = shared / np.sqrt(np.maximum(n * m, 1))
    both, none = (n > 0) & (m > 0), (n == 0) & (m == 0)
    mixed = np.where(both, share * of_counts + (1 - share) * of_terms, share**0.5 * of_counts)
    return np.minimum(np.where(none, of_counts, mixed), 1.0)


def cosine_of_counts(a: NDArray[np.number], b: NDArray[np.number]) -> NDArray[np.float64]:
    """Return the cosine of the logarithms of counts, both of shape (n_pairs, n_features); 1.0 where both are zero."""
    x, y = np.log2(a + np.float32(1)), np.log2(b + np.float32(1))
    dot = np.einsum("ij,ij->i", x, y)
    square = np.einsum("ij,ij->i", x, x) * np.einsum("ij,ij->i", y, y)
    empty = ~x.any(axis=1) & ~y.any(axis=1)
    return np.where(empty, 1.0, np.minimum(dot / np.sqrt(np.where(square > 0, square, 1)), 1.0))


def shared_terms(
    a: Hashes, a_starts: Offsets, rows: NDArray[np.integer], b: Hashes, b_starts: Offsets, others: NDArray[np.integer]
) -> Offsets:
    """Return for each pair how many terms its blocks share: shape (n_pairs,)."""
    half = len(rows) // 2
    if (
        half
        and (a_starts[rows + 1] - a_starts[rows]).sum() + (b_starts[others + 1] - b_starts[others]).sum() > MAX_KEYS
    ):
        halves = (slice(half), slice(half, None))
        return np.concatenate([shared_terms(a, a_starts, rows[h], b, b_starts, others[h]) for h in halves])
    keys = np.sort(np.concatenate((_pair_keys(a, a_starts, rows), _pair_keys(b, b_starts, others))))
    twice = keys[1:][keys[1:] == keys[:-1]] >> np.uint64(32)
    return np.bincount(twice.astype(np.int64), minlength=len(rows))


def _pair_keys(hashes: Hashes, starts: Offsets, rows: NDArray[np.integer]) -> Words:
    """Return pair << 32 | hash for each term of each pair's row."""
    begin = starts[rows]
    n = starts[rows + 1] - begin
    return keyed(hashes[within(begin, n)], n)


_HEADING = ord("h")
_LOWER = np.uint64(0x2020202020202020)
_LETTER_BIT = np.uint64(0x4040404040404040)
_ONE, _SIX = np.uint64(1), np.uint64(6)
_PAD = bytes(16)


def _columns() -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the tags' first eight letters as integers, ascending, their lengths and columns; `h` for h1 to h6."""
    tags = {tag.rstrip("123456"): column for column, feature in enumerate(FEATURES) for tag in feature.tags}
    rows = sorted((int.from_bytes(tag.encode()[:8], "little"), len(tag), column) for tag, column in tags.items())
    keys, lengths, columns = zip(*rows, strict=True)
    return np.array(keys, np.uint64), np.array(lengths), np.array(columns)


def _flags(chars: bytes) -> NDArray[np.bool_]:
    flags = np.zeros(256, np.bool_)
    flags[list(chars)] = True
    return flags


_KEYS, _LENGTHS, _COLUMNS = _columns()
_ENDS_NAME = _flags(b" \t\r\n\f/>\0")
_OPENS = _flags(bytes(range(65, 91)) + bytes(range(97, 123)) + b"/!?")


def _tag_counts(markup: bytes, n_blocks: int) -> tuple[NDArray[np.float32], bytes]:
    """Return the counts of start tags in joined blocks, and the blocks with no more of a tag than `<` and `>`."""
    data = np.frombuffer(markup + _PAD, np.uint8)
    size = len(markup)
    opens = np.flatnonzero(data[:size] == 60)
    opens = opens[_OPENS[data[opens + 1]]]
    kinds, known = _kinds_of(data, opens + 1)
    n_known = count_within(opens[known], np.append(np.flatnonzero(data[:size] == 0), size))
    cells = np.repeat(np.arange(n_blocks) * N_FEATURES, n_known) + kinds[known]
    counts = np.bincount(cells, minlength=n_blocks * N_FEATURES).reshape(n_blocks, N_FEATURES).astype(np.float32)
    stops = np.flatnonzero((data[:size] == 62) | (data[:size] == 0))
    following = np.searchsorted(stops, opens)
    first = np.diff(following, prepend=-1) > 0
    edges = np.empty(2 * int(first.sum()) + 2, np.int64)
    edges[0], edges[-1] = 0, size
    edges[1:-1:2] = opens[first] + 1
    edges[2:-1:2] = np.append(stops, size)[following[first]]
    outside = np.zeros(len(edges) - 1, np.bool_)
    outside[::2] = True
    return counts, data[:size][np.repeat(outside, np.diff(edges))].tobytes()


def _kinds_of(data: NDArray[np.uint8], names: Offsets) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the column of each tag name that begins at `names`, and whether it has one."""
    words = np.ndarray((len(data) - 8,), "<u8", data, strides=(1,))[names] | _LOWER
    stops = ~words & _LETTER_BIT  # the bytes that are no letters; the lowest ends the name
    keys = words & (((stops & (~stops + _ONE)) >> _SIX) - _ONE)
    found = np.minimum(np.searchsorted(_KEYS, keys), len(_KEYS) - 1)
    after = data[names + _LENGTHS[found]]
    known = (_KEYS[found] == keys) & np.where(keys == _HEADING, (after >= 49) & (after <= 54), _ENDS_NAME[after])
    return _COLUMNS[found], known
