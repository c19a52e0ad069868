"""What the name, classes, id and role of an element say of the text in it: flags, hints, and a step in a path."""

import re
from functools import lru_cache

_FLAGS = (
    "nav footer header aside article main section form table td th ul ol li dl blockquote pre figure figcaption p "
    "heading button select label noscript details dialog hidden address textarea center menu iframe"
)
FLAGS = tuple(_FLAGS.split())
"""What a passage can lie in; flag i is bit i."""

_BIT = {name: 1 << i for i, name in enumerate(FLAGS)}
_HIDDEN = _BIT["hidden"]
TAG_BITS = {
    **{name: bit for name, bit in _BIT.items() if name not in ("heading", "hidden")},
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _BIT["heading"]),
}

_HINT = re.compile(
    r"""\s(?=[achirsACHIRS])(class|id|role|itemprop|itemtype|hidden|aria-hidden|style)(?=[\s=/>]|$)"""
    r"""(?:\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s"'>]+)))?""",
    re.IGNORECASE,
)
_NO_DISPLAY = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LOWER_PART = re.compile(r"[a-z]{3,}")
_DIGITS = re.compile(r"[0-9]+")

_CLASS = ' class="'
_OUTERMOST = frozenset(["html", "body"])

MAX_HINT_CHARS = 400
"""Attributes longer than this are read only so far for hints."""


class Hints:
    """Numbers the hint sets of a page; equal ones share a number."""

    def __init__(self, sets: list[tuple[str, ...]]) -> None:
        self.sets = sets
        self.written: dict[tuple[str, str], tuple[int, int, bytes]] = {}
        self.meant: dict[tuple[int, tuple[str, ...], bytes], tuple[int, int, bytes]] = {}

    def read(self, name: str, attributes: str) -> tuple[int, int, bytes]:
        """Return the index of an element's hint set, its own flags, and what it adds to a path."""
        known = self.written.get((name, attributes))
        if known is None:
            meaning = _hints(name, attributes[:MAX_HINT_CHARS])
            known = self.meant.get(meaning)
            if known is None:
                flags, hints, step = meaning
                known = self.meant[meaning] = len(self.sets), flags, step
                self.sets.append(hints)
            self.written[name, attributes] = known
        return known


@lru_cache(maxsize=1 << 12)
def _parts(name: str) -> tuple[str, ...]:
    """Return the words of a class or an id: `navBar-left2` has `nav`, `bar` and `left`."""
    if name.islower():
        return tuple(_LOWER_PART.findall(name))
    return tuple([part.lower() for part in _NAME_PART.findall(name) if len(part) > 2])


def _hints(name: str, attributes: str) -> tuple[int, tuple[str, ...], bytes]:
    """Return what an element's name, classes, id and role say: its flags, its hints, and its step in a path."""
    if attributes[:8] == _CLASS and attributes.find('"', len(_CLASS)) == len(attributes) - 1:
        return _with_classes(name, attributes[len(_CLASS) : -1])
    return _with_attributes(name, attributes) if attributes else _with_classes(name, "")


@lru_cache(maxsize=1 << 13)
def _with_classes(name: str, classes: str) -> tuple[int, tuple[str, ...], bytes]:
    """The same for an element that has classes only."""
    hints = dict.fromkeys(("<" + name, *_parts(classes)))
    return TAG_BITS.get(name, 0), tuple(hints), _step(name, classes)


@lru_cache(maxsize=1 << 13)
def _with_attributes(name: str, attributes: str) -> tuple[int, tuple[str, ...], bytes]:
    flags, classes = TAG_BITS.get(name, 0), ""
    hints = ["<" + name]
    for kind, double, single, bare in _HINT.findall(attributes):
        kind, value = kind.lower(), double or single or bare
        if kind == "class":
            classes = value
            hints += _parts(value)
        elif kind == "id":
            hints += _parts(value)
        elif kind in ("role", "itemprop", "itemtype"):
            hints.append(f"{kind}={value.rsplit('/', 1)[-1].lower()[:20]}")
        elif kind == "hidden" or (kind == "aria-hidden" and value == "true"):
            hints.append(kind)
            flags |= _HIDDEN if kind == "hidden" else 0
        elif ("none" in value.lower() or "hidden" in value.lower()) and _NO_DISPLAY.search(value):
            hints.append("display:none")
            flags |= _HIDDEN
    return flags, tuple(dict.fromkeys(hints)), _step(name, classes)


def _step(name: str, classes: str) -> bytes:
    if name in _OUTERMOST:
        return f"{name}./".encode()  # their classes tell the page or the day, not the place
    if _DIGITS.search(classes):
        classes = _DIGITS.sub("", classes)
    return f"{name}.{classes}/".encode("utf-8", "replace")
