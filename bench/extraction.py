"""Extraction beside the peers' on the same pages in one run: word F1, CPU time as a multiple of lxml's parse, memory.

    python -m bench.extraction PAGES.warc.gz TRUTH.jsonl [--by page_type] [--folds 5] [--pages N] [--only NAME]

With --folds our method is trained on the other folds before it judges a page, split by registrable domain; without,
the shipped numbers judge, alone and with the evidence of the site. Each extractor runs in a process of its own, on one
core. CPU time counts from a page's bytes to its text; memory is what the process has at its peak beyond its start.
"""

import argparse
import json
import os
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from apps.extracting import Item, Source
from apps.warc.messages import Limits
from apps.warc.sources import Position
from blocks.encoding import decode_as, encoding_of
from blocks.site import site_of

Extract = Callable[[Item], str]

LIMITS = Limits(1 << 28, 1000.0)


@dataclass(frozen=True, slots=True)
class Result:
    """What an extractor made of the pages: texts in order, CPU seconds of each, bytes of memory at the peak."""

    texts: list[str]
    seconds: list[float]
    memory: int


def _source(item: Item) -> str:
    return decode_as(item.body, encoding_of(item.body, item.content_type))


def lxml_parse() -> Extract:
    """The measure: lxml.html parses the page and nothing else."""
    import lxml.html

    def extract(item: Item) -> str:
        with suppress(ValueError, lxml.etree.ParserError):
            lxml.html.fromstring(item.body)
        return ""

    return extract


def trafilatura() -> Extract:
    """Trafilatura with comments, which scores higher here than without."""
    import trafilatura as peer

    return lambda item: peer.extract(_source(item), include_comments=True, include_tables=True) or ""


def readability() -> Extract:
    """readability-lxml, its summary as text."""
    import lxml.html
    from readability import Document

    def extract(item: Item) -> str:
        return str(lxml.html.fromstring(Document(_source(item)).summary()).text_content())

    return extract


def resiliparse() -> Extract:
    """Resiliparse's main content."""
    from resiliparse.extract.html2text import extract_plain_text

    return lambda item: str(extract_plain_text(_source(item), main_content=True, alt_texts=False))


def justext() -> Extract:
    """jusText with the stop words of English."""
    import justext as peer

    stop_words = peer.get_stoplist("English")
    return lambda item: "\n".join(
        paragraph.text for paragraph in peer.justext(_source(item), stop_words) if not paragraph.is_boilerplate
    )


def boilerpy3() -> Extract:
    """BoilerPy3's article extractor."""
    from boilerpy3 import extractors

    peer = extractors.ArticleExtractor(raise_on_failure=False)
    return lambda item: str(peer.get_content(_source(item)))


PEERS: dict[str, Callable[[], Extract]] = {
    "trafilatura": trafilatura,
    "readability": readability,
    "resiliparse": resiliparse,
    "justext": justext,
    "boilerpy3": boilerpy3,
}


def alone() -> Extract:
    """Our method, each page by itself."""
    from extract.pagemason import Pagemason
    from extract.protocol import page_of
    from extract.site import SiteEvidence

    made, nothing = Pagemason(), SiteEvidence()
    return lambda item: made.extract(page_of(*item[1:]), nothing).text


def with_site(items: Sequence[Item]) -> Callable[[], Extract]:
    """Our method with what the other pages of the site teach; gathering that is not counted."""

    def begin() -> Extract:
        from extract.pagemason import Pagemason
        from extract.protocol import page_of
        from extract.site import SiteEvidence

        made = Pagemason()
        sites: dict[str, SiteEvidence] = {}
        for item in items:
            site = site_of(item.url)
            sites[site] = sites.get(site, SiteEvidence()).merge(made.learn([page_of(*item[1:])]))
        return lambda item: made.extract(page_of(*item[1:]), sites[site_of(item.url)]).text

    return begin


