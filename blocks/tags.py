"""Find the partitioning tags of a page, skipping what is no markup, without parsing it.

What counts as a tag follows the HTML standard's tokenizer (section 13.2.5): `>` inside a quoted attribute value
does not end a tag; comments and the raw text of script, style, textarea and title hold no tags; `<![CDATA[` opens a
bogus comment, which ends at the next `>` (13.2.5.42). Departures: it does so in SVG, MathML and XHTML too; `<!--`
within a script hides no `</script>`; a quote that does not follow `=` may count like one that does; what an
unterminated comment, raw text or quote opens, reaches to the end of the page.

Most tags end at the next `>`, so all `<` of a window are classified at once with numpy; only the few that need a
closer look (raw text, comments, single or unbalanced quotes, a `<` inside a tag) are followed one by one. Several
times as fast as a regular expression over all tags, and linear for any bytes.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

WINDOW_BYTES = 1 << 20
"""Bytes classified at once: bounds the memory at some 80 bytes for each `<` of a window."""

RAW_TEXT = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")

_PAD = 16
_VALUE = rb"""=[ \t\r\n\f]*+(?:"[^"]*+"?|'[^']*+'?|[^ \t\r\n\f>"'][^ \t\r\n\f>]*+)?"""
_MARKUP = re.compile(rb"<(?:/?+[a-zA-Z][^>=]*+(?:" + _VALUE + rb"[^>=]*+)*>?|[^>]*+>?)")
"""A tag to its end (HTML, 13.2.5.32 to 13.2.5.40), or else a bogus comment (13.2.5.41)."""

_EMPTY_COMMENT = re.compile(rb"<!--(-?>)?")
_COMMENT_END = re.compile(rb"--!?>")
_RAW_END = {name: re.compile(rb"</%s(?=[ \t\r\n\f/>])" % name.encode(), re.IGNORECASE) for name in RAW_TEXT}

_Bytes = NDArray[np.uint8]
_Ints = NDArray[np.int64]
_Flags = NDArray[np.bool_]


def _table(chars: bytes) -> _Flags:
    flags = np.zeros(256, dtype=np.bool_)
    flags[list(chars)] = True
    return flags


