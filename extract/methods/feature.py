"""FeatureExtractor and K-FeatureExtractor (Debnath et al. 2005, section 5): blocks with the desired features.

A feature's value in a block is its count divided by the highest count among the page's blocks. A block is a winner
when its desired features sum to more than all the others; among the winners the values are taken anew.
FeatureExtractor gives the one with the highest desired value, K-FeatureExtractor clusters these values by k-means from
equidistant initial centroids and gives the high cluster (sections 5.1 and 5.2).

A block here is "the whole table, in the highest depth of table tree": the innermost table, and since pages are laid
out otherwise than by tables, the innermost container. `level="block"` takes the atomic blocks.

Departures: where no block wins, all blocks with some of the desired features stand in the basket; the paper does not
say. Script is no feature of a text block's rivals unless it is desired: hidden code does not make a text less of one.
Nor is the table tag where blocks are tables: each has exactly one, its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from blocks.features import FEATURES, block_vectors
from extract.methods.kmeans import equidistant, kmeans
from extract.protocol import Extraction, Page, Verdict
from extract.tree import innermost

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_COLUMNS: dict[str, tuple[str, ...]] = {
    "text": ("terms",),
    "text-tag": ("headings", "phrases"),
    "list": ("lists",),
    "table": ("tables",),
    "link": ("links",),
    "object": ("images", "objects"),
    "frame": ("frames",),
    "form": ("forms", "inputs"),
    "script": ("scripts",),
    "style-sheet": ("styles",),
}
"""The paper's features (section 5.1): which columns of the block feature vector count for each."""

FEATURE_NAMES = (*_COLUMNS, "image")

CONTAINERS = frozenset(
    {"table", "div", "section", "article", "main", "aside", "header", "footer", "nav", "form", "blockquote"}
)

LEVELS = ("table", "block")

K = 2
"""Clusters of K-FeatureExtractor: "the usual values of k taken are 2 or 3" (section 5.2)."""


def feature_counts(counts: NDArray[np.float32]) -> dict[str, Floats]:
    """Return the paper's features of blocks from the columns of their feature vectors, and `image` alone."""
    at = {feature.name: index for index, feature in enumerate(FEATURES)}
    found = {
        name: counts[:, [at[column] for column in columns]].sum(axis=1, dtype=np.float64)
        for name, columns in _COLUMNS.items()
    }
    found["image"] = counts[:, at["images"]].astype(np.float64)
    return found


def feature_values(
    counts: Mapping[str, Floats], maxima: Mapping[str, float] = MappingProxyType({})
) -> dict[str, Floats]:
    """Return the counts divided by their maximum, 0.0 to 1.0 (section 5.1); given maxima count where they are higher.

    >>> values = feature_values({"text": np.array([1000.0, 2000.0]), "image": np.array([2.0, 4.0])})
    >>> float(values["text"][0]), float(values["image"][0])
    (0.5, 0.5)
    """
    return {
        name: column / max(float(column.max(initial=0.0)), maxima.get(name, 0.0), 1.0)
        for name, column in counts.items()
    }


@dataclass(frozen=True, slots=True)
class Maxima:
    """The highest count of each feature in a unit of any page."""

    n_pages: int = 0
    highest: Mapping[str, float] = field(default_factory=dict)

    def merge(self, other: "Maxima") -> "Maxima":
        """Return the higher of both."""
        names = {**self.highest, **other.highest}
        highest = {name: max(self.highest.get(name, 0.0), other.highest.get(name, 0.0)) for name in names}
        return Maxima(self.n_pages + other.n_pages, highest)


@dataclass(frozen=True, slots=True)
class Winners:
    """The winner-basket: which units are in it, and their desired value among all units and among the winners."""

    basket: Flags
    among_all: Floats
    among_winners: Floats


def winners(counts: Mapping[str, Floats], desired: Mapping[str, float], maxima: Mapping[str, float]) -> Winners:
    """Return the winner-basket of units (Algorithm 3): desired features weigh as given, the others 1."""
    values = feature_values(counts, maxima)
    wanted = _weighted(values, desired)
    parts = {part for name in desired for part in (("object",) if name == "image" else (name,))}
    others = sum((values[name] for name in _COLUMNS if name not in parts and name != "script"), np.zeros(len(wanted)))
    basket: Flags = wanted > others
    if not basket.any():
        basket = wanted > 0
    again = feature_values({name: np.where(basket, column, 0.0) for name, column in counts.items()})
    return Winners(basket, wanted, _weighted(again, desired))


