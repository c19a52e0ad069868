"""HAR files (HTTP Archive 1.2): a browser's log of responses, their bodies already decoded."""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from apps.warc.dates import parse_date
from apps.warc.entries import Entry, Kind, Names, Note
from apps.warc.messages import all_codings, values
from blocks.model import Capture, Headers

_CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def har_entries(path: Path) -> Iterator[Entry]:
    """Yield the responses of a HAR file. OSError when it cannot be read."""
    try:
        log = _log(json.loads(path.read_bytes()))
    except (ValueError, RecursionError) as exc:
        yield Note(Kind.DAMAGED, str(path), f"is no HAR file: {exc}")
        return
    names = Names()
    for number, logged in enumerate(log):
        where = f"{path}: entry {number}"
        try:
            entry = _entry(logged, where)
        except (KeyError, TypeError, ValueError, AttributeError) as exc:
            what = f"{exc} is missing" if isinstance(exc, KeyError) else str(exc)
            entry = Note(Kind.DAMAGED, where, f"is no HAR entry: {what}")
        yield names.named(entry) if isinstance(entry, Capture) else entry


def _log(har: Any) -> list[Any]:
    log = har.get("log") if isinstance(har, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise ValueError("it has no list log.entries")
    return entries


def _entry(logged: dict[str, Any], where: str) -> Entry:
    url = str(logged["request"]["url"])
    response = logged["response"]
    status = int(response["status"])
    content = response.get("content") or {}
    if not 100 <= status <= 999:
        return Note(Kind.SKIPPED, where, f"{url} has no response")
    if "text" not in content and content.get("size"):
        return Note(Kind.SKIPPED, where, f"the body of {url} was not saved")
    started = parse_date(str(logged["startedDateTime"]))
    if started is None:
        raise ValueError(f"startedDateTime {logged['startedDateTime']!r} is no date")
    headers = _headers(response.get("headers") or ())
    vary = {name.strip().lower() for name in values(headers, "Vary").split(b",")}
    request = _headers(logged["request"].get("headers") or ())
    return Capture(
        url=_clean(url),
        time=started + max(0, int(float(logged.get("time") or 0) * 1000)),
        status=status,
        headers=headers,
        body=_body(content),
        coding=all_codings(headers),
        reason=_bytes(response.get("statusText") or ""),
        http_version=_version(response.get("httpVersion") or ""),
        request_time=started,
        vary=tuple((name, value) for name, value in request if name.lower() in vary),
    )


def _clean(url: str) -> str:
    return url.encode("utf-8", "replace").decode().replace("\0", "%00")


def _bytes(text: object) -> bytes:
    """Return a header's text as bytes: Latin-1, as HTTP has it, where that can say it. No line ends."""
    line = " ".join(str(text).splitlines())
    try:
        return line.encode("latin-1")
    except UnicodeEncodeError:
        return line.encode("utf-8", "replace")


def _headers(pairs: Iterable[dict[str, Any]]) -> Headers:
    """Return header fields without HTTP/2's pseudo-fields. Browsers join repeated ones by line ends: undone."""
    return tuple(
        (name, _bytes(value))
        for pair in pairs
        if _TOKEN.fullmatch(name := _bytes(pair["name"]))
        for value in str(pair["value"]).split("\n")
    )


def _version(name: str) -> bytes:
    """Return the protocol as a status line names it; browsers write `h2`, `http/2.0`, `h3`."""
    digits = re.fullmatch(r"(?:http/|h)(\d(?:\.\d)?)", name.lower())
    return b"HTTP/" + digits[1].encode() if digits else b"HTTP/1.1"


def _body(content: dict[str, Any]) -> bytes:
    """Return a body's bytes. Text is in the charset its type names where that can say it, else in UTF-8."""
    text = content.get("text") or ""
    if content.get("encoding") == "base64":
        try:
            return base64.b64decode(text, validate=True)
        except binascii.Error as exc:
            raise ValueError(f"content is not base64: {exc}") from exc
    charset = _CHARSET.search(content.get("mimeType") or "")
    try:
        return bytes(text.encode(charset[1] if charset else "utf-8"))
    except (LookupError, UnicodeError):
        return bytes(text.encode("utf-8", "surrogatepass"))
