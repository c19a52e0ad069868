"""What today's choices need for the same pages: gzip, zstd, SQLite with a dictionary a site, packs of whole pages.

Every function takes captures and returns bytes. Definitions: `gzip` and `zstd19` compress each body by itself
(levels 6 and 19). `dictionary` is a SQLite file of rows (url, time, body) with an index on (url, time), bodies at
zstd -19 with one dictionary of 112 KiB a site, trained on its first 200 pages, where that pays for itself; its size
is that of the file after VACUUM. `whole_pages` sorts a site's pages by URL and time, joins as many as make a
pack of at most so many raw bytes, and compresses the pack at zstd -22, a level above our store's, with long matching
and the site's first pack as raw dictionary; there is no index.
"""

import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import zstandard

from blocks.model import Capture
from blocks.site import site_of

DICTIONARY_BYTES = 112_640
TRAINED_ON = 200
"""Pages of a site that its dictionary is trained on."""

WINDOW_LOG = 24


def by_site(captures: Iterable[Capture]) -> dict[str, list[Capture]]:
    """Return captures by site, in their order."""
    sites: dict[str, list[Capture]] = defaultdict(list)
    for capture in captures:
        sites[site_of(capture.url)].append(capture)
    return sites


def original(captures: Sequence[Capture]) -> int:
    """Return the bytes of all bodies."""
    return sum(len(capture.body) for capture in captures)


def exact(captures: Sequence[Capture]) -> int:
    """Return the bytes of all distinct bodies."""
    return sum(map(len, {capture.body for capture in captures}))


def gzip(captures: Sequence[Capture]) -> int:
    """Return the bytes of all bodies, each compressed by zlib at level 6."""
    return sum(len(zlib.compress(capture.body, 6)) for capture in captures)


def zstd19(captures: Sequence[Capture]) -> int:
    """Return the bytes of all bodies, each compressed by zstd at level 19."""
    compressor = zstandard.ZstdCompressor(level=19)
    return sum(len(compressor.compress(capture.body)) for capture in captures)


def dictionary(captures: Sequence[Capture], path: Path) -> int:
    """Make the SQLite file with a dictionary a site; return its size."""
    database = sqlite3.connect(path)
    database.execute("create table page(url text, time text, body blob)")
    database.execute("create table dict(site text, d blob)")
    for site, pages in by_site(captures).items():
        bodies, trained = _with_dictionary([page.body for page in pages])
        rows = [(page.url, page.date or str(page.time), body) for page, body in zip(pages, bodies, strict=True)]
        database.executemany("insert into page values(?,?,?)", rows)
        database.execute("insert into dict values(?,?)", (site, trained))
    database.execute("create index i on page(url, time)")
    database.commit()
    database.execute("vacuum")
    database.close()
    return path.stat().st_size


def _with_dictionary(bodies: list[bytes]) -> tuple[list[bytes], bytes]:
    """Return bodies compressed, and the dictionary they need: empty where none can be trained or none pays."""
    plain = zstandard.ZstdCompressor(level=19)
    alone = [plain.compress(body) for body in bodies]
    try:
        trained = zstandard.train_dictionary(DICTIONARY_BYTES, list(bodies[:TRAINED_ON]), level=19)
    except zstandard.ZstdError:
        return alone, b""
    compressor = zstandard.ZstdCompressor(level=19, dict_data=trained)
    packed = [compressor.compress(body) for body in bodies]
    pays = sum(map(len, packed)) + len(trained) <= sum(map(len, alone))
    return (packed, trained.as_bytes()) if pays else (alone, b"")


def dictionary_reader(path: Path) -> tuple[Callable[[str], bytes], Callable[[], None]]:
    """Return a function that reads the newest body of a URL, dictionaries in memory, and one that closes the file."""
    database = sqlite3.connect(path)
    plain = zstandard.ZstdDecompressor()
    sites = {
        site: zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(raw)) if raw else plain
        for site, raw in database.execute("select site, d from dict")
    }

    def read(url: str) -> bytes:
        query = "select body from page where url = ? order by time desc limit 1"
        (body,) = database.execute(query, (url,)).fetchone()
        return sites[site_of(url)].decompress(body)

    return read, database.close


def whole_pages(captures: Sequence[Capture], pack_bytes: int) -> int:
    """Return the bytes of packs of whole pages."""
    parameters = zstandard.ZstdCompressionParameters.from_level(22, window_log=WINDOW_LOG, enable_ldm=True)
    total = 0
    for pages in by_site(captures).values():
        compressor = zstandard.ZstdCompressor(compression_params=parameters)
        first = True
        for pack in _packs(sorted(pages, key=lambda page: (page.url, page.time)), pack_bytes):
            total += len(compressor.compress(pack))
            if first:
                raw = zstandard.ZstdCompressionDict(pack, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
                compressor = zstandard.ZstdCompressor(compression_params=parameters, dict_data=raw)
                first = False
    return total


def cold_bytes(pages: list[Capture], pack_bytes: int) -> int:
    """Return what a page of one site decompresses in packs of whole pages: its pack and the dictionary, the median."""
    first, *others = [len(pack) for pack in _packs(sorted(pages, key=lambda page: (page.url, page.time)), pack_bytes)]
    return first + (sorted(others)[len(others) // 2] if others else 0)


def _packs(pages: list[Capture], pack_bytes: int) -> Iterable[bytes]:
    """Yield pages joined, never above `pack_bytes` but for a page that is larger itself."""
    pack: list[bytes] = []
    size = 0
    for page in pages:
        if pack and size + len(page.body) > pack_bytes:
            yield b"".join(pack)
            pack, size = [], 0
        pack.append(page.body)
        size += len(page.body)
    if pack:
        yield b"".join(pack)
