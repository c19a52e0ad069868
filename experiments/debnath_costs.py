"""What the methods of Debnath et al. 2005 cost: time (figures 7, 9), storage (figure 8), pages (6.5, figure 10)."""

from collections.abc import Mapping, Sequence

from experiments.cache import content_extractor_bytes, index_bytes, shingling_bytes, store_bytes
from experiments.datasets import Sample
from experiments.metrics import total
from experiments.plots import Figure
from experiments.report import Section, Table
from experiments.runs import CLAIMS_HEAD, SHORT, Context, claim, extractions, run, seconds_of
from experiments.training import block_rows, train_linear

TIMED = ("InfoDiscoverer", "ContentExtractor", "FeatureExtractor")

FEW_PAGES = (2, 3, 5, 8, 10, 15, 20, 25)
"""Pages used for the IBDF (section 6.5)."""

ACCURACY_PAGES = (10, 25, 50, 100, 150, 250)
"""Pages of figure 10; the paper's last is 250."""

Classes = Mapping[str, Sequence[Sample]]


def times(samples: Sequence[Sample], context: Context) -> Section:
    """Return figures 7 and 9: seconds over the number of pages of the largest class."""
    sizes = sorted({min(size, len(samples)) for size in context.sizes})
    seven: dict[str, list[tuple[float, float]]] = {SHORT[name]: [] for name in TIMED}
    nine: dict[str, list[tuple[float, float]]] = {"CE": [], "Shingling": []}
    for size in sizes:
        context.progress(f"figures 7 and 9: {size} pages")
        for name in TIMED:
            seven[SHORT[name]].append((size, seconds_of(name, samples[:size])))
        nine["CE"].append(seven["CE"][-1])
        nine["Shingling"].append((size, seconds_of("Shingling", samples[:size])))
    rows = [
        (size, *(points[at][1] for points in (*seven.values(), nine["Shingling"]))) for at, size in enumerate(sizes)
    ]
    per_page = [seconds / size * 1000 for size, seconds in seven["CE"]]
    text = (
        f"Class: {samples[0].group}. CPU time from the bytes to the verdicts, cutting and learning included. "
        f"CE answers from counts: {', '.join(f'{value:.1f}' for value in per_page)} ms a page at "
        f"{', '.join(map(str, sizes))} pages, so its time is linear in the pages; Algorithm 1 as printed compares "
        "every block with every other one.",
    )
    y = "seconds"
    return Section(
        "Figures 7 and 9: run time",
        text,
        [
            Figure("figure7", "Figure 7: run time of LH, CE and FE", "pages", y, seven),
            Figure("figure9", "Figure 9: run time of CE and Shingling", "pages", y, nine),
            Table("times", "Seconds", ("pages", *seven, "Shingling"), rows, digits=2),
        ],
    )


def storage(classes: Classes, context: Context) -> Section:
    """Return figure 8: bytes of a web cache by class, and those of our real store."""
    rows: list[tuple[str | int | float, ...]] = []
    for name, samples in classes.items():
        context.progress(f"figure 8: {name}")
        by_blocks, by_fragments = content_extractor_bytes(samples), shingling_bytes(samples)
        real = store_bytes(samples) if context.store else (0, 0, 0)
        kept = (by_blocks.once, by_fragments.once, by_blocks.content, by_fragments.content)
        rows.append((name, len(samples), by_blocks.original, *kept, *real, by_blocks.once / by_fragments.once - 1))
    sums = tuple(sum(int(row[column]) for row in rows) for column in range(1, 10))
    of_methods = ("CE, similar blocks once", "Shingling, fragments once", "CE, content once", "Shingling, no fragments")
    head = (
        "site",
        "pages",
        "original",
        *of_methods,
        *(f"real store: {which}" for which in ("exact", "block", "on disk")),
        "CE over Shingling, once",
    )
    _, original, once, fragments, *_ = sums
    apart = once / fragments - 1
    near = [str(row[0]) for row in rows if abs(float(row[-1])) <= 0.1]
    claims = [
        claim(
            "storage of CE and Shingling is within 10 % of each other",
            abs(apart) <= 0.1,
            f"similar ones once: {once:,} and {fragments:,} bytes, {apart:+.0%}; original {original:,}; "
            f"within 10 % on {len(near)} of {len(rows)} sites",
            _WHY_APART,
        )
    ]
    series = {label: [(str(row[0]), float(row[at]) / 1e6) for row in rows] for at, label in _BARS.items()}
    return Section(
        "Figure 8: storage of a web cache",
        _STORAGE_TEXT,
        [
            Figure("figure8", "Figure 8: storage of a web cache", "site", "MB", series, kind="bars"),
            Table("storage", "Bytes", head, [*rows, ("all", *sums, apart)], digits=2),
            Table("storage-claims", "Claims", CLAIMS_HEAD, claims),
        ],
    )


