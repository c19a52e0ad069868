"""b-precision, b-recall and b-F-measure (Debnath et al. 2005, equations 5 to 7), and their kin over other units."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.labels import Label, words


@dataclass(frozen=True, slots=True)
class Counts:
    """What was found right (r), found in all (t), and wanted in all (r + m of equation 6). Counts add up."""

    right: int = 0
    found: int = 0
    wanted: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.right + other.right, self.found + other.found, self.wanted + other.wanted)

    @property
    def precision(self) -> float:
        """r / t, equation 5; 1.0 when nothing was found and nothing wanted, 0.0 when only the former."""
        return self.right / self.found if self.found else float(not self.wanted)

    @property
    def recall(self) -> float:
        """r / (r + m), equation 6; 1.0 when nothing was wanted."""
        return self.right / self.wanted if self.wanted else 1.0

    @property
    def f_measure(self) -> float:
        """The harmonic mean of both, equation 7."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum."""
    return sum(counts, Counts())


def block_counts(flags: Sequence[bool], labels: Sequence[Label]) -> Counts:
    """Return the counts over the blocks that have a label.

    >>> block_counts([True, True, False, True], [True, False, True, None])
    Counts(right=1, found=2, wanted=2)
    """
    pairs = [(flag, label) for flag, label in zip(flags, labels, strict=True) if label is not None]
    return Counts(
        sum(1 for flag, label in pairs if flag and label),
        sum(1 for flag, _ in pairs if flag),
        sum(1 for _, label in pairs if label),
    )


def feature_counts(found: Iterable[str], wanted: Iterable[str]) -> Counts:
    """Return the counts over distinct features (terms), as Lin and Ho do (2002, section 5)."""
    a, b = set(found), set(wanted)
    return Counts(len(a & b), len(a), len(b))


def sentence_counts(found: str, wanted: str) -> Counts:
    """Return the counts over sentences, as the Mountain Model's authors do (Bing et al. 2008, section 5).

    A sentence ends at a full stop, an exclamation or question mark, or a line; it is compared by its words.
    """
    a, b = Counter(sentences(found)), Counter(sentences(wanted))
    return Counts((a & b).total(), a.total(), b.total())


def sentences(text: str) -> list[str]:
    """Return the sentences of a text as joined words, those without words left out.

    >>> sentences("It rains. It pours!\\nThe end")
    ['it rains', 'it pours', 'the end']
    """
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        for part in _split(line):
            parts.append(words(part))
    return [" ".join(part) for part in parts if part]


def _split(line: str) -> list[str]:
    for mark in "!?。！？":
        line = line.replace(mark, ".")
    return line.split(".")
