"""Training of the support vector machines, with scikit-learn; `extract.methods.svm` applies what it leaves with numpy.

The models that the program ships are trained on the WCXB development split (CC-BY-4.0) and on nothing else.
"""

import json
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import Sample, load
from extract.methods.cover import ink, sums
from extract.methods.linear import COLUMNS, rows_of
from extract.methods.mountain import Shape, cells_of, gamma_of, ridges_of
from extract.methods.svm import LinearSvm, RbfSvm
from extract.protocol import MissingExtra, Page

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FOLDS_MOUNTAIN = 4
"""Of the cross validation (Bing et al. 2008, section 4)."""

MAX_ROWS = 1000
"""Training rows of the RBF machine: its support vectors are shipped and cost time at every page."""

FOLDS_LINEAR = 5
"""Of the cross validation (Debnath et al. 2005, section 7)."""

MAX_BLOCKS = 6000
"""Training rows of the linear machine."""

MIN_DEVIATION = 0.01
"""Features that hardly vary are not stretched."""

SHIPPED_PAGES = 400

SEED = 0


@dataclass(frozen=True, slots=True)
class Trained:
    """A machine, its mean accuracy in cross validation, and on how many rows it was trained."""

    machine: Any
    accuracy: float
    n_rows: int


def sklearn() -> Any:
    """Return scikit-learn's svm module. MissingExtra, in a sentence, without it."""
    try:
        from sklearn import svm
    except ImportError as exc:
        raise MissingExtra("training needs scikit-learn: pip install 'pagemason[experiments]'") from exc
    return svm


def ridge_rows(samples: Iterable[Sample], shape: Shape = Shape()) -> tuple[Floats, Flags]:  # noqa: B008 (frozen)
    """Return the features of the ridges of pages, shape (n, 4), and which are primary, by the block labels."""
    rows: list[tuple[float, ...]] = []
    primary: list[bool] = []
    for sample in samples:
        cells = cells_of(sample.page)
        ridges, _ = ridges_of(cells, gamma_of(sample.page), shape)
        spans = [(cells[ridge.first].start, cells[ridge.last - 1].end) for ridge in ridges]
        rows.extend(ridge.features for ridge in ridges)
        primary.extend(content_shares(sample.page, sample.labels, spans) > 0.5)
    return np.array(rows, dtype=np.float64).reshape(-1, 4), np.array(primary, dtype=np.bool_)


def content_shares(page: Page, labels: Sequence[bool | None], spans: Sequence[tuple[int, int]]) -> Floats:
    """Return which share of each span's visible characters lies in content blocks, 0.0 to 1.0."""
    visible = ink(page)
    wanted = np.repeat(np.array([bool(label) for label in labels]), np.diff(page.starts)) & visible
    edges = [edge for span in spans for edge in span]
    both = [sums(values, edges)[::2] if edges else np.zeros(0) for values in (wanted, visible)]
    shares: Floats = both[0] / np.maximum(both[1], 1)
    return shares