_BARS = {
    2: "original",
    3: "CE, similar once",
    4: "Shingling, fragments once",
    5: "CE, content",
    6: "Shingling, content",
}
_WHY_APART = (
    "they count different things as similar: CE drops each block whose terms are nine tenths those of a known block, "
    "in whatever order and on the same page too, long scripts above all; Shingling drops subtrees that share seven "
    "tenths of their shingles with another page's, so that style sheets which vary are kept once, and keeps what lies "
    "directly in an unshared part of the page: comments, white space, short tags"
)
_STORAGE_TEXT = (
    "Uncompressed bytes, references not counted, as in the paper: similar blocks (or shared fragments) kept once, then "
    "with what is not content dropped. Both lose bytes: a similar block stands for another one. The real store keeps "
    "every byte; on disk means its SQLite file after compaction, compressed, indexes and catalogue included.",
)


def few_pages(labelled: Classes, context: Context) -> Section:
    """Return b-precision of CE over the number of pages whose counts it has (section 6.5, template of section 6.6)."""
    sizes = [size for size in FEW_PAGES if size <= max(map(len, labelled.values()))]
    precision: list[tuple[float, float]] = []
    recall: list[tuple[float, float]] = []
    for size in sizes:
        context.progress(f"section 6.5: {size} pages")
        runs = [
            run("ContentExtractor", samples, learn_from=samples[:size])
            for samples in labelled.values()
            if len(samples) >= size
        ]
        counts = total(each.total for each in runs)
        precision.append((size, counts.precision))
        recall.append((size, counts.recall))
    text = (
        "Evidence from the first pages of each class, all of its pages judged: the template of 5 to 10 pages of "
        f"section 6.6. b-precision goes from {precision[0][1]:.3f} with {sizes[0]} pages to "
        f"{precision[-1][1]:.3f} with {sizes[-1]}.",
    )
    series = {"b-precision": precision, "b-recall": recall}
    figure = Figure("pages-used", "b-precision of CE over the pages used", "pages used for the IBDF", "share", series)
    return Section("Section 6.5: how many pages CE needs", text, [figure])


def accuracy(labelled: Classes, context: Context) -> Section:
    """Return figure 10: accuracy of L-Extractor in five-fold cross validation over the number of pages."""
    pool = [
        sample
        for at in range(max(map(len, labelled.values())))
        for each in labelled.values()
        for sample in each[at : at + 1]
    ]
    points = []
    for size in (size for size in ACCURACY_PAGES if size <= len(pool)):
        context.progress(f"figure 10: {size} pages")
        trained = train_linear(*block_rows(pool[:size]))
        points.append((float(size), trained.accuracy))
    text = ("Pages of all classes in turn; up to 6,000 blocks of them, C = 1, five-fold cross validation.",)
    figure = Figure("figure10", "Figure 10: accuracy of L-Extractor", "pages", "accuracy", {"L-Extractor": points})
    return Section("Figure 10: L-Extractor", text, [figure])


def text_index(labelled: Classes, context: Context) -> Section:
    """Return the bytes of a text index of content against that of full pages (sections 1 and 8)."""
    rows: list[tuple[str | int | float, ...]] = []
    for name, samples in labelled.items():
        context.progress(f"index: {name}")
        pages = [sample.fresh() for sample in samples]
        full = index_bytes([" ".join(page.texts) for page in pages])
        content = index_bytes([each.text for each in extractions("ContentExtractor", pages)])
        rows.append((name, len(samples), full, content, content / full))
    sums = [sum(int(row[at]) for row in rows) for at in (1, 2, 3)]
    rows.append(("all", *sums, sums[2] / sums[1]))
    head = ("site", "pages", "index of full pages", "index of CE's content", "share")
    return Section("A text index of content only", (), [Table("index", "Bytes of a full-text index", head, rows)])
