"""What kinds of characters texts are made of, counted for all texts of a page at once; and their words."""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_WORD, _DIGIT, _UPPER, _STOP, _COMMA, _COLON, _RULE, _CJK, _MONEY, _QUESTION, _RIGHTS, _SPACE, _QUOTE = (
    1 << i for i in range(13)
)
NAMING, LETTER = 1 << 13, 1 << 14
"""The characters of words: `\\w` of regular expressions, and those of them that are no digits and no underscores."""

_MARKS = (
    (_STOP, ".!?…。！？"),
    (_COMMA, ",，、;；"),
    (_COLON, ":："),
    (_RULE, "|»«›·•→/"),
    (_MONEY, "$€£¥₹₽₩"),
    (_QUESTION, "?？"),
    (_RIGHTS, "©®"),
    (_QUOTE, "\"'”’“‘)]»"),
)
_BLANK = ord(" ")
_CJK_RANGES = ((0x0E00, 0x0E80), (0x3040, 0x3100), (0x3400, 0xA000), (0xAC00, 0xD7B0))

COUNTS = [
    "words",
    "chars",
    "sentences",
    "commas",
    "digits",
    "uppers",
    "capitals",
    "rules",
    "prices",
    "questions",
    "rights",
    "years",
    "clocks",
    "cjk",
    "lines",
]
"""The columns of `count`, in order."""
ENDS = ("starts_upper", "starts_digit", "ends_stop", "ends_colon", "starts_rule")
"""The columns of `ends`, in order."""

Counts = NDArray[np.float32]


@cache
def _table() -> NDArray[np.uint16]:
    """The classes of each character below U+10000; those beyond count as the last one, a word character."""
    table = np.zeros(0x10000, dtype=np.uint16)
    table[0x3100:0xD800] = _WORD
    table[0xFFFF] = _WORD
    for code in range(0x3100):
        char = chr(code)
        table[code] = (
            (_WORD if char.isalnum() or char == "_" else 0)
            | (_DIGIT if char.isdigit() else 0)
            | (_UPPER if char.isupper() else 0)
            | (_SPACE if char.isspace() else 0)
        )
    for begin, end in _CJK_RANGES:
        table[begin:end] |= _CJK
    for flag, chars in _MARKS:
        table[[ord(char) for char in chars]] |= flag
    every = "".join(map(chr, range(0x10000)))
    for flag, pattern in ((NAMING, r"\w+"), (LETTER, r"[^\W\d_]+")):
        for run in re.finditer(pattern, every):
            table[run.start() : run.end()] |= flag
    table.flags.writeable = False
    return table


class Words(NamedTuple):
    """The words of several texts: those of text i are the `sizes[i]` words of `found` from `begins[i]`."""

    found: list[str]
    begins: NDArray[np.int64]
    sizes: NDArray[np.int64]


class Characters:
    """The characters of several texts, each of at least one character, one after the other."""

    def __init__(self, texts: Sequence[str]) -> None:
        joined = "\n".join(texts) + "\n"
        self.codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        self.classes = _table()[np.minimum(self.codes, 0xFFFF)]
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        self.ends = np.cumsum(sizes + 1) - 1
        self.starts = self.ends - sizes
        self.sizes = sizes

    def total(self, mask: NDArray[np.bool_]) -> Counts:
        """Return how many characters of each text the mask has."""
        return np.add.reduceat(mask, self.starts, dtype=np.int32).astype(np.float32)

    def has(self, flag: int) -> NDArray[np.bool_]:
        """Return which characters are of a class."""
        found: NDArray[np.bool_] = (self.classes & flag) != 0
        return found

    def counts(self) -> Counts:
        """Return the counts named in COUNTS, shape (n_texts, n_columns). A CJK character counts as half a word."""
        word, digit, stop = self.has(_WORD), self.has(_DIGIT), self.has(_STOP)
        cjk, upper = self.has(_CJK), self.has(_UPPER)
        first = word & ~_before(word)
        space = self.has(_SPACE)
        after = _after(space | self.has(_QUOTE))
        n_cjk = self.total(cjk)
        number = digit & ~_before(digit)
        money = self.has(_MONEY)
        inside = np.ones(len(digit), dtype=np.bool_)
        inside[self.ends] = False
        price = (money & (_after(digit) | _after(inside & _after(digit)))) | (digit & _after(money))
        columns = (
            self.total(first & ~cjk) + n_cjk / 2,
            self.sizes,
            self.total(stop & (after | cjk)),
            self.total(self.has(_COMMA)),
            self.total(digit),
            self.total(upper),
            self.total(first & upper),
            self.total(self.has(_RULE)),
            self.total(price),
            self.total(self.has(_QUESTION)),
            self.total(self.has(_RIGHTS)),
            self.total(self._years(number, digit)),
            self.total(self.has(_COLON) & _before(digit) & _after(digit)),
            n_cjk,
            self.total(self.codes == 10),
        )
        return np.stack(columns, axis=1).astype(np.float32)

    def words(self, flag: int, *, head: int, tail: int = 0, least: int = 1) -> Words:
        """Return the words in lower case within the first and the last characters of each text.

        A word is a run of `least`, one or two, or more characters of a class: NAMING or LETTER.
        """
        place = np.arange(len(self.codes)) - np.repeat(self.starts, self.sizes + 1)
        inside = place < head
        if tail:
            inside |= place >= np.repeat(self.sizes - tail, self.sizes + 1)
        inside &= self.has(flag)
        if least > 1:
            inside &= _before(inside) | _after(inside)
        sizes = np.add.reduceat(inside & ~_before(inside), self.starts, dtype=np.int64)
        spaced = np.where(inside, self.codes, np.uint32(_BLANK)).astype("<u4", copy=False)
        return Words(spaced.tobytes().decode("utf-32-le").lower().split(), np.cumsum(sizes) - sizes, sizes)

    def _years(self, number: NDArray[np.bool_], digit: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return where a number of four digits from 19xx or 20xx begins."""
        at = np.flatnonzero(number[:-4])
        codes = self.codes
        century = ((codes[at] == 49) & (codes[at + 1] == 57)) | ((codes[at] == 50) & (codes[at + 1] == 48))
        at = at[century]
        at = at[digit[at + 2] & digit[at + 3] & ~digit[at + 4]]
        mask = np.zeros(len(codes), dtype=np.bool_)
        mask[at] = True
        return mask

    def edges(self) -> Counts:
        """Return the flags named in ENDS, shape (n_texts, n_columns)."""
        head, tail = self.classes[self.starts], self.classes[self.ends - 1]
        before = self.classes[np.maximum(self.ends - 2, self.starts)]
        quoted = (tail & _QUOTE) != 0
        stop = ((tail & _STOP) != 0) | (quoted & ((before & _STOP) != 0))
        columns = (head & _UPPER, head & _DIGIT, stop, tail & _COLON, head & _RULE)
        return np.stack([column != 0 for column in columns], axis=1).astype(np.float32)


def _before(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the mask of the character before each."""
    return np.concatenate(([False], mask[:-1]))


def _after(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the mask of the character after each."""
    return np.concatenate((mask[1:], [False]))
