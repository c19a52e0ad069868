"""What a page says of itself beside its text: JSON-LD (json-ld.org, schema.org), meta tags, the title."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from extract.tokens import attributes

MAX_SCRIPT_CHARS = 1 << 21
MAX_VALUES = 20_000
"""Values of all JSON-LD scripts of a page that are looked at."""

LONG_TEXTS = frozenset({"articlebody", "description", "text", "reviewbody", "abstract", "headline", "name", "answer"})
"""Keys of schema.org whose values are text for readers."""

BODIES = frozenset({"articlebody", "text", "reviewbody"})
"""Keys of schema.org whose values are the text of an article, a post or a review."""

MIN_BODY_WORDS = 50
"""Words from which the bodies in a page's JSON-LD are content by themselves."""

_COMMENT = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)|(?:-->|//\s*\]\]>|\]\]>)\s*;?\s*$"
)
_TAG = re.compile(r"<[/!]?[a-zA-Z][^<>]*>")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Structured:
    """The types and the texts in a page's JSON-LD, in their order: `texts` as (type, key in lower case, text)."""

    types: tuple[str, ...] = ()
    texts: tuple[tuple[str, str, str], ...] = ()

    def bodies(self) -> tuple[str, ...]:
        """Return the distinct texts of articles, posts and reviews; none when they have few words."""
        found = tuple(dict.fromkeys(text for _, key, text in self.texts if key in BODIES))
        return found if sum(len(text.split()) for text in found) >= MIN_BODY_WORDS else ()

    def longest(self, *keys: str) -> str:
        """Return the longest text of some keys, an empty one when there is none."""
        return max((text for _, key, text in self.texts if key in keys), key=len, default="")


def read_structured(scripts: Sequence[str]) -> Structured:
    """Return what the JSON-LD scripts of a page say; what is no JSON says nothing."""
    types: list[str] = []
    texts: list[tuple[str, str, str]] = []
    left = MAX_VALUES
    for script in scripts:
        for kind, key, value in _walk(_load(script)):
            left -= 1
            if left < 0:
                break
            if key == "@type":
                types.append(value[:60])
            elif value and len(texts) < MAX_VALUES:
                texts.append((kind, key, value))
    return Structured(tuple(dict.fromkeys(types)), tuple(texts))


def _load(script: str) -> Any:
    if len(script) > MAX_SCRIPT_CHARS:
        return None
    try:
        return json.loads(script, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(_COMMENT.sub("", script).strip().rstrip(";"), strict=False)
    except (ValueError, RecursionError):
        return None


def _walk(value: Any) -> Iterator[tuple[str, str, str]]:
    """Yield (type, key, text) for every string under a key that readers or we want; without recursion."""
    todo: list[tuple[str, str, Any]] = [("", "", value)]
    while todo:
        kind, key, value = todo.pop()
        if isinstance(value, dict):
            own = value.get("@type", kind)
            own = own[0] if isinstance(own, list) and own else own
            kind = own if isinstance(own, str) else kind
            todo.extend((kind, str(name).lower(), inner) for name, inner in reversed(value.items()))
        elif isinstance(value, list):
            todo.extend((kind, key, inner) for inner in reversed(value))
        elif isinstance(value, str) and key:
            yield kind, key, value if key not in LONG_TEXTS else plain(value)
        elif key and not isinstance(value, bool) and value is not None and not isinstance(value, str):
            yield kind, key, str(value)[:40]


def plain(text: str) -> str:
    """Return a text without tags and references, white space collapsed; descriptions often hold HTML."""
    text = unescape(text)
    if "<" in text:
        text = unescape(_TAG.sub(" ", text))
    return _SPACE.sub(" ", text).strip()


@dataclass(frozen=True, slots=True)
class Meta:
    """The content of a page's meta tags by name or property, in lower case; the first of equal names."""

    values: dict[str, str] = field(default_factory=dict)

    def first(self, *names: str) -> str:
        """Return the value of the first name that has one."""
        return next((self.values[name] for name in names if self.values.get(name)), "")


def read_meta(tags: Sequence[str]) -> Meta:
    """Return the named meta tags, given their attributes' sources."""
    values: dict[str, str] = {}
    for tag in tags[:500]:
        found = dict(reversed(list(attributes(tag))))
        name = found.get("property") or found.get("name") or found.get("itemprop") or ""
        if name and found.get("content"):
            values.setdefault(name.strip().lower(), _SPACE.sub(" ", unescape(found["content"][:20_000])).strip())
    return Meta(values)
