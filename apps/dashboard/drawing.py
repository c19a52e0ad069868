"""A stored page as the frame shows it: without scripts and without anything that would be fetched, blocks marked.

The frame's sandbox and policy forbid both anyway; taking them out beforehand keeps the browser's console clean. A
block is marked at the partitioning tag that it begins with, by an attribute; the page's own structure is not touched.
"""

import re
from collections.abc import Sequence
from html import escape

import lxml.html
import nh3
from lxml.etree import LxmlError

from apps.site_blocks import Placed
from blocks.encoding import WIDE, decode_as

KINDS = ("known", "similar", "new")
"""What a block is to its site: it stands on other pages too, it resembles one, or neither."""

MAX_BYTES = 4 << 20
"""Of larger pages the beginning is drawn."""

MAX_TAGS = 2000
"""The sanitiser takes quadratic time for deeply nested elements, 1 s for 8000: what has more tags goes through lxml
before, which drops what lies deeper than 256."""


def _words(text: str) -> set[str]:
    return set(text.split())


_DROPPED = {
    *("script", "noscript", "iframe", "object", "embed", "applet", "frame", "frameset", "template", "svg", "math"),
    *(
        "audio",
        "video",
        "source",
        "track",
        "link",
        "meta",
        "base",
        "noembed",
        "noframes",
        "textarea",
        "select",
        "title",
    ),
}
_TAGS = _words("""
    a abbr address area article aside b bdi bdo big blockquote body br button caption center cite code col colgroup
    data dd del details dfn dir div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header
    hgroup hr i img input ins kbd label legend li main map mark menu nav ol optgroup p pre q rp rt ruby s samp
    section small span strike strong style sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr
""")
_ATTRIBUTES = _words("""
    align alt bgcolor border cellpadding cellspacing class color colspan dir face height id lang name rowspan size
    start style title type valign value width
""")
_FETCHES = re.compile(r"url\s*\(|@import|image-set\s*\(|\\", re.IGNORECASE)

_STYLE = """<style>
html { background: #fff; color: #000; }
[data-pm-kind] { box-shadow: inset 4px 0 0 0 var(--pm) !important; }
[data-pm-kind="known"] { --pm: #2a78d6; }
[data-pm-kind="similar"] { --pm: #e09a00; }
[data-pm-kind="new"] { --pm: #1b8a4b; }
[data-pm-content="yes"] { background: #e2f4e6 !important; color: #000 !important; }
[data-pm-content="no"] { background: #ececec !important; color: #666 !important; }
</style>
"""


def _clean_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "src":
        return value if tag == "img" and value.startswith("data:image/") else None
    return None if name == "style" and _FETCHES.search(value) else value


_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    clean_content_tags=_DROPPED,
    attributes={"*": _ATTRIBUTES, "img": {"src"}},
    generic_attribute_prefixes={"data-pm-"},
    attribute_filter=_clean_attribute,
    url_schemes={"data"},
    link_rel=None,
)

_SHEET = re.compile(r"(<style\b[^>]*>)(.*?)(</style|$)", re.IGNORECASE | re.DOTALL)


def drawn(blocks: Sequence[Placed], codec: str, kinds: Sequence[str] = (), content: Sequence[str] = ()) -> str:
    """Return a whole document for the frame, blocks marked.

    `kinds` has one of KINDS a block, `content` yes, no or nothing; each may be empty.
    """
    data = b"".join(block.data for block in blocks) if codec in WIDE else b"".join(_marked(blocks, kinds, content))
    text = decode_as(data[:MAX_BYTES], codec).removeprefix("\ufeff")
    text = _SHEET.sub(lambda match: match[1] + _FETCHES.sub("none(", match[2]) + match[3], text)
    body = _CLEANER.clean(_flat(text))
    return _document(_STYLE + body)


def drawn_view(document: str) -> str:
    """Return a content view, which is a document of ours, for the frame: its images would be fetched."""
    head, _, body = document.partition("</head>")
    style = _SHEET.search(head)
    return _document((style[0] if style else "") + _CLEANER.clean(body))


def _document(body: str) -> str:
    return f'<!doctype html><html lang="und"><head><meta charset="utf-8"><title>page</title></head><body>{body}'


def _flat(text: str) -> str:
    """Return markup that is not deeper than can be cleaned."""
    if text.count("<") <= MAX_TAGS:
        return text
    try:
        found: str = lxml.html.tostring(lxml.html.document_fromstring(text.replace("\0", "")), encoding="unicode")
    except (LxmlError, ValueError):
        return f"<pre>{escape(text)}</pre>"
    return found


def _marked(blocks: Sequence[Placed], kinds: Sequence[str], content: Sequence[str]) -> list[bytes]:
    parts = []
    for number, block in enumerate(blocks):
        start = 1 + len(block.tag)
        if block.tag and block.data[:start].lower() == f"<{block.tag}".encode():
            mark = f' data-pm-kind="{kinds[number]}"' if kinds else ""
            if content and content[number]:
                mark += f' data-pm-content="{content[number]}"'
            parts.append(block.data[:start] + mark.encode() + block.data[start:])
        else:
            parts.append(block.data)
    return parts
