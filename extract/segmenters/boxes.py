"""What a rendering says of a page: the box, background and font of each element, by its node in the page's tree."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from extract.protocol import Page


@dataclass(frozen=True, slots=True)
class Box:
    """Where an element is drawn, in CSS pixels, and how: background colour (empty if transparent), font."""

    left: float
    top: float
    width: float
    height: float
    background: str = ""
    font_size: float = 16.0
    font_weight: int = 400

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height

    @property
    def area(self) -> float:
        """Square pixels."""
        return self.width * self.height


Boxes = Mapping[int, Box]
Renderer = Callable[[Page], Boxes]
"""Measures a page. A node that is not drawn has no box."""


def annotated(page: Page, attribute: str) -> str:
    """Return the page's source with the number of its node in every start tag, so that boxes can be told apart.

    >>> from extract.protocol import page_of
    >>> annotated(page_of("", b"<p>a<br/>"), "data-n")
    '<p data-n="1">a<br data-n="3"/>'
    """
    source, at, parts = page.source, 0, list[str]()
    for node, tag in enumerate(page.tree.tags):
        if tag is not None:
            place = tag.start + 1 + len(tag.name)
            parts += [source[at:place], f' {attribute}="{node}"']
            at = place
    return "".join([*parts, source[at:]])