def _weighted(values: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    total = sum(weights.values()) or 1.0
    result: Floats = sum((values[name] * weight for name, weight in weights.items()), np.zeros(len(values["text"])))
    return result / total if total > 1 else result


@dataclass(frozen=True, slots=True)
class _Features(ABC):
    """What both have in common: the basket. `features` maps desired features to weights."""

    name: ClassVar[str]
    features: Mapping[str, float] = field(default_factory=lambda: {"text": 1.0})
    level: str = "table"

    def __post_init__(self) -> None:
        for feature in self.features:
            if feature not in FEATURE_NAMES:
                raise ValueError(f"feature {feature!r}: one of {', '.join(FEATURE_NAMES)} expected")
        if not self.features:
            raise ValueError(f"no feature: at least one of {', '.join(FEATURE_NAMES)} expected")
        if self.level not in LEVELS:
            raise ValueError(f"level {self.level!r}: one of {', '.join(LEVELS)} expected")

    def prepare(self, pages: Iterable[Page]) -> Maxima:
        """Return the highest counts on these pages; "a single HTML page is all that is needed" (table 4)."""
        evidence = Maxima()
        for page in pages:
            counts = self._counts(page, self._units(page))
            highest = {name: float(column.max(initial=0.0)) for name, column in counts.items()}
            evidence = evidence.merge(Maxima(1, highest))
        return evidence

    def extract(self, page: Page, evidence: Maxima) -> Extraction:
        """Return the verdicts; the score is the desired value of a block's unit among all units."""
        units = self._units(page)
        found = winners(self._counts(page, units), self.features, evidence.highest)
        chosen = self.choose(found)
        what = "+".join(self.features)
        whys = (f"not mostly {what}", f"{what}, but not among the winners", f"a winner by {what}")
        reason = found.basket.astype(int) + chosen
        verdicts = [
            Verdict(bool(chosen[unit]), min(1.0, float(found.among_all[unit])), whys[reason[unit]]) for unit in units
        ]
        return Extraction(page, tuple(verdicts))

    def _counts(self, page: Page, units: NDArray[np.int64]) -> dict[str, Floats]:
        """Return the features of the page's units."""
        counts = feature_counts(block_vectors(page.pieces, page.encoding).counts)
        counts["text"] *= [bool(text) for text in page.texts]  # a title, a NOSCRIPT is no text to be seen
        if self.level == "table" and "table" not in self.features:
            counts["table"][:] = 0
        return {name: np.bincount(units, column).astype(np.float64) for name, column in counts.items()}

    def _units(self, page: Page) -> NDArray[np.int64]:
        """Return the number of each block's unit."""
        if self.level == "block":
            return np.arange(len(page))
        nodes = innermost(page.tree, CONTAINERS, page.starts[:-1])
        return np.unique(nodes, return_inverse=True)[1]

    @abstractmethod
    def choose(self, found: Winners) -> Flags:
        """Return which units are content."""


@dataclass(frozen=True, slots=True)
class FeatureExtractor(_Features):
    """The one winner with the highest desired value (Algorithm 3)."""

    name = "FeatureExtractor"

    def choose(self, found: Winners) -> Flags:
        """Return the winner alone; the first of equals."""
        chosen = np.zeros(len(found.basket), dtype=np.bool_)
        if found.basket.any():
            chosen[int(np.where(found.basket, found.among_winners, -1.0).argmax())] = True
        return chosen


@dataclass(frozen=True, slots=True)
class KFeatureExtractor(_Features):
    """The high cluster of `k` of the winners' desired values (Algorithm 4)."""

    name = "K-FeatureExtractor"
    k: int = K

    def choose(self, found: Winners) -> Flags:
        """Return the winners in the cluster with the highest centroid."""
        chosen = np.zeros(len(found.basket), dtype=np.bool_)
        places = np.flatnonzero(found.basket)
        if len(places):
            values = found.among_winners[places]
            labels, centroids = kmeans(values[:, None], equidistant(values, max(self.k, 1))[:, None])
            members = np.bincount(labels, minlength=len(centroids)) > 0
            best = int(np.where(members, centroids[:, 0], -1.0).argmax())
            chosen[places[labels == best]] = True
        return chosen
