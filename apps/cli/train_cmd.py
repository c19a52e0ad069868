"""pagemason train"""

import json
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import click

from apps.cli.common import Failure, progress, with_settings
from settings import Settings

if TYPE_CHECKING:
    from extract.default.training import Example


@click.command("train")
@click.argument("warc", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("truth", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FILE.npz", help="Where the numbers go.")
@click.option("--folds", type=click.IntRange(2), default=5, help="Of the cross-validation.  [default: 5]")
@click.option("--no-check", is_flag=True, help="Leave out the cross-validation: the numbers then come without scores.")
@click.option("--licence", default="", help="Of the data; kept with the numbers.")
@click.option("--seed", type=int, default=0, help="[default: 0]")
@with_settings()
def command(
    warc: Path, truth: Path, out: Path, folds: int, no_check: bool, licence: str, seed: int, settings: Settings
) -> None:
    """Train the default method from pages and their main content.

    WARC holds the pages; TRUTH has a JSON line a page with record_id, text and page_type. Pages of one registrable
    domain are never on both sides of a cross-validation. Beside the numbers, FILE.json tells what data they are from
    and how they score. Needs the extra `experiments`.
    """
    from extract.default.training import cross_validate, fit, score
    from extract.protocol import MissingExtra

    about: dict[str, object] = {"data": _digests(warc, truth), "licence": licence, "seed": seed}
    try:
        with progress("training", (0 if no_check else folds) + 2) as bar:
            examples = list(_examples(warc, truth, settings))
            if not examples:
                raise Failure(f"{truth}: no page of it is in {warc}")
            done = 1
            bar(done, "read")
            if not no_check:
                lines: list[str] = []

                def told(line: str) -> None:
                    lines.append(line)
                    bar(1 + len(lines), line)

                about["scores"] = score(examples, cross_validate(examples, folds, told, seed))
                about["folds"] = folds
            about["pages"] = len(examples)
            numbers = fit(examples, seed)
    except MissingExtra as exc:
        raise Failure(str(exc)) from exc
    data = _dumped(numbers, about)
    out.write_bytes(data)
    about["digest"] = blake2b(data, digest_size=16).hexdigest()
    out.with_suffix(".json").write_text(json.dumps(about, indent=1, sort_keys=True) + "\n", "utf-8")
    click.echo(json.dumps(about, indent=1, sort_keys=True))


def _dumped(numbers: object, about: dict[str, object]) -> bytes:
    from dataclasses import replace

    from extract.default.numbers import Numbers, dump

    assert isinstance(numbers, Numbers)
    return dump(replace(numbers, about=about))


def _digests(*paths: Path) -> dict[str, str]:
    return {path.name: blake2b(path.read_bytes(), digest_size=16).hexdigest() for path in paths}


def _examples(warc: Path, truth: Path, settings: Settings) -> Iterator["Example"]:
    """Yield the pages whose main content is known, in the order of the archive."""
    from apps.extracting import Source
    from apps.warc.messages import Limits
    from apps.warc.sources import Position
    from extract.default.training import example
    from extract.protocol import page_of

    with truth.open(encoding="utf-8") as lines:
        known = {row["record_id"]: row for row in map(json.loads, lines) if "text" in row}
    source = Source(warc, Limits(settings.max_record_bytes, settings.max_decoded_ratio), Position())
    for item in source.items():
        row = known.get(item.record_id)
        if row is not None:
            page = page_of(item.url, item.body, item.content_type)
            yield example(page.source, item.url, row["text"], row.get("page_type", "article"))
