"""pagemason extract"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from apps.cli.common import Failure, cores, jobs_option, printable, progress, with_settings
from extract.registry import DEFAULT_METHOD, extractor, method_of
from settings import Settings

if TYPE_CHECKING:
    from apps.extracting import Source
    from extract.protocol import Extractor

FORMATS = ("text", "html", "markdown", "json", "jsonl")


@click.command("extract")
@click.argument("file", metavar="FILE|-", type=click.Path(path_type=Path))
@click.option("--method", default=DEFAULT_METHOD, metavar="NAME", help=f"See `methods`.  [default: {DEFAULT_METHOD}]")
@click.option("--parameter", "-p", "parameters", multiple=True, metavar="NAME=VALUE", help="Of the method, as JSON.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="[default: text; for an archive jsonl]")
@click.option("--alone", is_flag=True, help="Judge each page without what the other pages of its site teach.")
@jobs_option
@with_settings()
def command(
    file: Path,
    method: str,
    parameters: tuple[str, ...],
    form: str | None,
    alone: bool,
    jobs: int | None,
    settings: Settings,
) -> int:
    """Write the content of a page, or of each page of a WARC or HAR file, to standard output.

    FILE is a page, an archive, or `-` for a page on standard input. As jsonl there is a line a page, with record_id,
    url, text and score. Methods that compare pages find the pages of one site or template by themselves.
    """
    from apps.extracting import Source, written
    from apps.warc.messages import Limits
    from apps.warc.sources import Position, size_of
    from extract.protocol import page_of

    made = _made(method, dict(map(_parameter, parameters)))
    limits = Limits(settings.max_record_bytes, settings.max_decoded_ratio)
    if str(file) == "-":
        page = page_of("", sys.stdin.buffer.read(limits.max_bytes))
        _say(written(made.extract(page, made.prepare([page])), form or "text"))
        return 0
    if not file.is_file():
        raise Failure(f"{file}: is a folder, not a page or an archive" if file.is_dir() else f"{file}: no such file")
    needs = method_of(method).needs
    passes = {"class": 2, "site": 1 if alone else 3}.get(needs, 1)
    source = Source(file, limits, Position(size_of([file]) * passes))
    return _all(source, made, needs, form or ("jsonl" if source.is_archive else "text"), alone, jobs)


def _all(source: "Source", made: "Extractor[Any]", needs: str, form: str, alone: bool, jobs: int | None) -> int:
    """Write what a file holds, and return the exit code."""
    from apps.extracting import extractions

    with progress("extracting", source.position.total) as bar:
        texts = extractions(source, made, needs, form, alone=alone, n_workers=jobs or cores())
        for number, text in enumerate(texts, 1):
            _say(text)
            bar(source.position.done, f"{number} pages")
    for note in source.damage:
        click.echo(f"pagemason: {printable(note)}", err=True)
    return 1 if source.damage else 0


def _say(text: str) -> None:
    click.echo(text.encode("utf-8", "replace"))


def _made(method: str, parameters: dict[str, Any]) -> "Extractor[Any]":
    try:
        return extractor(method, **parameters)
    except ValueError as exc:
        raise click.BadParameter(str(exc), param_hint="'--method' / '--parameter'") from exc


def _parameter(text: str) -> tuple[str, Any]:
    """Return name and value of `NAME=VALUE`; a value that is no JSON is a string."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise click.BadParameter(f"{text!r}: NAME=VALUE expected", param_hint="'--parameter'")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
