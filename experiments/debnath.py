"""The experiments of Debnath et al. 2005 on our corpora: tables 2, 3 and 6, figures 7 to 10, section 6.5."""

from collections.abc import Mapping, Sequence

from experiments.datasets import DataSet, Sample
from experiments.debnath_claims import claims
from experiments.debnath_costs import accuracy, few_pages, storage, text_index, times
from experiments.judged import agreement, false_positive_kinds
from experiments.printed import TABLE_2, TABLE_3, TABLE_6
from experiments.report import Cell, Report, Section, Table
from experiments.runs import Context, Run, classes_of, report_of, run, scores_table

METHODS = ("InfoDiscoverer", "ContentExtractor", "FeatureExtractor", "K-FeatureExtractor")
Classes = Mapping[str, Sequence[Sample]]


def paper(data: Sequence[DataSet], context: Context) -> Report:
    """Return the report on all of the paper's experiments over the corpora."""
    classes = {name: samples for each in data for name, samples in classes_of(each, context.min_pages).items()}
    if not classes:
        raise ValueError(f"no site and year with {context.min_pages} pages: these experiments compare pages of a class")
    labelled = {name: samples for name, samples in classes.items() if samples[0].truth is not None}
    runs = _all_runs(labelled, context)
    sections = [claims(labelled, runs), *_tables(data, labelled, runs), *_kinds(data)] if labelled else []
    largest = max(classes.values(), key=len)
    sections += [times(largest, context), storage(classes, context)]
    if labelled:
        sections += [few_pages(labelled, context), accuracy(labelled, context), text_index(labelled, context)]
    title = "Informative sections of web pages: our figures"
    settings: dict[str, Cell] = {"experiment": "paper", "least pages of a class": context.min_pages}
    return report_of(title, _summary(data), data, sections, **settings, seed=context.seed)


def _summary(data: Sequence[DataSet]) -> list[str]:
    agreed, judged = (sum(pair) for pair in zip(*map(agreement, data), strict=True))
    lines = [
        "Debnath, Mitra, Pal and Giles (2005) on pages of our corpora. A class is a site in a year. Block labels come "
        "from the truth text by one rule, fixed before any method was scored; blocks without words are not counted. "
        "The paper's figures, by its own graders on its own pages, stand beside ours.",
    ]
    if judged:
        lines.append(f"The rule agrees with a judge on {agreed} of {judged} blocks.")
    return lines


def _all_runs(labelled: Classes, context: Context) -> dict[str, list[Run]]:
    runs: dict[str, list[Run]] = {}
    for name, samples in labelled.items():
        context.progress(f"tables: {name}")
        runs[name] = [run(method, samples) for method in (*METHODS, "Shingling")]
        runs[name].append(run("K-FeatureExtractor", samples, level="block"))
        runs[name].append(run("FeatureExtractor", samples, level="block"))
    return runs


def _tables(data: Sequence[DataSet], labelled: Classes, runs: Mapping[str, list[Run]]) -> list[Section]:
    pages = {name: len(samples) for name, samples in labelled.items()}
    kinds = {sample.group: each.kind for each in data for sample in each.samples[:]}
    news = {name: each for name, each in runs.items() if kinds[name] == "text"}
    shops = {name: each for name, each in runs.items() if kinds[name] == "fields"}
    sections = []
    if news:
        items = [
            scores_table("table2", "Table 2: LH, CE, FE and K-FE by site and year", _only(news, slice(0, 4)), pages),
            _printed("table2-paper", "Table 2 as printed", TABLE_2, ("LH", "CE", "(K-)FE")),
        ]
        sections.append(Section("Table 2: news", _TABLE_2_TEXT, items))
    if shops:
        items = [
            scores_table("table3", "Table 3: LH, CE, FE and K-FE on shops", _only(shops, slice(0, 4)), pages),
            _printed("table3-paper", "Table 3 as printed", TABLE_3, ("LH", "CE", "K-FE")),
        ]
        sections.append(Section("Table 3: shops", _TABLE_3_TEXT, items))
    shingling = {name: [each[4], each[1]] for name, each in runs.items() if kinds[name] == "text"} or {
        name: [each[4], each[1]] for name, each in runs.items()
    }
    items = [
        scores_table("table6", "Table 6: Shingling and CE by site and year", shingling, pages),
        _printed("table6-paper", "Table 6 as printed, 50 pages", TABLE_6, ("Shingling", "CE")),
    ]
    return [*sections, Section("Table 6: Shingling", (), items)]


_TABLE_2_TEXT = (
    "Our truth holds headline, byline and text; captions, dates, pull quotes and related links are mostly not in it: "
    "a method that outputs them loses b-precision here that the paper's graders may have given it.",
)
_TABLE_3_TEXT = (
    "The truth of the shop is a handful of attributes (title, author, ISBN, publisher, date), not the main content: "
    "descriptions and reviews count as wrong. b-recall says whether the blocks with these values were found; "
    "b-precision is a lower bound.",
)


def _kinds(data: Sequence[DataSet]) -> list[Section]:
    """Return what ContentExtractor finds beyond the truth, by kind."""
    kinds = [row for each in data for row in false_positive_kinds(each)]
    if not kinds:
        return []
    count = sum(number for _, number in kinds)
    rows = [(kind, number, number / count) for kind, number in kinds]
    text = (
        f"{count} blocks that CE calls content and the label rule does not, on layouts of tables, sorted by a judge. "
        "Most are links to related pages and teasers: they differ from page to page, as content does, and nothing "
        "that looks at the frequency of blocks alone can tell them apart.",
    )
    table = Table("false-positives", "CE's false positives by kind", ("kind", "blocks", "share"), rows)
    return [Section("What ContentExtractor finds beyond the truth", text, [table])]


def _only(runs: Mapping[str, list[Run]], which: slice) -> dict[str, list[Run]]:
    return {name: each[which] for name, each in runs.items()}


def _printed(name: str, title: str, rows: Mapping[str, tuple[float, ...]], methods: Sequence[str]) -> Table:
    head = ("site", *(f"{measure} of {method}" for method in methods for measure in ("b-Prec", "b-Recall", "b-F")))
    return Table(name, title, head, [(site, *values) for site, values in rows.items()])
