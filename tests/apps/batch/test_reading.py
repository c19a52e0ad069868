"""Pieces and their records: every record once, whatever the file is like."""

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.batch.mapping import Source
from apps.batch.pieces import Piece, bounds, cut, expand, whole
from apps.batch.reading import Stretched
from apps.warc.reading import Damage, WarcRecord, records
from tests.apps.batch.archives import response
from tests.apps.warc.samples import HEAD, LIMITS, packed, record

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'pagemason[batch]'")

RECORDS = [response(0, n) for n in range(4)]
SOUND = packed(*RECORDS)
MEMBER = len(packed(RECORDS[0]))


def read(content: bytes) -> list[WarcRecord | Damage]:
    """Return what a file holds, read from within a larger one."""
    found = Stretched(io.BytesIO(b"before" + content + b"behind"), 6, 6 + len(content), LIMITS.max_bytes)
    return list(found)


@pytest.mark.parametrize(
    ("content", "n_records", "damage"),
    [
        (SOUND, 4, []),
        (b"".join(RECORDS), 4, []),
        (gzip.compress(b"".join(RECORDS)), 4, []),
        (b"", 0, []),
        (SOUND[:-40], 3, ["the gzip member is cut off"]),
        (SOUND[:-4], 4, ["the gzip member is cut off"]),
        (SOUND[:-8] + b"\0\0\0\0" + SOUND[-4:], 3, ["the gzip member is damaged"]),
        (SOUND[:MEMBER] + b"junk" * 9 + SOUND[MEMBER:], 4, ["the gzip member is damaged"]),
        (b"no archive at all, but text", 0, ["no record begins here"]),
        (packed(RECORDS[0], record(length=9999), RECORDS[1]), 2, ["the record is cut off"]),
    ],
)
def test_what_is_whole_is_read_and_the_rest_is_named(content: bytes, n_records: int, damage: list[str]) -> None:
    found = read(content)
    assert sum(isinstance(each, WarcRecord) for each in found) == n_records
    named = [each.what for each in found if isinstance(each, Damage)]
    assert len(named) == len(damage)
    assert all(text.startswith(start) for text, start in zip(named, damage, strict=True))


@settings(max_examples=40, deadline=None)
@given(at=st.integers(0, len(SOUND) - 1), bit=st.integers(0, 7), end=st.integers(0, len(SOUND)))
def test_a_damaged_file_gives_what_our_own_reader_finds(at: int, bit: int, end: int) -> None:
    content = bytearray(SOUND)
    content[at] ^= 1 << bit
    content = content[:end]
    expected = [each.block for each in records(io.BytesIO(content), LIMITS.max_bytes) if isinstance(each, WarcRecord)]
    assert [each.block for each in read(bytes(content)) if isinstance(each, WarcRecord)] == expected


def test_a_record_that_is_too_large_is_named_and_the_rest_read() -> None:
    large = record(HEAD + bytes(LIMITS.max_bytes + 1), record_id="<urn:uuid:large>")
    before, damage, after = read(packed(RECORDS[0], large, RECORDS[1]))
    assert isinstance(before, WarcRecord)
    assert isinstance(after, WarcRecord)
    assert isinstance(damage, Damage)
    assert f"more than {LIMITS.max_bytes}" in damage.what


@pytest.mark.parametrize("piece_bytes", [1, 100, MEMBER, MEMBER + 1, 2 * MEMBER, 10_000])
def test_pieces_have_every_record_once(tmp_path: Path, piece_bytes: int) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(SOUND)
    urls = []
    with path.open("rb") as file:
        for piece in cut(str(path), piece_bytes):
            source = Source(file, *bounds(file, piece), LIMITS)
            urls += [capture.url for _, capture in source.captures()]
            assert source.fits
    assert urls == [f"http://site0.test/{n}" for n in range(4)]


def test_a_piece_that_begins_within_an_archived_archive_does_not_fit(tmp_path: Path) -> None:
    inner = packed(*RECORDS)
    content = gzip.compress(record(HEAD + inner), compresslevel=0) + SOUND
    path = tmp_path / "a.warc.gz"
    path.write_bytes(content)
    inside = content.index(inner[:20]) + 1
    with path.open("rb") as file:
        first = Source(file, *bounds(file, Piece(str(path), 0, 0, inside, len(content))), LIMITS)
        list(first.captures())
        assert not first.fits
        everything = Source(file, *bounds(file, whole(str(path), len(content))), LIMITS)
        assert len(list(everything.captures())) == 5


def test_paths_are_files_folders_and_globs(tmp_path: Path) -> None:
    names = ["a.warc.gz", "b.warc", "sub/c.warc.gz", "d.txt"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found, nothing = expand([str(tmp_path), f"{tmp_path}/*.gz", f"{tmp_path}/none*"])
    assert found == [str(tmp_path / name) for name in sorted(names[:3])]
    assert nothing == [f"{tmp_path}/none*"]
