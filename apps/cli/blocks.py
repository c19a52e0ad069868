"""The blocks of a stored page, for the commands that show them."""

from dataclasses import dataclass

from blocks.model import Capture


@dataclass(frozen=True, slots=True)
class Placed:
    """An atomic block and where it begins in its page."""

    offset: int
    data: bytes
    tag: str


def blocks_of(capture: Capture) -> list[Placed]:
    """Return a page's atomic blocks in order; of what is no page, the body as one; of an empty body none."""
    from blocks.partition import partition
    from store.kinds import is_page

    if not capture.body:
        return []
    if not is_page(capture):
        return [Placed(0, capture.body, "")]
    found = partition(capture.body)
    return [Placed(*row) for row in zip(found.starts, found.pieces(), found.tags, strict=False)]


def excerpt(data: bytes, n_characters: int = 60) -> str:
    """Return how a block begins, on one line, without what would steer a terminal."""
    text = " ".join(data[: 8 * n_characters].decode("utf-8", "replace").split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)[:n_characters]
