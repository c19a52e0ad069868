"""What the name, classes, id and role of an element say of the text in it: flags, hints, and a step in a path."""

import re
from functools import lru_cache
from itertools import chain

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

_CLASS = ' class="'
_OUTERMOST = frozenset(["html", "body"])

MAX_HINT_CHARS = 400
"""Attributes longer than this are read only so far for hints."""


class Hints(dict[tuple[str, str], tuple[int, int, bytes]]):
    """An element's name and attributes -> the index of its hint set among those of the page, its own flags, and what it
    adds to a path. Equal sets share a number."""

    def __init__(self, sets: list[tuple[str, ...]]) -> None:
        super().__init__()
        self.sets = sets
        self.meant: dict[tuple[int, tuple[str, ...], bytes], tuple[int, int, bytes]] = {}

    def __missing__(self, written: tuple[str, str]) -> tuple[int, int, bytes]:
        meaning = _hints(*written)
        known = self.meant.get(meaning)
        if known is None:
            flags, hints, step = meaning
            known = self.meant[meaning] = len(self.sets), flags, step
            self.sets.append(hints)
        self[written] = known
        return known


def _hints(name: str, attributes: str) -> tuple[int, tuple[str, ...], bytes]:
    """Return what an element's name, classes, id and role say: its flags, its hints, and its step in a path."""
    attributes = attributes[:MAX_HINT_CHARS]
    if attributes[:8] == _CLASS and attributes.find('"', len(_CLASS)) == len(attributes) - 1:
        return _with_classes(name, attributes[len(_CLASS) : -1])
    return _with_attributes(name, attributes) if attributes else _with_classes(name, "")


@lru_cache(maxsize=1 << 13)
def _with_classes(name: str, classes: str) -> tuple[int, tuple[str, ...], bytes]:
    """The same for an element that has classes only."""
    hints = dict.fromkeys(chain(("<" + name,), chain.from_iterable(map(_parts, classes.split()))))
    return TAG_BITS.get(name, 0), tuple(hints), _step(name, classes)


@lru_cache(maxsize=1 << 13)
def _with_attributes(name: str, attributes: str) -> tuple[int, tuple[str, ...], bytes]:
    more, classes, hidden = list[str](), "", 0
    for kind, double, single, bare in _HINT.findall(attributes):
        kind, value = kind.lower(), double or single or bare
        if kind == "class":
            classes = value
        elif kind == "id":
            more += _parts(value)
        elif kind in ("role", "itemprop", "itemtype"):
            more.append(f"{kind}={value.rsplit('/', 1)[-1].lower()[:20]}")
        elif kind == "hidden" or (kind == "aria-hidden" and value == "true"):
            more.append(kind)
            hidden |= _HIDDEN if kind == "hidden" else 0
        elif ("none" in value.lower() or "hidden" in value.lower()) and _NO_DISPLAY.search(value):
            more.append("display:none")
            hidden = _HIDDEN
    flags, hints, step = _with_classes(name, classes)
    return flags | hidden, tuple(dict.fromkeys((*hints, *more))) if more else hints, step


@lru_cache(maxsize=1 << 15)
def _parts(name: str) -> tuple[str, ...]:
    """Return the words of a class or an id: `navBar-left2` has `nav`, `bar` and `left`."""
    if name.islower():
        return tuple(_LOWER_PART.findall(name))
    return tuple([part.lower() for part in _NAME_PART.findall(name) if len(part) > 2])


def _step(name: str, classes: str) -> bytes:
    if name in _OUTERMOST:
        return f"{name}./".encode()  # their classes tell the page or the day, not the place
    return b"%s.%s/" % (
        name.encode("utf-8", "replace"),
        classes.encode("utf-8", "replace").translate(None, b"0123456789"),
    )
