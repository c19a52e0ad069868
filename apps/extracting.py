"""Extraction from the pages of a file: on all cores, in the order of the file, with what the other pages teach.

Pages travel to the workers as bytes and come back as text; a bounded number is on its way at any time, so that memory
does not grow with the file.
"""

import json
import os
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from apps.warc.entries import Kind, Note
from apps.warc.messages import Limits
from apps.warc.sources import Position, entries
from blocks.model import Capture
from blocks.site import site_of
from extract.protocol import Extraction, Extractor, page_of

AHEAD = 8
"""Pages on their way for each worker."""

T = TypeVar("T")
R = TypeVar("R")


class Item(NamedTuple):
    """A page of a file."""

    record_id: str
    url: str
    body: bytes
    content_type: bytes


@dataclass
class Source:
    """The pages of a file, as often as they are asked for, and what could not be read."""

    file: Path
    limits: Limits
    position: Position
    damage: list[str] = field(default_factory=list)

    @property
    def is_archive(self) -> bool:
        """Whether the file holds several pages."""
        return self.file.name.lower().endswith((".warc", ".warc.gz", ".har"))

    def items(self) -> Iterator[Item]:
        """Yield each capture that is HTML."""
        self.damage = []
        for entry in entries([self.file], self.limits, self.position):
            if isinstance(entry, Note) and entry.kind is Kind.DAMAGED:
                self.damage.append(str(entry))
            elif isinstance(entry, Capture) and is_html(entry.header("Content-Type")):
                yield Item(entry.record_id, entry.url, entry.body, entry.header("Content-Type"))


def is_html(content_type: bytes) -> bool:
    """Tell whether a Content-Type is one of HTML, or says nothing."""
    kind = content_type.split(b";")[0].strip().lower()
    return not kind or b"html" in kind


def written(extraction: Extraction, form: str, record_id: str = "") -> str:
    """Return an extraction as text of one of the formats, jsonl included, without a newline at its end."""
    from extract.views.view import render, write

    if form == "jsonl":
        url, text = extraction.page.url, render(extraction, tree=False).text
        row = {"record_id": record_id, "url": url, "text": text, "score": round(extraction.score, 4)}
        return json.dumps(row, ensure_ascii=False)
    return write(render(extraction), form).removesuffix("\n")


@dataclass(frozen=True)
class Work:
    """What a worker does with a page: `keys` lead from a page to the evidence it is judged with."""

    made: Extractor[Any]
    form: str
    evidence: Mapping[Any, Any]

    def written(self, job: tuple[Any, Item]) -> str:
        """Return a page's content as text of the format."""
        key, item = job
        page = page_of(item.url, item.body, item.content_type)
        evidence = self.evidence.get(key)
        extraction = self.made.extract(page, self.made.prepare([page]) if evidence is None else evidence)
        return written(extraction, self.form, item.record_id)

    def learned(self, job: tuple[Any, Item]) -> Any:
        """Return what a page teaches about its site."""
        _, item = job
        return self.made.learn([page_of(item.url, item.body, item.content_type)])  # type: ignore[attr-defined]


_work: Work | None = None


def _begin(work: Work) -> None:
    global _work
    _work = work


def _written(job: tuple[Any, Item]) -> str:
    assert _work is not None
    return _work.written(job)


def _learned(job: tuple[Any, Item]) -> Any:
    assert _work is not None
    return _work.learned(job)


def in_order(work: Work, task: Callable[[T], R], jobs: Iterable[T], n_workers: int) -> Iterator[R]:
    """Yield the task's answer to each job, in order; with one worker in this process."""
    if n_workers < 2:
        _begin(work)
        yield from map(task, jobs)
        return
    with ProcessPoolExecutor(n_workers, initializer=_begin, initargs=(work,)) as pool:
        waiting: deque[Future[R]] = deque()
        for job in jobs:
            waiting.append(pool.submit(task, job))
            if len(waiting) >= AHEAD * n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def extractions(
    source: Source, made: Extractor[Any], needs: str, form: str, *, alone: bool = False, n_workers: int = 0
) -> Iterator[str]:
    """Yield each page's content as text, in the order of the file.

    `needs` is the method's: "class" compares the pages of a class, "site" uses what other pages of the site teach
    unless `alone`. A first pass gathers that.
    """
    n_workers = n_workers or os.cpu_count() or 1
    if not source.is_archive:
        n_workers = 1
    if needs == "class":
        keys, evidence = _of_classes(source, made)
    elif needs == "site" and source.is_archive and not alone:
        keys, evidence = _of_sites(source, made, form, n_workers)
    else:
        keys, evidence = None, {}
    jobs = ((None if keys is None else keys[number], item) for number, item in enumerate(source.items()))
    yield from in_order(Work(made, form, evidence), _written, jobs, n_workers)


def _of_classes(source: Source, made: Extractor[Any]) -> tuple[list[Any], dict[Any, Any]]:
    """Return the class of each page, and the evidence of each class."""
    from extract.classes import ClassEvidence, PageClasses

    classes, evidence = PageClasses(), ClassEvidence(made)
    numbers = []
    for item in source.items():
        page = page_of(item.url, item.body, item.content_type)
        numbers.append(classes.classify(page))
        evidence.add(numbers[-1], page)
    return numbers, {number: evidence.of(number) for number in dict.fromkeys(numbers)}


def _of_sites(source: Source, made: Extractor[Any], form: str, n_workers: int) -> tuple[list[Any], dict[Any, Any]]:
    """Return the site of each page, and the evidence of each site that has several."""
    from extract.default.pagemason import MIN_OTHER_PAGES
    from extract.default.site import MAX_PAGES, first_of

    urls = [item.url for item in source.items()]
    sites = [site_of(url) for url in urls]
    of_site: dict[str, set[str]] = defaultdict(set)
    for site, url in zip(sites, urls, strict=True):
        of_site[site].add(url)
    wanted = {
        url for site, found in of_site.items() if len(found) > MIN_OTHER_PAGES for url in first_of(found, MAX_PAGES)
    }
    left = Counter(wanted)
    evidence: dict[Any, Any] = {}
    jobs = ((None, item) for item in source.items() if left[item.url] > 0 and not left.subtract([item.url]))
    for learned in in_order(Work(made, form, {}), _learned, jobs, n_workers):
        for url, notes in learned.notes.items():
            evidence.setdefault(site_of(url), {})[url] = notes
    from extract.default.site import SiteEvidence

    return sites, {site: SiteEvidence(notes) for site, notes in evidence.items()}
