"""pagemason extract"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from apps.cli.common import Failure, print_json, printable, progress, with_settings
from extract.registry import DEFAULT_METHOD, extractor, method_of
from settings import Settings

if TYPE_CHECKING:
    from apps.warc.messages import Limits
    from apps.warc.sources import Position
    from extract.protocol import Extraction, Extractor, Page

FORMATS = ("text", "json", "jsonl")


@click.command("extract")
@click.argument("file", metavar="FILE|-", type=click.Path(path_type=Path))
@click.option("--method", default=DEFAULT_METHOD, metavar="NAME", help=f"See `methods`.  [default: {DEFAULT_METHOD}]")
@click.option("--parameter", "-p", "parameters", multiple=True, metavar="NAME=VALUE", help="Of the method, as JSON.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="[default: text; for an archive jsonl]")
@with_settings()
def command(file: Path, method: str, parameters: tuple[str, ...], form: str | None, settings: Settings) -> int:
    """Write the content of a page, or of each page of a WARC or HAR file, to standard output.

    FILE is a page, an archive, or `-` for a page on standard input. As jsonl there is a line a page, with record_id,
    url, text and score. Methods that compare pages find the pages of one template by themselves.
    """
    from apps.warc.messages import Limits
    from extract.protocol import page_of

    made = _made(method, dict(map(_parameter, parameters)))
    limits = Limits(settings.max_record_bytes, settings.max_decoded_ratio)
    if str(file) == "-":
        page = page_of("", sys.stdin.buffer.read(limits.max_bytes))
        _write("", made.extract(page, made.prepare([page])), form or "text")
        return 0
    if not file.is_file():
        raise Failure(f"{file}: no such file")
    return _archive(file, method, made, form, limits)


def _made(method: str, parameters: dict[str, Any]) -> "Extractor[Any]":
    try:
        return extractor(method, **parameters)
    except ValueError as exc:
        raise click.BadParameter(str(exc), param_hint="'--method' / '--parameter'") from exc


def _archive(file: Path, method: str, made: "Extractor[Any]", form: str | None, limits: "Limits") -> int:
    """Write what a file holds, and return the exit code."""
    from apps.warc.sources import Position, size_of

    passes = 2 if method_of(method).needs == "class" else 1
    position = Position(size_of([file]) * passes)
    source = _Source(file, limits, position)
    with progress("extracting", position.total) as bar:
        for number, (record_id, extraction) in enumerate(_extractions(source, made, passes), 1):
            _write(record_id, extraction, form or ("jsonl" if source.is_archive else "text"))
            bar(position.done, f"{number} pages")
    for note in source.damage:
        click.echo(printable(note), err=True)
    return 1 if source.damage else 0


class _Source:
    """The pages of a file, as often as they are asked for, and what could not be read."""

    def __init__(self, file: Path, limits: "Limits", position: "Position") -> None:
        self.file, self.limits, self.position = file, limits, position
        self.damage: list[str] = []
        self.is_archive = file.name.lower().endswith((".warc", ".warc.gz", ".har"))

    def pages(self) -> Iterator[tuple[str, "Page"]]:
        """Yield record id and page of each capture that is HTML."""
        from apps.warc.entries import Kind, Note
        from apps.warc.sources import entries
        from blocks.model import Capture
        from extract.protocol import page_of

        self.damage = []
        for entry in entries([self.file], self.limits, self.position):
            if isinstance(entry, Note) and entry.kind is Kind.DAMAGED:
                self.damage.append(str(entry))
            elif isinstance(entry, Capture) and _is_html(entry.header("Content-Type")):
                yield entry.record_id, page_of(entry.url, entry.body, entry.header("Content-Type"))


def _is_html(content_type: bytes) -> bool:
    kind = content_type.split(b";")[0].strip().lower()
    return not kind or b"html" in kind


def _extractions(source: _Source, made: "Extractor[Any]", passes: int) -> Iterator[tuple[str, "Extraction"]]:
    """Yield the extraction of each page, in the order of the file. Of two passes the first one gathers evidence."""
    if passes == 1:
        for record_id, page in source.pages():
            yield record_id, made.extract(page, made.prepare([page]))
        return
    from extract.classes import ClassEvidence, PageClasses

    classes, evidence = PageClasses(), ClassEvidence(made)
    numbers = []
    for _, page in source.pages():
        numbers.append(classes.classify(page))
        evidence.add(numbers[-1], page)
    for number, (record_id, page) in zip(numbers, source.pages(), strict=False):
        yield record_id, made.extract(page, evidence.of(number))


def _parameter(text: str) -> tuple[str, Any]:
    """Return name and value of `NAME=VALUE`; a value that is no JSON is a string."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise click.BadParameter(f"{text!r}: NAME=VALUE expected", param_hint="'--parameter'")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _write(record_id: str, extraction: "Extraction", form: str) -> None:
    url = extraction.page.url
    row = {"record_id": record_id, "url": url, "text": extraction.text, "score": round(extraction.score, 4)}
    if form == "jsonl":
        click.echo(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
    elif form == "json":
        blocks = zip(extraction.page.texts, extraction.verdicts, strict=True)
        print_json({**row, "blocks": [{"text": text, **verdict._asdict()} for text, verdict in blocks]})
    else:
        click.echo(extraction.text.encode("utf-8", "replace"))
