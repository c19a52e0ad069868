"""What Debnath et al. 2005 claim of their methods, and whether it holds on our classes: over all of them, and on each.

A class's runs are LH, CE, FE, K-FE and Shingling, then K-FE and FE on atomic blocks.
"""

from collections.abc import Mapping, Sequence

from experiments.datasets import Sample
from experiments.metrics import Counts, total
from experiments.report import Cell, Section, Table
from experiments.runs import CLAIMS_HEAD, Run, claim, layout_of, triple

LH, CE, FE, K_FE, SHINGLING, K_FE_BLOCKS, FE_BLOCKS = range(7)
"""Places of a class's runs."""

TOLERANCE = 0.02
"""What CE's b-F-measure may be below Shingling's."""

SPEED = 3
"""Times that CE is to be as fast as Shingling."""

LEAST_RECALL, LEAST_F = 0.95, 0.75
"""What CE is to reach on layouts of tables."""

Classes = Mapping[str, Sequence[Sample]]
Runs = Mapping[str, Sequence[Run]]
Claim = tuple[str, str, str, str]


def claims(labelled: Classes, runs: Runs) -> Section:
    """Return what the paper claims of tables 2, 3 and 6, and whether it holds here."""
    layouts = {name: layout_of(samples) for name, samples in labelled.items()}
    text = {name: each for name, each in runs.items() if isinstance(labelled[name][0].truth, str)} or dict(runs)
    several = {name: _on_several_blocks(labelled[name], each) for name, each in text.items()}
    rows = [_precision_claim(text, CE, "CE"), _precision_claim(text, K_FE, "K-FE"), *_shingling_claims(text)]
    rows.append(_winner_claim(several))
    tables = {name: each for name, each in text.items() if layouts[name] == "TABLE"}
    if tables:
        rows.append(_layout_claim(tables))
    by_site = [(name, layouts[name], *_of_site(text[name], several[name])) for name in sorted(text)]
    by_layout = [
        (name, layouts[name], *triple(each[CE].total), *triple(each[LH].total)) for name, each in sorted(text.items())
    ]
    measures = ("b-Prec", "b-Recall", "b-F")
    head = ("site", "layout", *(f"{measure} of {method}" for method in ("CE", "LH") for measure in measures))
    return Section(
        "What the paper claims, and what we found",
        _TEXT,
        [
            Table("claims", "Claims over all blocks", CLAIMS_HEAD, rows),
            Table("claims-by-site", "Claims by site and year", _BY_SITE, by_site, digits=2),
            Table("layouts", "CE and LH by layout: TABLE where most text stands in tables", head, by_layout),
        ],
    )


_TEXT = (
    "Differences above zero speak for the claim. The last column says where a claim does not hold, and what the "
    "counts of that class show of the reason.",
)
_BY_SITE = (
    "site",
    "layout",
    "b-Prec, CE less LH",
    "b-Prec, K-FE less LH",
    "b-F, CE less Shingling",
    "CE, times as fast as Shingling",
    "b-Recall of FE, several blocks",
    "b-Recall of K-FE, several blocks",
    "where not, and why",
)


def _of_site(each: Sequence[Run], several: tuple[int, Counts, Counts]) -> tuple[Cell, ...]:
    """Return the cells of a class after its name and layout."""
    lh, ce, k_fe, shingling = (each[at].total for at in (LH, CE, K_FE, SHINGLING))
    times = each[SHINGLING].seconds / max(each[CE].seconds, 1e-9)
    _, of_k, of_one = several
    whys = []
    if ce.precision == lh.precision:
        whys.append("CE: as LH")
    elif ce.precision < lh.precision:
        whys.append(f"CE: LH drops blocks of common words, its b-recall is {lh.recall:.2f}, CE's {ce.recall:.2f}")
    if k_fe.precision <= lh.precision and k_fe.recall < lh.recall / 2:
        whys.append(f"K-FE: links and lists outweigh the text in the article's container (b-recall {k_fe.recall:.2f})")
    elif k_fe.precision <= lh.precision:
        whys.append(f"K-FE: the article's container holds other text (b-recall {k_fe.recall:.2f})")
    if ce.f_measure < shingling.f_measure - TOLERANCE:
        whys.append(
            f"Shingling: b-precision {shingling.precision:.2f}, b-recall {shingling.recall:.2f}; "
            f"CE {ce.precision:.2f}, {ce.recall:.2f}"
        )
    if times < SPEED:
        whys.append("speed: pages of few nodes")
    if of_k.recall <= of_one.recall:
        whys.append("FE: no second cluster of winners")
    differences = (ce.precision - lh.precision, k_fe.precision - lh.precision, ce.f_measure - shingling.f_measure)
    return (*differences, times, of_one.recall, of_k.recall, "; ".join(whys))


