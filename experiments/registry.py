"""The experiments by name; what one needs is imported when it is asked for."""

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from experiments.datasets import DataSet
    from experiments.report import Report
    from experiments.runs import Context

    Run = Callable[[Sequence[DataSet], Context], Report]


class Experiment(NamedTuple):
    """An entry of the list: where it is, and what it reproduces."""

    name: str
    where: str
    summary: str


EXPERIMENTS = {
    each.name: each
    for each in (
        Experiment("paper", "experiments.debnath:paper", "Debnath et al. 2005: tables 2, 3, 6, figures 7 to 10"),
        Experiment("entropy", "experiments.linho:entropy", "Lin, Ho 2002: figures 5 to 7, table 2"),
        Experiment("mountain", "experiments.mountainmodel:mountain", "Bing et al. 2008: figures 3 to 8"),
        Experiment("retrieval", "experiments.retrieval:retrieval", "Cai et al. 2004: block retrieval, query expansion"),
        Experiment("compare", "experiments.compare:compare", "all extractors side by side"),
        Experiment("patterns", "experiments.keypatterns:patterns", "key patterns: table 1, figures 5 and 6"),
    )
}


def experiment(name: str) -> "Run":
    """Return the experiment of that name. ValueError, with the known ones, for another."""
    if name not in EXPERIMENTS:
        raise ValueError(f"{name!r} is no experiment: one of {', '.join(EXPERIMENTS)} expected")
    module, _, attribute = EXPERIMENTS[name].where.partition(":")
    found: Run = getattr(importlib.import_module(module), attribute)
    return found
