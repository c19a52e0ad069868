"""Folders of saved pages.

The URL of a file follows from its place. In a folder as wget and HTTrack leave it, the first directory is a host:
`a.test/b/index.html` is `http://a.test/b/`. Any other file is `file:///its/path`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from urllib.parse import quote

from apps.warc.entries import Entry, Kind, Names, Note
from blocks.model import Capture

SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".shtml"})

_HOST = re.compile(r"(?:localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?:[:+]\d{1,5})?")
_MARKUP = re.compile(rb"\s*(?:<!--|<\?xml|<!doctype\s+html|<html|<head|<body)", re.IGNORECASE)
_SNIFF = 512
# As WHATWG URL writes a path; "%" too, since a "%" in a file's name stands for itself.
_SAFE = "/!$&'()*+,;=:@~-._"


def is_page(path: Path) -> bool:
    """Tell whether a file is a page, by its suffix or by how it begins. OSError when it cannot be read."""
    if path.suffix.lower() in SUFFIXES:
        return True
    with path.open("rb") as file:
        return bool(_MARKUP.match(file.read(_SNIFF).removeprefix(b"\xef\xbb\xbf")))


def url_of(path: Path, folder: Path) -> str:
    """Return the URL of a file in a folder."""
    parts = path.relative_to(folder).parts
    # The folder named may itself be the host's.
    if len(parts) < 2 or not _HOST.fullmatch(parts[0]):
        parts = (folder.resolve().name, *parts)
    if len(parts) < 2 or not _HOST.fullmatch(parts[0]) or parts[0].lower().endswith(tuple(SUFFIXES)):
        return "file://" + quote(bytes(path.resolve()), _SAFE)
    name, query, rest = parts[-1].partition("?")
    name = "" if name in ("index.html", "index.htm") and not query else name
    place = quote("/".join((*parts[1:-1], name)), _SAFE, errors="surrogateescape")
    return f"http://{parts[0].replace('+', ':')}/{place}" + (
        "?" + quote(rest, _SAFE + "?%", errors="surrogateescape") if query else ""
    )


def regular_files(folder: Path) -> Iterator[Path]:
    """Yield the regular files below a folder, by path; links inside it are not followed. OSError names a directory
    that cannot be read."""
    waiting = sorted(folder.iterdir(), reverse=True)
    while waiting:
        path = waiting.pop()
        mode = path.lstat().st_mode
        if S_ISREG(mode):
            yield path
        elif S_ISDIR(mode):
            waiting.extend(sorted(path.iterdir(), reverse=True))


def page_entry(path: Path, folder: Path, max_bytes: int, names: Names) -> Entry:
    """Return the capture of one saved page: when it was changed is when it was captured."""
    about = path.stat()
    if about.st_size > max_bytes:
        return Note(Kind.SKIPPED, str(path), f"the page has {about.st_size} bytes, more than {max_bytes}")
    return names.named(
        Capture(
            url=url_of(path, folder),
            time=about.st_mtime_ns // 1000,
            status=200,
            headers=((b"Content-Type", b"text/html"),),
            body=path.read_bytes(),
            reason=b"OK",
        )
    )