def cross_validated(items: Sequence[Item], truths: Sequence[dict[str, Any]], folds: int) -> Callable[[], Extract]:
    """Our method with numbers trained on the folds without the page's domain; training is not counted."""

    def begin() -> Extract:
        from extract.pagemason import Pagemason
        from extract.protocol import page_of
        from extract.site import SiteEvidence
        from extract.training import example, fit, folds_of

        examples = []
        for item, truth in zip(items, truths, strict=True):
            page = page_of(*item[1:])
            examples.append(example(page.source, item.url, truth["text"], truth["page_type"]))
        fold_of = folds_of(examples, folds).tolist()
        made = []
        for fold in range(folds):
            print(f"training fold {fold + 1} of {folds}", file=sys.stderr)
            made.append(Pagemason(fit([e for e, at in zip(examples, fold_of, strict=True) if at != fold])))
        by_id = {item.record_id: made[fold] for item, fold in zip(items, fold_of, strict=True)}
        nothing = SiteEvidence()
        return lambda item: by_id[item.record_id].extract(page_of(*item[1:]), nothing).text

    return begin


def run(begin: Callable[[], Extract], items: Sequence[Item]) -> Result:
    """Run an extractor over the pages in a process of its own."""
    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(begin, items, theirs))
    process.start()
    theirs.close()
    result: Result = ours.recv()
    process.join()
    return result


def _run(begin: Callable[[], Extract], items: Sequence[Item], out: Connection) -> None:
    extract = begin()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    texts, seconds = [], []
    for item in items:
        start = time.process_time()
        try:
            text = extract(item)
        except Exception:  # a peer that fails on a page has found nothing
            text = ""
        seconds.append(time.process_time() - start)
        texts.append(text)
    out.send(Result(texts, seconds, 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)))
    out.close()


def f1_of(text: str, truth: str) -> float:
    """Return the F1 of two bags of words."""
    from extract.training import word_f1
    from extract.truth import words_of

    return word_f1(Counter(words_of(text)), Counter(words_of(truth)))


def read(warc: Path, truth: Path, limit: int) -> Iterator[tuple[Item, dict[str, Any]]]:
    """Yield the pages whose main content is known."""
    with truth.open(encoding="utf-8") as file:
        known = {row["record_id"]: row for row in map(json.loads, file) if "text" in row}
    for item in Source(warc, LIMITS, Position()).items():
        if item.record_id in known and limit > 0:
            limit -= 1
            yield item, known[item.record_id]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("warc", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--by", default="", help="a key of the truth to group by, such as page_type or site")
    parser.add_argument("--folds", type=int, default=0, help="train by cross-validation")
    parser.add_argument("--pages", type=int, default=1 << 30, help="only the first so many")
    parser.add_argument("--only", action="append", help="only this extractor; may be repeated")
    return parser.parse_args()


def main() -> None:
    """Measure and print a table."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    given = _arguments()
    pairs = list(read(given.warc, given.truth, given.pages))
    items, truths = [item for item, _ in pairs], [truth for _, truth in pairs]
    begins: dict[str, Callable[[], Extract]] = {"lxml parse": lxml_parse}
    if given.folds:
        begins[f"Pagemason, {given.folds} folds"] = cross_validated(items, truths, given.folds)
    else:
        begins |= {"Pagemason alone": alone, "Pagemason with site": with_site(items)}
    begins |= PEERS
    groups = sorted({str(truth.get(given.by, "")) for truth in truths}) if given.by else []
    print(f"| extractor | words F1 | {''.join(group + ' | ' for group in groups)}x lxml parse | ms a page | MB |")
    print(f"|---|--:|{'--:|' * len(groups)}--:|--:|--:|")
    parse = 0.0
    for name, begin in begins.items():
        if given.only and name not in given.only and name != "lxml parse":
            continue
        result = run(begin, items)
        seconds = sum(result.seconds)
        parse = parse or seconds
        scores: dict[str, list[float]] = defaultdict(list)
        for text, truth in zip(result.texts, truths, strict=True):
            value = f1_of(text, truth["text"])
            scores["all"].append(value)
            scores[str(truth.get(given.by, ""))].append(value)
        cells = [f"{sum(scores[group]) / len(scores[group]):.3f}" for group in ["all", *groups]]
        if name == "lxml parse":
            cells = [""] * len(cells)
        ms = 1000 * seconds / len(items)
        print(
            f"| {name} | {' | '.join(cells)} | {seconds / parse:.1f} | {ms:.1f} | {result.memory / 1e6:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
