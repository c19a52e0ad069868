"""Data sets from WARC files and truth files: pages with labelled blocks, in a fixed order, with digests of the data.

The truth of `NAME.warc.gz` is `NAME.truth.jsonl` beside it: a line a record with `record_id`, `site`, and `text` (main
content) or `fields` (attributes). A corpus without truth gives pages without labels.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fastwarc.warc import ArchiveIterator, WarcRecordType

from blocks.encoding import encoding_of
from blocks.partition import partition
from blocks.site import site_of
from experiments.labels import Label, labels_of_fields, labels_of_text
from extract.protocol import Page


@dataclass(frozen=True)
class Sample:
    """A captured page with what is known of its content; `truth` is a text, fields, or None where there is none."""

    record_id: str
    year: str
    site: str
    page: Page
    truth: str | Mapping[str, Sequence[str]] | None

    @property
    def group(self) -> str:
        """Site and year: pages of one site change their template over the years."""
        return f"{self.site} {self.year}"

    @cached_property
    def labels(self) -> list[Label]:
        """A label for each block; all None without truth."""
        if self.truth is None:
            return [None] * len(self.page)
        texts = self.fresh().texts
        return labels_of_text(texts, self.truth) if isinstance(self.truth, str) else labels_of_fields(texts, self.truth)

    def fresh(self) -> Page:
        """Return the page with nothing derived yet: to time a method from the bytes on, and to let go of afterwards."""
        return Page(self.page.url, self.page.body, self.page.encoding, partition(self.page.body))


@dataclass(frozen=True)
class DataSet:
    """A corpus in the order of its file, with the SHA-256 of the files it came from."""

    name: str
    digests: dict[str, str]
    samples: tuple[Sample, ...]

    def groups(self) -> dict[str, list[Sample]]:
        """Return the samples by site and year, in alphabetical order."""
        found: dict[str, list[Sample]] = defaultdict(list)
        for sample in self.samples:
            found[sample.group].append(sample)
        return dict(sorted(found.items()))

    @property
    def kind(self) -> str:
        """`text` or `fields`, by the first truth there is; `none` for a corpus without truth."""
        truth = next((sample.truth for sample in self.samples if sample.truth is not None), None)
        return "none" if truth is None else "text" if isinstance(truth, str) else "fields"


def load(corpus: Path, limit: int = 0) -> DataSet:
    """Return the HTML pages of a WARC file with their truth. `limit` keeps the first so many pages, 0 all.

    OSError when the file cannot be read, ValueError when it holds no page or the truth is no JSON lines.
    """
    truth_path = corpus.with_name(corpus.name.removesuffix(".gz").removesuffix(".warc") + ".truth.jsonl")
    truth = _truth(truth_path) if truth_path.exists() else {}
    samples: list[Sample] = []
    for record_id, url, date, content_type, body in _responses(corpus):
        row = truth.get(record_id, {})
        page = Page(url, body, encoding_of(body, content_type.encode("latin-1", "replace")), partition(body))
        known = row.get("text", row.get("fields"))
        samples.append(Sample(record_id, date[:4], row.get("site") or site_of(url), page, known))
        if len(samples) == limit:
            break
    if not samples:
        raise ValueError(f"{corpus}: no response record with a page, a WARC file of pages expected")
    paths = [corpus, truth_path] if truth else [corpus]
    return DataSet(corpus.name.split(".")[0], {path.name: _sha256(path) for path in paths}, tuple(samples))


def _responses(corpus: Path) -> Iterator[tuple[str, str, str, str, bytes]]:
    """Yield record id, URL, date, Content-Type and body of each response that is HTML or does not say."""
    with corpus.open("rb") as stream:
        try:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                http = record.http_headers
                content_type = (http.get("Content-Type") or "") if http else ""
                if content_type and "html" not in content_type.lower():
                    continue
                head, fields = record.headers, ("WARC-Record-ID", "WARC-Target-URI", "WARC-Date")
                record_id, url, date = (head.get(field) or "" for field in fields)
                yield record_id, url, date, content_type, record.reader.read()
        except OSError as exc:
            raise ValueError(f"{corpus}: {exc}, a WARC file of pages expected") from exc


def _truth(path: Path) -> dict[str, dict[str, Any]]:
    rows = {}
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                rows[row["record_id"]] = row
            except (ValueError, KeyError, TypeError) as exc:
                raise ValueError(f"{path} line {number}: a JSON object with a record_id expected") from exc
    return rows


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
