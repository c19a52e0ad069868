"""What a page says of itself to readers: title, author, date, canonical URL, language, description."""

import re
from dataclasses import dataclass
from html import unescape

from extract.default.passages import Passages
from extract.default.structured import Meta, Structured
from extract.tokens import attributes
from extract.views.document import safe_url

_LINK = re.compile(r"<link\b([^>]{0,2000})>", re.IGNORECASE)
_HTML = re.compile(r"<html\b([^>]{0,2000})>", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-zA-Z]{2,8}(?:-[a-zA-Z0-9]{1,8})*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ][0-9:.]{4,12}(?:Z|[+-]\d{2}:?\d{2})?)?")
_SUFFIX = re.compile(r"\s+[|–—·»-]\s+[^|–—·»]{1,60}$")

HEAD_CHARS = 200_000
"""Where links and the language are looked for."""


@dataclass(frozen=True, slots=True)
class Info:
    """All texts, empty where the page says nothing; `date` as the page writes it, when it is an ISO date."""

    url: str = ""
    title: str = ""
    author: str = ""
    date: str = ""
    canonical: str = ""
    language: str = ""
    description: str = ""
    site: str = ""


def read_info(source: str, url: str, page: Passages, structured: Structured, meta: Meta) -> Info:
    """Return what a page says of itself: JSON-LD first, then meta tags, then the title."""
    head = source[:HEAD_CHARS]
    texts = structured.texts
    title = meta.first("og:title", "twitter:title", "dc.title") or _SUFFIX.sub("", page.title)
    author = next((text for kind, key, text in texts if kind == "Person" and key == "name"), "")
    author = author or meta.first("author", "article:author", "dc.creator", "byl", "parsely-author")
    date = next((text for _, key, text in texts if key == "datepublished" and _DATE.match(text)), "")
    date = date or meta.first("article:published_time", "date", "dc.date", "pubdate", "datepublished")
    language = _language(head) or meta.first("content-language", "og:locale").replace("_", "-")
    return Info(
        url,
        _short(title, 300),
        "" if "://" in author else _short(author, 200),
        date if _DATE.fullmatch(date) else "",
        _canonical(head, url),
        language if _LANGUAGE.fullmatch(language) else "",
        _short(meta.first("description", "og:description", "twitter:description"), 1000),
        _short(meta.first("og:site_name", "application-name"), 200),
    )


def _short(text: str, size: int) -> str:
    return " ".join(text.split())[:size]


def _canonical(head: str, url: str) -> str:
    for match in _LINK.finditer(head):
        found = dict(attributes(match[1]))
        if found.get("rel", "").lower() == "canonical":
            link = safe_url(url, unescape(found.get("href", "")))
            return "" if link.startswith("mailto:") else link
    return ""


def _language(head: str) -> str:
    match = _HTML.search(head)
    return dict(attributes(match[1])).get("lang", "").strip() if match else ""
