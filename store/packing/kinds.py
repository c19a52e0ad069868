"""Which bodies are pages: only these are cut into blocks; others are kept whole. Which captures are the same one."""

from collections.abc import Iterable

from blocks.model import Capture, has_digest
from blocks.partition import partition
from store.base import Record

PAGE_TYPES = (b"text/html", b"application/xhtml+xml")


def is_page(capture: Capture) -> bool:
    """Tell whether a capture's body is HTML that can be cut: by its Content-Type, and not still encoded.

    A capture without a Content-Type is a page when it begins like markup.
    """
    if not capture.coding and capture.header("content-encoding").strip().lower() not in (b"", b"identity"):
        return False
    media_type = capture.header("content-type").split(b";")[0].strip().lower()
    if media_type:
        return media_type in PAGE_TYPES
    return capture.body[:512].lstrip().startswith(b"<")


def pieces_of(capture: Capture) -> list[bytes]:
    """Return what a capture's body is stored as: its atomic blocks, or the whole body; none when it is empty."""
    if not capture.body:
        return []
    return partition(capture.body).pieces() if is_page(capture) else [capture.body]


def is_known(capture: Capture, records: Iterable[Record]) -> bool:
    """Tell whether one of the records is this capture: record id, URL, time and body digest are equal.

    A record without an id, as the proxy keeps them, counts for any id: an export gives it one.
    """
    near = {
        record.digest
        for record in records
        if record.size == len(capture.body)
        and (record.capture.url, record.capture.time) == (capture.url, capture.time)
        and record.capture.record_id in ("", capture.record_id)
    }
    return any(has_digest(capture.body, digest) for digest in near)
