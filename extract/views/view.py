"""The content view of a page in one of four formats: bytes that a proxy, a command or a batch job can hand on.

A view shows the full page instead when the method is not sure: that costs a reader nothing but what the page cost
anyway, and the reason is told.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

from extract.default.passages import Passages
from extract.default.reader import read_passages
from extract.protocol import Extraction, page_of
from extract.registry import DEFAULT_METHOD, extractor
from extract.views.accept import MEDIA_TYPES
from extract.views.document import Node, arrange
from extract.views.info import Info, read_info
from extract.views.markdown import escape, markdown
from extract.views.render import POLICY, document, starts_with
from extract.views.ruling import Parts, ruled

MIN_CONFIDENCE = 0.35
"""Expected F1 below which the full page is shown."""

MIN_WORDS = 5
"""Content of fewer words is none."""

FORMATS = tuple(MEDIA_TYPES)

NOTHING = Parts()


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page's content and what is known of the page, ready to be written in any format."""

    extraction: Extraction
    passages: Passages
    kept: tuple[int, ...]
    info: Info
    tree: Node
    text: str


@dataclass(frozen=True, slots=True)
class View:
    """A page as it is handed on. `full` tells that it is the whole page, `reason` why; `confidence` is 0.0 to 1.0.

    `policy` is a Content-Security-Policy for it, empty when the body is the page's own.
    """

    body: bytes
    content_type: str
    confidence: float
    full: bool = False
    reason: str = ""
    policy: str = ""
    page_type: str = ""


def view(
    body: bytes,
    *,
    url: str,
    content_type: bytes = b"",
    evidence: Any = None,
    form: str = "html",
    method: str = DEFAULT_METHOD,
    full_url: str = "",
    min_confidence: float = MIN_CONFIDENCE,
    keep: Parts = NOTHING,
    drop: Parts = NOTHING,
) -> View:
    """Return the content of an HTML page in a format of FORMATS, the full page when the method is not sure.

    `content_type` is the response's header; `evidence` what the method prepared from other pages of the site, None
    for no others; `full_url` where the content page links to; `keep` and `drop` the parts that somebody has decided
    about. ValueError for an unknown method or format.
    """
    if form not in MEDIA_TYPES:
        raise ValueError(f"{form!r} is no format: one of {', '.join(MEDIA_TYPES)} expected")
    made = extractor(method)
    page = page_of(url, body, content_type)
    extraction = ruled(made.extract(page, made.prepare(()) if evidence is None else evidence), keep, drop)
    return view_of(extraction, form, full_url=full_url, content_type=content_type, min_confidence=min_confidence)


def view_of(
    extraction: Extraction,
    form: str = "html",
    *,
    full_url: str = "",
    content_type: bytes = b"",
    min_confidence: float = MIN_CONFIDENCE,
) -> View:
    """Return an extraction in a format, or the full page with the reason."""
    rendered = render(extraction)
    confidence = max(0.0, min(1.0, extraction.score))
    reason = doubt(rendered, confidence, min_confidence)
    page_type = getattr(extraction, "page_type", "")
    media_type = f"{MEDIA_TYPES[form]}; charset=utf-8"
    if not reason:
        written = write(rendered, form, full_url).encode("utf-8", "replace")
        return View(written, media_type, confidence, policy=POLICY if form == "html" else "", page_type=page_type)
    if form == "html":
        own = content_type.decode("latin-1") or "text/html"
        return View(extraction.page.body, own, confidence, True, reason, page_type=page_type)
    everything = render(extraction, everything=True)
    written = write(everything, form, full_url).encode("utf-8", "replace")
    return View(written, media_type, confidence, True, reason, page_type=page_type)


def doubt(rendered: Rendered, confidence: float, min_confidence: float) -> str:
    """Return why the full page is to be shown, empty when the content is."""
    if not len(rendered.passages) and not rendered.text:
        return "the page has no text"
    if len(rendered.text.split()) < MIN_WORDS and len(rendered.text) < 8 * MIN_WORDS:
        return "no content found"
    if confidence < min_confidence:
        return f"confidence {confidence:.2f} is below {min_confidence:.2f}"
    return ""


def render(extraction: Extraction, *, everything: bool = False, tree: bool = True) -> Rendered:
    """Return what the content blocks of an extraction hold, by any method; or all of the page. The tree stays empty
    unless wanted: text does without."""
    page = extraction.page
    passages = getattr(extraction, "passages", None) or read_passages(page.source)
    kept = tuple(range(len(passages))) if everything else _kept(extraction, passages)
    info = _info(extraction, passages)
    root = arrange(page.source, passages, kept, page.url) if tree else Node("article")
    if not everything and not kept:
        root.children += [Node("p", {}, [text]) for text in getattr(extraction, "told", ())]
    text = "\n".join(passages.text) if everything else extraction.text
    return Rendered(extraction, passages, kept, info, root, text)


def _kept(extraction: Extraction, passages: Passages) -> tuple[int, ...]:
    from extract.default.pagemason import Content, passages_in

    if isinstance(extraction, Content):
        return extraction.kept
    return passages_in(extraction.page, passages, extraction.flags)


def _info(extraction: Extraction, passages: Passages) -> Info:
    from extract.default.structured import read_meta, read_structured

    structured, meta = read_structured(passages.structured), read_meta(passages.meta)
    return read_info(extraction.page.source, extraction.page.url, passages, structured, meta)


def write(rendered: Rendered, form: str, full_url: str = "") -> str:
    """Return the content in a format of FORMATS."""
    if form == "html":
        return document(rendered.tree, rendered.info, full_url or rendered.info.url)
    if form == "markdown":
        return _markdown(rendered, full_url)
    if form == "text":
        return rendered.text + "\n" if rendered.text else ""
    return json.dumps(as_json(rendered), ensure_ascii=False, indent=1) + "\n"


def _markdown(rendered: Rendered, full_url: str) -> str:
    info, head = rendered.info, ""
    if info.title and not starts_with(rendered.tree, info.title):
        head += f"# {escape(info.title)}\n\n"
    byline = " · ".join(filter(None, (info.author, info.date)))
    if byline:
        head += f"*{escape(byline)}*\n\n"
    link = full_url or info.url
    foot = f"\n[Full page](<{link}>)\n" if link.startswith(("http://", "https://")) and ">" not in link else ""
    return head + markdown(rendered.tree) + foot


def as_json(rendered: Rendered) -> dict[str, Any]:
    """Return what is known of a page and of each of its blocks, and why it was kept or dropped."""
    extraction = rendered.extraction
    page = extraction.page
    blocks = []
    offset = 0
    for index, (piece, text, verdict) in enumerate(zip(page.pieces, page.texts, extraction.verdicts, strict=True)):
        if text:
            row = {"block": index, "offset": offset, "bytes": len(piece), **verdict._asdict(), "text": text}
            blocks.append(row)
        offset += len(piece)
    return {
        **asdict(rendered.info),
        "page_type": getattr(extraction, "page_type", ""),
        "confidence": round(extraction.score, 4),
        "site_pages": getattr(extraction, "n_others", 0),
        "source": "page" if rendered.kept or not getattr(extraction, "told", ()) else "json-ld",
        "text": rendered.text,
        "blocks": blocks,
    }