def train_mountain(rows: Floats, primary: Flags, max_rows: int = MAX_ROWS) -> Trained:
    """Return the ridge classifier of labelled ridges. ValueError unless there are both kinds in each fold.

    Departure: both kinds weigh the same, because how many ridges of a page are primary differs from corpus to corpus.
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    machine = _ridge_machine()
    _both_kinds(primary, FOLDS_MOUNTAIN, "primary", "ridges")
    chosen = np.random.default_rng(SEED).permutation(len(rows))[:max_rows]
    folds = StratifiedKFold(FOLDS_MOUNTAIN, shuffle=True, random_state=SEED)
    accuracy = float(cross_val_score(machine, rows[chosen], primary[chosen], cv=folds).mean())
    return Trained(fit_mountain(rows[chosen], primary[chosen]), accuracy, len(chosen))


def _ridge_machine() -> Any:
    return sklearn().SVC(kernel="rbf", C=1.0, gamma="scale", class_weight="balanced", random_state=SEED)


def fit_mountain(rows: Floats, primary: Flags) -> RbfSvm:
    """Return the ridge classifier of labelled ridges, without cross validation; one kind alone is always chosen."""
    if primary.all() or not primary.any():
        return RbfSvm(((0.0,) * 4,), (0.0,), 1.0 if primary.any() else -1.0, 1.0)
    machine = _ridge_machine().fit(rows, primary)
    vectors = tuple(tuple(map(float, vector)) for vector in machine.support_vectors_)
    coefficients = tuple(map(float, machine.dual_coef_[0]))
    return RbfSvm(vectors, coefficients, float(machine.intercept_[0]), float(machine._gamma))


def block_rows(samples: Iterable[Sample]) -> tuple[Floats, Flags]:
    """Return the features of the blocks that have a label, shape (n, len(COLUMNS)), and which are content."""
    rows: list[Floats] = [np.zeros((0, len(COLUMNS)))]
    content: list[bool] = []
    for sample in samples:
        labelled = [index for index, label in enumerate(sample.labels) if label is not None]
        rows.append(rows_of(sample.page)[labelled])
        content.extend(bool(sample.labels[index]) for index in labelled)
    return np.concatenate(rows), np.array(content, dtype=np.bool_)


def train_linear(rows: Floats, content: Flags, max_rows: int = MAX_BLOCKS) -> Trained:
    """Return the block classifier of labelled blocks: C = 1, five-fold cross validation (section 7).

    ValueError unless there are both kinds in each fold.
    """
    svm = sklearn()
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    _both_kinds(content, FOLDS_LINEAR, "content", "blocks")
    chosen = np.random.default_rng(SEED).permutation(len(rows))[:max_rows]
    means, deviations = rows[chosen].mean(axis=0), rows[chosen].std(axis=0)
    scales = np.where(deviations > MIN_DEVIATION, deviations, 1.0)
    standard, labels = (rows[chosen] - means) / scales, content[chosen]
    machine = svm.SVC(kernel="linear", C=1.0, random_state=SEED)
    folds = StratifiedKFold(FOLDS_LINEAR, shuffle=True, random_state=SEED)
    accuracy = float(cross_val_score(machine, standard, labels, cv=folds).mean())
    machine.fit(standard, labels)
    numbers = {"means": means, "scales": scales, "weights": machine.coef_[0], "bias": machine.intercept_[0]}
    return Trained(LinearSvm.of({"features": COLUMNS, **numbers}), accuracy, len(chosen))


def _both_kinds(flags: Flags, folds: int, kind: str, unit: str) -> None:
    if min(flags.sum(), (~flags).sum()) < folds:
        raise ValueError(f"{int(flags.sum())} {kind} of {len(flags)} {unit}: at least {folds} of either kind expected")


def module_of(machine: LinearSvm | RbfSvm, title: str) -> str:
    """Return the source of a module with the machine as `SHIPPED`, numbers rounded to four digits."""
    kind = type(machine).__name__
    values = json.dumps({name: _rounded(value) for name, value in asdict(machine).items()})
    lines = textwrap.wrap(values, 118, break_long_words=False, break_on_hyphens=False)
    head = f'"""{title}"""\n\nimport json\n\nfrom extract.methods.svm import {kind}\n\n'
    return head + f'SHIPPED = {kind}.of(\n    json.loads("""\n' + "\n".join(lines) + '\n""")\n)\n'


def _rounded(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value


def main() -> None:
    """Train what is shipped: `python -m experiments.training wcxb-dev.warc.gz extract`."""
    corpus, folder = map(Path, sys.argv[1:3])
    data = load(corpus)
    order = np.random.default_rng(SEED).permutation(len(data.samples))[:SHIPPED_PAGES]
    samples = [data.samples[index] for index in sorted(order.tolist())]
    for module, unit, trained in (
        ("linear_weights", "blocks", train_linear(*block_rows(samples))),
        ("mountain_weights", "ridges", train_mountain(*ridge_rows(samples))),
    ):
        title = f"Trained on {trained.n_rows} {unit} of {len(samples)} pages of {data.name} (CC-BY-4.0)."
        (folder / f"{module}.py").write_text(module_of(trained.machine, title))
        print(f"{module}: accuracy {trained.accuracy:.3f} in cross validation")
    print(f"data: {data.digests}")


if __name__ == "__main__":
    main()
