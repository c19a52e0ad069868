"""pagemason batch"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from apps.cli.common import (
    Failure,
    cores,
    human,
    jobs_option,
    json_option,
    notes_printed,
    print_json,
    progress,
    with_settings,
)
from extract.registry import DEFAULT_METHOD, method_of
from settings import Settings

if TYPE_CHECKING:
    from apps.batch.engines import Engine
    from apps.batch.running import Run

_MIB = 1 << 20

Command = Callable[..., Any]


@click.group("batch")
def command() -> None:
    """Work on many WARC files at once.

    PATH is a file, a folder or a glob. Files are read in pieces, by processes of this machine or by a Ray cluster, and
    what one finds out is written to DIR. A run that was interrupted goes on where it was; what was done is not done
    again while the files and the program are the same. Needs the extra `batch`, for --ray the extra `ray`.
    """


def _shared(done: Command) -> Command:
    """Give a command the options that all have."""
    for add in (
        click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
        click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="DIR"),
        click.option("--ray", "address", metavar="ADDRESS", help="Of a Ray cluster: HOST:PORT, auto, or local."),
        jobs_option,
        click.option(
            "--piece-mib", type=click.IntRange(1), default=64, help="Of a file that one task reads.  [default: 64]"
        ),
        json_option,
    ):
        done = add(done)
    return done


@command.command("report")
@_shared
@with_settings()
def report_command(settings: Settings, as_json: bool, **shared: Any) -> int:
    """Say what the pages have in common, by site.

    sites.jsonl has a line a site: captures, pages, and bytes: original, exact (equal bodies once), blocks (equal blocks
    once; before compression, so no size of a store). templates.jsonl has the blocks that stand on most of a site's
    pages, near.jsonl the pages that resemble another one of their site.
    """
    with _run("report", settings, **shared) as run:
        from apps.batch.report import report

        return _told(run, report(run), as_json, "{sites} sites, {captures} captures, {pages} pages")


@command.command("extract")
@_shared
@click.option("--method", default=DEFAULT_METHOD, metavar="NAME", help=f"See `methods`.  [default: {DEFAULT_METHOD}]")
@with_settings()
def extract_command(method: str, settings: Settings, as_json: bool, **shared: Any) -> int:
    """Write the content of each page as Parquet and as JSON lines, a file of each for each piece.

    The columns are record_id, url, time (microseconds), text, score and page (its kind). Methods that compare the pages
    of a class are not offered here.
    """
    try:
        needs = method_of(method).needs
    except ValueError as exc:
        raise click.BadParameter(str(exc), param_hint="'--method'") from exc
    if needs == "class":
        raise Failure(f"{method} compares the pages of a class, which batch work does not gather: use `extract`")
    with _run("extract", settings, **shared) as run:
        from apps.batch.contents import extract

        return _told(run, extract(run, method), as_json, "{pages} pages in {files} files")


@command.command("load")
@_shared
@with_settings("store")
def load_command(settings: Settings, as_json: bool, **shared: Any) -> int:
    """Keep what the files hold in a store, as `import` does, several files at a time.

    DIR remembers which files were loaded. With workers on several machines the store must be one that all reach.
    """
    with _run("load", settings, **shared) as run:
        from apps.batch.loading import load

        return _told(run, load(run, settings.store), as_json, "{captures} captures of {files} files kept")


@command.command("warc")
@_shared
@with_settings()
def warc_command(settings: Settings, as_json: bool, **shared: Any) -> int:
    """Write the files anew, with a revisit record in place of each response whose body its site has brought before.

    All other records are as they were. The first response with a body, by its date, keeps it.
    """
    with _run("warc", settings, **shared) as run:
        from apps.batch.revisits import deduplicate

        return _told(run, deduplicate(run), as_json, "{files} files, {revisits} bodies not written again")


@contextmanager
def _run(
    job: str,
    settings: Settings,
    *,
    paths: tuple[str, ...],
    out: Path,
    address: str | None,
    jobs: int | None,
    piece_mib: int,
) -> Iterator["Run"]:
    """Give a run over the paths, and let go of its workers afterwards."""
    from extract.protocol import MissingExtra

    try:
        from apps.batch.extras import needed

        needed("pyarrow", "fastwarc", *(["ray"] if address else []))
    except MissingExtra as exc:
        raise Failure(str(exc)) from exc
    from apps.batch.mapping import Problem, Setup
    from apps.batch.pieces import expand
    from apps.batch.running import Run, n_partitions_for
    from apps.warc.messages import Limits

    files, nothing = expand(paths)
    if not files:
        raise Failure(f"{', '.join(nothing)}: no such file")
    limits = Limits(settings.max_record_bytes, settings.max_decoded_ratio)
    folder = (out / job).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    setup = Setup(str(out.absolute() / ".parts"), limits, n_partitions_for(files), dict(settings.site_of))
    engine = _engine(address, jobs)
    try:
        with progress(job, 1000) as bar:
            run = Run(engine, setup, files, folder, bar, piece_mib * _MIB)
            run.lost = [Problem(path, "", "no such file") for path in nothing]
            yield run
    finally:
        engine.close()


def _engine(address: str | None, jobs: int | None) -> "Engine":
    from apps.batch.engines import Local, Ray

    if address is None:
        return Local(jobs or cores())
    try:
        return Ray(address)
    except (ConnectionError, RuntimeError, ValueError) as exc:
        raise Failure(f"--ray {address}: {str(exc).splitlines()[0]}") from exc


def _told(run: "Run", summary: dict[str, Any], as_json: bool, sentence: str) -> int:
    """Write down and say what a run did; the exit code is 1 when something could not be read."""
    figures = run.finish(summary)
    with notes_printed() as note:
        for problem in run.ledger.problems:
            note(f"{problem.file}: {problem.at}: {problem.what}" if problem.at else f"{problem.file}: {problem.what}")
    if as_json:
        print_json(figures)
    else:
        took = f"{figures['seconds']:.1f} s, {human(figures['peak worker memory bytes'])} a worker at most"
        click.echo(f"{sentence.format(**summary)}; {took}")
        click.echo(f"written to {run.out}")
    return 1 if run.ledger.failed else 0
