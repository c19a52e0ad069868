"""pagemason experiment: named in `apps.cli`, and here because nothing else may know the experiments."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from apps.cli.common import Failure, progress

if TYPE_CHECKING:
    from experiments.report import Report

NAMES = ("paper", "entropy", "patterns", "mountain", "retrieval", "compare")


@click.command("experiment")
@click.argument("name", type=click.Choice(NAMES), metavar="NAME")
@click.option("--corpus", "corpora", multiple=True, required=True, metavar="FILE", type=click.Path(path_type=Path))
@click.option("--out", required=True, metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--limit", default=0, metavar="N", help="Take the first N pages of each corpus.  [default: all]")
def command(name: str, corpora: tuple[Path, ...], out: Path, limit: int) -> None:
    """Run an experiment of the papers and write a report, its figures and all its numbers into a folder.

    NAME is paper (Debnath et al. 2005), entropy (Lin, Ho 2002), patterns (key patterns), mountain (Bing et al. 2008),
    retrieval (segmenters) or compare (all methods). A corpus is a WARC file with NAME.truth.jsonl beside it;
    --corpus may be given several times.
    """
    from extract.protocol import MissingExtra

    try:
        from experiments.datasets import load
        from experiments.registry import experiment
        from experiments.report import write
        from experiments.runs import Context

        made = experiment(name)
        with progress(name, None) as bar:
            data = [load(corpus, limit) for corpus in corpora]
            report: Report = made(data, Context(progress=lambda word: bar(0, word)))
            path = write(report, out)
    except OSError as exc:
        raise Failure(f"{exc.filename}: {exc.strerror}") from exc
    except ModuleNotFoundError as exc:
        raise Failure(f"{exc.name} is not installed: pip install 'pagemason[experiments]'") from exc
    except (ValueError, MissingExtra) as exc:
        raise Failure(str(exc)) from exc
    click.echo(path)
