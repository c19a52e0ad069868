"""A decoded page as tags and visible text, with the place of each in the source: one pass, no repair.

The methods' own units (lines, cells, nodes) are spans of the source, and so are the blocks; what a method says of its
units is carried to the blocks through these places. lxml has no places, and drops what lies deeper than 256.
What is a tag, a comment or raw text follows the HTML standard's tokenizer (section 13.2.5), with the departures of
`blocks.tags`: what an unterminated comment, raw text or quote opens, reaches to the end of the page.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import NamedTuple

RAW_TEXT = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
"""Elements that hold no tags (HTML, 13.1.2); what they hold is no visible text of the page, except in xmp."""

HIDDEN = frozenset({*RAW_TEXT, "noscript", "template"} - {"xmp"})
"""Elements whose text a reader of the page does not see."""

VOID = frozenset(
    ["area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param", "source", "wbr"]
)
"""Elements without an end tag (HTML, 13.1.2)."""

_PHRASES = """a abbr acronym b bdi bdo big cite code dfn em font i ins del kbd label mark nobr q s samp small span
strike strong sub sup time tt u var wbr"""
INLINE = frozenset(_PHRASES.split())
"""Tags between which a word goes on."""

_TAG = re.compile(
    r"""<(?:
      (?P<close>/?)(?P<name>[a-zA-Z][^\s/>]*)
      (?P<attributes>[^>=]*(?:=[ \t\r\n\f]*(?:"[^"]*"?|'[^']*'?|[^ \t\r\n\f>"'][^ \t\r\n\f>]*)?[^>=]*)*)>?
    | !--(?:-?>|.*?(?:--!?>|\Z))
    | [!?/][^>]*>?
    )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_RAW_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in RAW_TEXT}
_ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s>]+)))?""")
_SPACE = re.compile(r"[\s\ufeff\u200b]+")


class Tag(NamedTuple):
    """A start or end tag: its place in the source, its name in lower case, and what stands behind the name."""

    start: int
    end: int
    name: str
    closing: bool
    attributes: str


class Text(NamedTuple):
    """A stretch of visible characters between two tags; `glued` when only inline tags stand before it."""

    start: int
    end: int
    glued: bool


@dataclass(frozen=True, slots=True)
class Scan:
    """The tags of a source in order, its stretches of visible text, and where the latter end."""

    tags: list[Tag]
    texts: list[Text]
    ends: list[int]

    def between(self, start: int, end: int) -> Iterator[Text]:
        """Yield the texts that lie at least partly in a span."""
        for index in range(bisect_left(self.ends, start + 1), len(self.texts)):
            if self.texts[index].start >= end:
                break
            yield self.texts[index]


def scan(source: str) -> Scan:
    """Return the tags and the visible text of a source; linear in its length, for any characters."""
    tags: list[Tag] = []
    texts: list[Text] = []
    position, hidden, glued, size = 0, "", True, len(source)
    search = _TAG.search
    while match := search(source, position):
        start, end = match.span()
        if start > position and not hidden:
            texts.append(Text(position, start, glued))
            glued = True
        position = end
        if match["name"] is None:
            continue
        name, closing = match["name"].lower(), bool(match["close"])
        tags.append(Tag(start, end, name, closing, match["attributes"]))
        glued = glued and name in INLINE
        if closing:
            hidden = "" if name == hidden else hidden
        elif name in _RAW_END:
            ended = _RAW_END[name].search(source, end)
            position = ended.start() if ended else size
            if name == "xmp" and not hidden and position > end:
                texts.append(Text(end, position, glued))
        elif name in HIDDEN and not hidden:
            hidden = name
    if position < size and not hidden:
        texts.append(Text(position, size, glued))
    return Scan(tags, texts, [text.end for text in texts])


def visible_text(source: str, scanned: Scan, start: int, end: int) -> str:
    """Return the visible text of a span of the source, references resolved, white space collapsed to one space.

    >>> page = "<p>one <b>t</b>wo<br>&amp; three<script>no</script>"
    >>> visible_text(page, scan(page), 0, len(page))
    'one two & three'
    """
    parts: list[str] = []
    for text in scanned.between(start, end):
        if not text.glued:
            parts.append(" ")
        parts.append(source[max(start, text.start) : min(end, text.end)])
    joined = "".join(parts)
    return _SPACE.sub(" ", unescape(joined) if "&" in joined else joined).strip()


def attributes_of(tag: Tag) -> dict[str, str]:
    """Return the attributes of a tag: names in lower case, the first of equal names, references not resolved.

    >>> attributes_of(scan("<a HREF=x class='b c' hidden>").tags[0])
    {'href': 'x', 'class': 'b c', 'hidden': ''}
    """
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tag.attributes):
        found.setdefault(name.lower(), double or single or bare)
    return found
