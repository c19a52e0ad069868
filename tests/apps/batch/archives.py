"""WARC files for batch work: a few sites, each with a template of its own."""

import random
from pathlib import Path

from tests.apps.warc.samples import HEAD, packed, record

WORDS = ("anchor", "basket", "candle", "dinner", "engine", "forest", "garden", "harbour", "island", "jacket", "kettle")


def page(site: int, number: int, words: int = 90) -> bytes:
    """Return a page: a menu and a foot that its site has on all, and a paragraph of its own."""
    rng = random.Random(site * 1000 + number)
    text = " ".join(rng.choices(WORDS, k=words))
    menu = "".join(f"<li><a href='/{n}'>part {n} of site {site}</a>" for n in range(9))
    return f"<html><ul>{menu}</ul><div><h1>page {number}</h1><p>{text}.</p></div><p>foot of {site}</html>".encode()


def response(site: int, number: int, body: bytes | None = None, second: int = 0) -> bytes:
    """Return the record of a page."""
    return record(
        HEAD + (page(site, number) if body is None else body),
        url=f"http://site{site}.test/{number}",
        record_id=f"<urn:uuid:{site}-{number}-{second}>",
        date=f"2024-05-06T07:{second // 60:02}:{second % 60:02}Z",
    )


def write_archives(folder: Path, n_files: int = 4, n_pages: int = 12) -> list[Path]:
    """Write files that share three sites; the last page of each is the first one's again, at a later time."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(n_files):
        records = [response(n % 3, number * n_pages + n, second=n) for n in range(n_pages)]
        records.append(response(0, 9000 + number, page(0, 0, 400), second=100 + number))
        paths.append(folder / f"part{number}.warc.gz")
        paths[-1].write_bytes(packed(*records))
    return paths


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the results in a folder: all but what tells about the run itself."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != "run.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
