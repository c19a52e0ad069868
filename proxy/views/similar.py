"""Which stored pages, on all sites, have the same content blocks as one: what its content as JSON says of them.

The answer changes with the store, so it is found anew each time, by a process of `pool`; in a store that lives in the
proxy's memory, by a thread.
"""

import gzip
import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from blocks.model import Capture
from blocks.site import site_of
from extract.protocol import page_of
from extract.registry import extractor
from proxy.coding import decode
from proxy.views.rendering import ALARM_SECONDS, MIN_GZIP_BYTES, RenderedView, RenderJob, TooLong, render
from store.base import Store, StoreError
from store.duplicates import NearDuplicates, near_duplicates_of
from store.opening import open_store

_EPOCH = datetime(1970, 1, 1)


def near_duplicates_by_content(store: Store, capture: Capture) -> NearDuplicates:
    """Return the stored pages with the same long content blocks, most resembling first."""
    return near_duplicates_of(store, capture, content_blocks)


def content_blocks(capture: Capture) -> Sequence[bytes]:
    """Return the content blocks of a page by the default method; all blocks when it finds none."""
    made = extractor()
    page = page_of(capture.url, capture.body, capture.header("content-type"))
    flags = made.extract(page, made.prepare(())).flags
    chosen = [piece for piece, content in zip(page.pieces, flags, strict=True) if content]
    return chosen or page.pieces


def rows_of(found: NearDuplicates, sites: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield what is told of each page, in the order in which it is told."""
    for near in found.found:
        capture = near.record.capture
        yield {
            "resemblance": round(near.resemblance, 4),
            "shared_blocks": near.n_shared,
            "site": site_of(capture.url, sites),
            "time": _written(capture.time),
            "url": capture.url,
        }


def _written(time: int) -> str:
    """Return microseconds since the epoch as WARC/1.1 writes a date (section 5.4)."""
    try:
        return (_EPOCH + timedelta(microseconds=time)).isoformat() + "Z"
    except OverflowError:
        return (datetime.max if time > 0 else datetime.min).isoformat() + "Z"


def with_similar(body: bytes, store: Store, capture: Capture, sites: Mapping[str, str]) -> bytes:
    """Return the content of a page as JSON with the pages that have the same content blocks."""
    similar = list(rows_of(near_duplicates_by_content(store, capture), sites))
    told = json.dumps({**json.loads(body), "similar": similar}, ensure_ascii=False, indent=1)
    return (told + "\n").encode("utf-8", "replace")


def completed(rendered: RenderedView, job: RenderJob, store: Store, sites: Mapping[str, str]) -> RenderedView:
    """Return a view as JSON that tells of similar pages; as it was, when the store cannot be asked."""
    if rendered.body is None:
        return rendered
    body = rendered.body
    decoded = decode(job.body, job.content_encoding, max_bytes=job.max_bytes, max_ratio=job.max_ratio)
    headers = ((b"Content-Type", job.content_type),)
    now = int(datetime.now(UTC).timestamp() * 1_000_000)
    with suppress(StoreError):
        capture = Capture(job.url, now, 200, headers, decoded.body, private=job.private)
        body = with_similar(rendered.body, store, capture, sites)
    zipped = gzip.compress(body, 6, mtime=0) if len(body) >= MIN_GZIP_BYTES else b""
    return replace(rendered, body=body, zipped=zipped if len(zipped) < len(body) else b"")


def render_with_similar(job: RenderJob, url: str, sites: Mapping[str, str]) -> RenderedView:
    """Return a page's view as JSON that tells of similar pages in a store."""
    rendered = render(job)
    signal.alarm(ALARM_SECONDS)
    try:
        store = open_store(url, sites=sites, create=False, read_only=True)
        try:
            return completed(rendered, job, store, sites)
        finally:
            store.close()
    except (TooLong, StoreError):
        return rendered
    finally:
        signal.alarm(0)
