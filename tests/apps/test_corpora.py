"""Real pages in and out again, read by another program (FastWARC) and compared."""

from collections import Counter
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from tests.apps.conftest import Invoke

SMALL = ("encodings", "blog")


def responses(path: Path) -> Counter[tuple[str, ...]]:
    """Return what a file's response records say: URL, id, date, status line and fields, body."""
    found: Counter[tuple[str, ...]] = Counter()
    for record in ArchiveIterator(str(path), record_types=WarcRecordType.response, parse_http=False):
        head, _, body = record.reader.read().partition(b"\r\n\r\n")
        names = ("WARC-Target-URI", "WARC-Record-ID", "WARC-Date")
        found[*(record.headers[name] for name in names), head.decode("latin-1"), body.hex()] += 1
    return found


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_real_pages_come_out_as_they_went_in(
    kind: str,
    corpora: Path,
    home: Path,
    pm: Invoke,
    request: pytest.FixtureRequest,
) -> None:
    store = f"sqlite:///{home}/pages.db" if kind == "sqlite" else request.getfixturevalue("pg_url")
    files = [corpora / f"{name}.warc.gz" for name in SMALL if (corpora / f"{name}.warc.gz").exists()]
    wanted = sum(map(responses, files), Counter())
    assert pm("import", *files, "--store", store)[0] == 0
    assert f"\n0 captures kept, {wanted.total()} skipped" in "\n" + pm("import", *files, "--store", store)[1]
    assert pm("export", home / "out.warc.gz", "--store", store)[0] == 0
    assert responses(home / "out.warc.gz") == wanted
    assert pm("check", "--store", store) == (0, f"{wanted.total()} captures, all sound\n", "")
