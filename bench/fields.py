"""What our method keeps of a page's attributes: a shop's titles, authors, numbers, and of how many words.

    python -m bench.fields PAGES.warc.gz TRUTH.jsonl [--pages N]

The truth names the values of each page's attributes (`fields`). A value is kept when all of its words, in order, stand
in the extracted text; of several values (authors) one is enough. Words are those of all visible text.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from apps.extracting import Item, Source
from apps.warc.sources import Position
from bench.extraction import LIMITS
from blocks.site import site_of
from extract.default.pagemason import Pagemason
from extract.default.site import SiteEvidence
from extract.default.truth import words_of
from extract.protocol import page_of

Fields = Mapping[str, Sequence[str]]


def _spaced(text: str) -> str:
    return f" {' '.join(words_of(text))} "


def kept(text: str, fields: Fields) -> dict[str, bool]:
    """Return for each attribute whether a text has one of its values.

    >>> kept("By Jane Roe, 2010", {"author": ["Jane Roe", "J. Doe"], "isbn": [": 978"]})
    {'author': True, 'isbn': False}
    """
    words = _spaced(text)
    return {name: any(_spaced(value) in words for value in values) for name, values in fields.items()}


def read(warc: Path, truth: Path, limit: int) -> Iterator[tuple[Item, Fields]]:
    """Yield the pages whose attributes are known."""
    with truth.open(encoding="utf-8") as file:
        known = {row["record_id"]: row["fields"] for row in map(json.loads, file) if "fields" in row}
    for item in Source(warc, LIMITS, Position()).items():
        if item.record_id in known and limit > 0:
            limit -= 1
            yield item, known[item.record_id]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("warc", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--pages", type=int, default=1 << 30, help="only the first so many")
    given = parser.parse_args()
    pairs = list(read(given.warc, given.truth, given.pages))
    names = sorted({name for _, fields in pairs for name in fields})
    method, sites = Pagemason(), dict[str, SiteEvidence]()
    for item, _ in pairs:
        site = site_of(item.url)
        sites[site] = sites.get(site, SiteEvidence()).merge(method.learn([page_of(*item[1:])]))
    print(f"| {len(pairs)} pages | {' | '.join(names)} | all of them | share of the words |")
    print(f"|---|{'--:|' * (len(names) + 2)}")
    for label, known in (("alone", {}), ("with site", sites)):
        counts: Counter[str] = Counter()
        n_kept = n_words = 0
        for item, fields in pairs:
            content = method.extract(page_of(*item[1:]), known.get(site_of(item.url), SiteEvidence()))
            found = kept(content.text, fields)
            counts.update(name for name, is_kept in found.items() if is_kept)
            counts["all of them"] += all(found.values())
            n_kept += len(words_of(content.text))
            n_words += len(words_of("\n".join(content.passages.text)))
        shares = [counts[name] / len(pairs) for name in (*names, "all of them")]
        print(f"| {label} | {' | '.join(f'{share:.3f}' for share in shares)} | {n_kept / n_words:.3f} |")


if __name__ == "__main__":
    main()