_LETTER = _table(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_OPENS = _LETTER | _table(b"/!?")
_DELIMITER = _table(b" \t\r\n\f/>")
_LOWER = np.uint64(0x2020202020202020)
_LETTER_BIT = np.uint64(0x4040404040404040)
_ONE, _SIX = np.uint64(1), np.uint64(6)
_COMMENT_MASK = np.uint64(0xFFFFFF)
_COMMENT_WORD = np.uint64(int.from_bytes(b"!--", "little"))


@dataclass(frozen=True, slots=True)
class Tags:
    """Partitioning tags in the order of the page; both lists have one length.

    `places` are byte offsets: where a start tag begins, where an end tag ends, one past its `>`. `kinds` are twice
    the rank in the tag-set, plus one for an end tag.
    """

    places: list[int]
    kinds: list[int]


@dataclass(frozen=True, slots=True)
class _Names:
    """Element names as integers: up to eight lower-case letters, first letter lowest. Sorted by key."""

    keys: NDArray[np.uint64]
    ranks: NDArray[np.int16]
    lengths: NDArray[np.int64]
    n_tags: int


@lru_cache(maxsize=32)
def _names(tag_set: tuple[str, ...]) -> _Names:
    ranked = {tag: rank for rank, tag in reversed(list(enumerate(tag_set)))}
    if not ranked or not all(re.fullmatch("[a-z]{1,8}", tag) for tag in ranked):
        raise ValueError(f"tag-set {tag_set!r}: names of one to eight lower-case letters expected")
    for index, name in enumerate(RAW_TEXT):
        ranked.setdefault(name, len(tag_set) + index)
    rows = sorted((int.from_bytes(name.encode(), "little"), rank, len(name)) for name, rank in ranked.items())
    rows.append(((1 << 64) - 1, _NONE, 0))  # above all that may be looked for
    keys, ranks, lengths = zip(*rows, strict=True)
    return _Names(np.array(keys, np.uint64), np.array(ranks, np.int16), np.array(lengths), len(tag_set))


def find_tags(text: bytes, tag_set: tuple[str, ...]) -> Tags:
    """Return the tags of `tag_set` in an ASCII-compatible page. ValueError for a name that is no element's."""
    names = _names(tag_set)
    tags = Tags([], [])
    begin = 0
    while begin < len(text):
        stop = min(len(text), begin + WINDOW_BYTES)
        begin = max(stop, _window(text, begin, stop, names, tags))
    return tags


def _window(text: bytes, begin: int, stop: int, names: _Names, tags: Tags) -> int:
    """Add the tags that start in `text[begin:stop]`; return where the last markup that starts there ends."""
    data = np.frombuffer(text[begin : stop + _PAD].ljust(stop - begin + _PAD, b"\0"), np.uint8)
    special = _specials(data[: stop - begin])
    codes = data[special]
    at = (codes == 60).nonzero()[0]
    first = data[special[at] + 1]
    opens = _OPENS[first]
    if not opens.any():
        return stop
    ends, odd = (found[opens] for found in _simple_ends(special, codes, at, stop - begin))
    starts, first = special[at[opens]], first[opens]
    closing = first == 47
    ranks = _ranks(data, starts + 1 + closing, first == 33, names)
    few = (ranks != _NONE).nonzero()[0]
    tagged = few[ranks[few] < names.n_tags]
    few = few[ranks[few] >= names.n_tags]
    _need_a_look(data, few, ends, odd, ranks, closing)
    odd[:-1] |= starts[1:] < ends[:-1]
    valid = np.ones(len(starts), dtype=np.bool_)
    position = _follow(text, begin, starts, ends, ranks, odd.nonzero()[0], valid, names)
    take = tagged[valid[tagged]]
    ended = closing[take]
    tags.places.extend((np.where(ended, ends[take], starts[take]) + begin).tolist())
    tags.kinds.extend((ranks[take] * 2 + ended).tolist())
    return position


_NONE, _COMMENT_RANK = -1, 1000


def _specials(data: _Bytes) -> _Ints:
    """Return where `<`, `>` and quotes stand."""
    flags = data | np.uint8(2)
    found: _Flags = flags == 62  # 60 and 62 differ in this bit alone
    found |= data == 34
    found |= data == 39
    return found.nonzero()[0]


def _simple_ends(special: _Ints, codes: _Bytes, at: _Ints, size: int) -> tuple[_Ints, _Flags]:
    """Return where each `<` ends if it does at the next `>`, and whether quotes or another `<` make that doubtful."""
    gt = (codes == 62).nonzero()[0]
    following = gt.searchsorted(at)
    missing = following == len(gt)
    last = np.append(gt, len(codes) - 1)[following]
    ends = np.where(missing, size, special[last] + 1)
    n_quotes = last - at - 1
    single = (codes == 39).cumsum(dtype=np.int32)
    n_single = single[last] - single[at]
    odd = missing | (n_quotes & 1 == 1) | ((n_single > 0) & (n_single != n_quotes))
    odd[:-1] |= at[1:] < last[:-1]
    return ends, odd


def _need_a_look(data: _Bytes, few: _Ints, ends: _Ints, odd: _Flags, ranks: NDArray[np.int16], closing: _Flags) -> None:
    """Mark as `odd` which comments and raw text, the openers `few`, do not end at the next `>`, or hide others.

    Not so a comment whose next `>` follows `--`, nor raw text when the next opener is its end tag.
    """
    comments = few[ranks[few] == _COMMENT_RANK]
    end = ends[comments]
    odd[comments] = (data[end - 2] != 45) | (data[end - 3] != 45) | (data[end - 1] != 62)
    raw = few[(ranks[few] < _COMMENT_RANK) & ~closing[few]]
    after = np.minimum(raw + 1, len(ranks) - 1)
    odd[raw] |= ~closing[after] | (ranks[after] != ranks[raw])
    ranks[few[closing[few]]] = _NONE


def _ranks(data: _Bytes, name_at: _Ints, bang: _Flags, names: _Names) -> NDArray[np.int16]:
    """Return for each opener the rank of its name, of raw text (its end tag too) or of a comment; or _NONE."""
    raw = np.ndarray((len(data) - 8,), "<u8", data, strides=(1,))[name_at]
    words = raw | _LOWER
    stops = ~words & _LETTER_BIT  # the bytes that are no letters; the lowest ends the name
    keys = words & (((stops & (~stops + _ONE)) >> _SIX) - _ONE)
    found = names.keys.searchsorted(keys)
    known = (names.keys[found] == keys) & _DELIMITER[data[name_at + names.lengths[found]]]
    ranks = np.where(known, names.ranks[found], np.int16(_NONE))
    declared = bang.nonzero()[0]
    ranks[declared[raw[declared] & _COMMENT_MASK == _COMMENT_WORD]] = _COMMENT_RANK
    return ranks


def _follow(
    text: bytes,
    begin: int,
    starts: _Ints,
    ends: _Ints,
    ranks: NDArray[np.int16],
    odd: _Ints,
    valid: _Flags,
    names: _Names,
) -> int:
    """Find the true ends of the openers that need a closer look; what lies inside them is no markup."""
    position = 0
    offsets = [*starts.tolist(), len(text)]
    for index, rank in zip(odd.tolist(), ranks[odd].tolist(), strict=True):
        start = offsets[index] + begin
        if start < position:
            continue
        position = _true_end(text, start, rank, names.n_tags)
        ends[index] = position - begin
        if offsets[index + 1] < position - begin:
            valid[index + 1 : bisect_left(offsets, position - begin, index + 1)] = False
    return position


def _true_end(text: bytes, start: int, rank: int, n_tags: int) -> int:
    """Return the offset after the markup, with the raw text it opens, that starts at `start`."""
    if rank == _COMMENT_RANK:
        match = _EMPTY_COMMENT.match(text, start)
        assert match is not None
        closing = match if match[1] else _COMMENT_END.search(text, match.end())
        return closing.end() if closing else len(text)
    match = _MARKUP.match(text, start)
    assert match is not None
    end = match.end()
    if rank >= n_tags:
        closing = _RAW_END[RAW_TEXT[rank - n_tags]].search(text, end)
        return closing.start() if closing else len(text)
    return end
