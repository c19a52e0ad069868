"""Near-duplicates of stored pages by their content, as commands and content views tell of them."""

from collections.abc import Iterator
from typing import Any

from apps.warc.dates import format_date
from blocks.model import Capture
from blocks.site import site_of
from extract.protocol import page_of
from extract.registry import extractor
from settings import Settings
from store.base import Store
from store.duplicates import NearDuplicates, near_duplicates_of


def near_duplicates_by_content(store: Store, capture: Capture) -> NearDuplicates:
    """Return the stored pages with the same long content blocks, most resembling first."""
    return near_duplicates_of(store, capture, content_blocks)


def rows_of(found: NearDuplicates, settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield what is told of each page, in the order in which it is told."""
    for near in found.found:
        capture = near.record.capture
        yield {
            "resemblance": round(near.resemblance, 4),
            "shared_blocks": near.n_shared,
            "site": site_of(capture.url, settings.site_of),
            "time": format_date(capture.time),
            "url": capture.url,
        }


def content_blocks(capture: Capture) -> list[bytes]:
    """Return the content blocks of a page by the default method; all blocks when it finds none."""
    made = extractor()
    page = page_of(capture.url, capture.body, capture.header("content-type"))
    flags = made.extract(page, made.prepare(())).flags
    chosen = [piece for piece, content in zip(page.pieces, flags, strict=True) if content]
    return chosen or page.pieces