def _on_several_blocks(samples: Sequence[Sample], each: Sequence[Run]) -> tuple[int, Counts, Counts]:
    """Return the pages with several content blocks, and the counts there of K-FE and of FE on atomic blocks."""
    which = [at for at, sample in enumerate(samples) if sum(bool(label) for label in sample.labels) > 1]
    of_k, of_one = (total(each[place].counts[at] for at in which) for place in (K_FE_BLOCKS, FE_BLOCKS))
    return len(which), of_k, of_one


def _precision_claim(runs: Runs, at: int, name: str) -> Claim:
    wins = [site for site, each in runs.items() if each[at].total.precision > each[LH].total.precision]
    lost = sorted(set(runs) - set(wins))
    ours, theirs = (total(each[place].total for each in runs.values()).precision for place in (at, LH))
    return claim(
        f"{name} beats LH in b-precision",
        ours > theirs,
        f"{ours:.3f} against {theirs:.3f} over all blocks; better on {len(wins)} of {len(runs)} sites"
        + (f", not on {', '.join(lost)}" if lost else ""),
        f"LH drops a block of common words that {name} keeps",
    )


def _shingling_claims(runs: Runs) -> list[Claim]:
    ours, theirs = (total(each[at].total for each in runs.values()).f_measure for at in (CE, SHINGLING))
    seconds = [sum(each[at].seconds for each in runs.values()) for at in (CE, SHINGLING)]
    return [
        claim(
            f"CE is within {TOLERANCE} of Shingling's b-F-measure",
            ours >= theirs - TOLERANCE,
            f"{ours:.3f} against {theirs:.3f} over all blocks",
            "a shared fragment takes everything in it, small varying blocks too; CE judges each block alone",
        ),
        claim(
            f"CE is at least {SPEED} times as fast as Shingling",
            seconds[1] >= SPEED * seconds[0],
            f"{seconds[0]:.1f} s against {seconds[1]:.1f} s, {seconds[1] / seconds[0]:.1f} times",
            "these pages have few nodes",
        ),
    ]


def _winner_claim(several: Mapping[str, tuple[int, Counts, Counts]]) -> Claim:
    """FE's single winner fails on pages of several content blocks, K-FE does not: on atomic blocks."""
    n_pages = sum(pages for pages, _, _ in several.values())
    of_k, of_one = (total(both[at] for _, *both in several.values()).recall for at in (0, 1))
    return claim(
        "FE's single winner fails on pages of several content blocks, K-FE does not",
        of_k > 3 * of_one,
        f"b-recall on the {n_pages} pages with several content blocks, atomic blocks: {of_one:.3f} and {of_k:.3f}",
        "the other content blocks have too little text to be in the high cluster",
    )


def _layout_claim(runs: Runs) -> Claim:
    sites = [(name, each[CE].total) for name, each in sorted(runs.items())]
    counts = total(of_site for _, of_site in sites)
    recall, f_measure = (sum(triple(c)[at] for _, c in sites) / len(sites) for at in (1, 2))
    below = [(name, c) for name, c in sites if c.recall < LEAST_RECALL or c.f_measure < LEAST_F]
    return claim(
        f"on layouts of tables CE has b-recall of {LEAST_RECALL} and b-F of {LEAST_F} at least",
        counts.recall >= LEAST_RECALL and counts.f_measure >= LEAST_F,
        f"b-recall {counts.recall:.3f}, b-F {counts.f_measure:.3f} over all blocks; means of the {len(runs)} sites "
        f"{recall:.3f} and {f_measure:.3f}"
        + (f"; below on {', '.join(f'{n} {c.recall:.2f}/{c.f_measure:.2f}' for n, c in below)}" if below else "")
        + (" (b-recall/b-F)" if below else ""),
        "articles that stand on two pages of a class, and captions, dates and related links that the truth leaves out",
    )
