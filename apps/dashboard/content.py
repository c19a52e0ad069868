"""Which blocks of a page are content, as the default method of `extract` says, where this build has it."""

import importlib.util
import logging
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from blocks.model import Capture
from extract.protocol import page_of
from extract.registry import DEFAULT_METHOD, METHODS, extractor
from store.base import StoreError
from store.kinds import is_page

if TYPE_CHECKING:
    from apps.dashboard.board import Board
    from apps.site_blocks import SiteBlocks

logger = logging.getLogger(__name__)

N_TAUGHT = 12
"""Pages of the site that the method learns from: "very few (5 - 10) pages from the same class are enough" (Debnath et
al. 2005, section 4.4.2)."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A verdict for each block, None when there is none, and then why."""

    flags: tuple[bool, ...] | None = None
    why: str = ""


@lru_cache(maxsize=1)
def is_available() -> bool:
    """Tell whether the default method can be used here."""
    return importlib.util.find_spec(METHODS[DEFAULT_METHOD].where.partition(":")[0]) is not None


def verdicts_of(board: "Board", capture: Capture, found: "SiteBlocks | None") -> Verdicts:
    """Return which blocks of a capture are content."""
    if not is_page(capture):
        return Verdicts(why="This is no HTML page: it has no content blocks.")
    if not is_available():
        return Verdicts(why="Content is not told from template here: this version has no default method for it.")
    try:
        page = page_of(capture.url, capture.body, capture.header("content-type"))
        method = extractor()
        return Verdicts(tuple(method.extract(page, _evidence(board, method, found)).flags))
    except Exception as exc:  # any method, on any page: the rest of the view is still worth showing
        logger.warning("%s: content was not judged: %s", capture.url, exc)
        return Verdicts(why=f"Content could not be judged: {type(exc).__name__}.")


_TAUGHT: dict[str, tuple[float, Any]] = {}


def _evidence(board: "Board", method: Any, found: "SiteBlocks | None") -> Any:
    """Return what some pages of the site teach the method; remembered until the site is counted again."""
    if found is None:
        return method.prepare(())
    name = found.site
    kept = _TAUGHT.get(name)
    if kept is None or kept[0] != found.made:
        step = -(-len(found.records) // N_TAUGHT) or 1
        pages = []
        for record in found.records[::step]:
            try:
                capture = board.store.read(record)
            except StoreError:
                continue
            if is_page(capture):
                pages.append(page_of(capture.url, capture.body, capture.header("content-type")))
        if len(_TAUGHT) > N_TAUGHT:
            _TAUGHT.clear()
        kept = _TAUGHT[name] = found.made, method.prepare(pages)
    return kept[1]
