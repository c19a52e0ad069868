"""How well the label rule agrees with a judge: 200 blocks of the news corpus, read in their context.

`judged.csv` holds record id, block number and judgement, and who judged; no text of a page. The sample was drawn by
hash, 100 blocks that the rule calls content and 100 that it does not. The judge, a language model, was asked: is the
block part of what the page was made for, that is headline, byline, date, text, caption; or is it navigation,
advertising, a teaser, a reader's comment?
"""

import csv
from collections import Counter
from importlib.resources import files

from experiments.datasets import DataSet


def judgements() -> dict[tuple[str, int], bool]:
    """Return the judged blocks: (record id, block number) to content or not."""
    with files("experiments").joinpath("judged.csv").open(encoding="utf-8") as lines:
        return {(row["record_id"], int(row["block"])): row["content"] == "1" for row in csv.DictReader(lines)}


def agreement(data: DataSet) -> tuple[int, int]:
    """Return on how many judged blocks of the data set the label rule agrees, and how many there are."""
    judged = judgements()
    pairs = [
        (label, judged[sample.record_id, block])
        for sample in data.samples
        for block, label in enumerate(sample.labels)
        if (sample.record_id, block) in judged
    ]
    return sum(label == judgement for label, judgement in pairs), len(pairs)


def false_positive_kinds(data: DataSet) -> list[tuple[str, int]]:
    """Return the kinds of blocks that ContentExtractor takes for content and the truth does not have, and their counts.

    `false_positives.csv` holds 200 such blocks on layouts of tables, drawn by hash, sorted into kinds by the same
    judge: part of the article that the truth leaves out, captions and names beside quotations, bylines and dates, links
    to related pages, teasers of other pages of the site, navigation, readers' letters, promotion, tools.
    """
    present = {sample.record_id for sample in data.samples}
    with files("experiments").joinpath("false_positives.csv").open(encoding="utf-8") as lines:
        kinds = Counter(row["kind"] for row in csv.DictReader(lines) if row["record_id"] in present)
    return kinds.most_common()
