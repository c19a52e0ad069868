"""How well the label rule agrees with a judge: 200 blocks of the news corpus, read in their context.

`judged.csv` holds record id, block number and judgement, and who judged; no text of a page. The sample was drawn by
hash, 100 blocks that the rule calls content and 100 that it does not. The judge, a language model, was asked: is the
block part of what the page was made for, that is headline, byline, date, text, caption; or is it navigation,
advertising, a teaser, a reader's comment?
"""

import csv
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
