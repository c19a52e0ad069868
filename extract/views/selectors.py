"""CSS selectors over a page's block-level elements, for rules that keep or drop a part of every page of a host.

Of Selectors Level 4: type and universal selectors, `#id`, `.class`, attribute selectors, the descendant and child
combinators, and lists. What stands inside a paragraph is no element here (`default.passages`): a selector that names
an inline element finds nothing. Time is elements times compounds of the selector.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape

from extract.default.passages import Elements
from extract.markup import Tag, attributes_of

MAX_SELECTOR_CHARS = 1000

_NAME = r"-?[A-Za-z_\u0080-\uffff][\w\u0080-\uffff-]*"
_SIMPLE = re.compile(
    rf"""(?P<type>{_NAME}|\*)
      | \#(?P<id>[\w\u0080-\uffff-]+)
      | \.(?P<class>{_NAME})
      | \[\s*(?P<attribute>{_NAME})\s*
          (?:(?P<how>[~|^$*]?=)\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\]\s"']+))\s*)?\]""",
    re.VERBOSE,
)
_COMBINATOR = re.compile(r"\s*(>)\s*|\s+")


class SelectorError(ValueError):
    """A selector cannot be read; the message is one sentence and quotes it."""


@dataclass(frozen=True, slots=True)
class Condition:
    """An attribute that an element must have: any value when `how` is empty."""

    attribute: str
    how: str = ""
    value: str = ""

    def holds(self, attributes: dict[str, str]) -> bool:
        """Tell whether an element with these attributes fulfils it."""
        if self.attribute not in attributes:
            return False
        found, value = unescape(attributes[self.attribute]), self.value
        if not self.how:
            return True
        if self.how == "=":
            return found == value
        if self.how == "~=":
            return value in found.split()
        if self.how == "|=":
            return found == value or found.startswith(value + "-")
        if not value:
            return False  # "then the selector does not represent anything" (section 6.2)
        return {"^=": found.startswith, "$=": found.endswith, "*=": found.__contains__}[self.how](value)


@dataclass(frozen=True, slots=True)
class Compound:
    """One element's description, and whether the compound before it describes its parent, or any ancestor."""

    name: str
    conditions: tuple[Condition, ...]
    child: bool = False


Selector = tuple[Compound, ...]


def read_selectors(text: str) -> list[Selector]:
    """Return the selectors of a list.

    >>> [len(selector) for selector in read_selectors("main > div.share, #comments")]
    [2, 1]
    """
    if len(text) > MAX_SELECTOR_CHARS:
        raise SelectorError(f"{text[:40]!r}...: a selector has at most {MAX_SELECTOR_CHARS} characters")
    text = text.strip()
    found: list[Selector] = []
    at = 0
    while True:
        selector, at = _read(text, at)
        found.append(selector)
        if at >= len(text):
            return found
        at += 1


def _read(text: str, at: int) -> tuple[Selector, int]:
    """Return the selector that begins at an offset, and where it ends: at a comma or the end of the text."""
    compounds: list[Compound] = []
    at += len(text[at:]) - len(text[at:].lstrip())
    child = False
    while True:
        compound, at = _compound(text, at, child)
        compounds.append(compound)
        match = _COMBINATOR.match(text, at)
        end = match.end() if match else at
        if end >= len(text):
            if match is not None:
                raise _unreadable(text, at)
            return tuple(compounds), end
        if text[end] == ",":
            return tuple(compounds), end
        if match is None:
            raise _unreadable(text, at)
        child, at = bool(match[1]), end


def _compound(text: str, at: int, child: bool) -> tuple[Compound, int]:
    name, conditions, begin = "", [], at
    while match := _SIMPLE.match(text, at):
        if match["type"]:
            if at != begin:
                break
            name = "" if match["type"] == "*" else match["type"].lower()
        elif match["id"]:
            conditions.append(Condition("id", "=", match["id"]))
        elif match["class"]:
            conditions.append(Condition("class", "~=", match["class"]))
        else:
            value = next((match[kind] for kind in ("double", "single", "bare") if match[kind] is not None), "")
            conditions.append(Condition(match["attribute"].lower(), match["how"] or "", value))
        at = match.end()
    if at == begin:
        raise _unreadable(text, at)
    return Compound(name, tuple(conditions), child), at


def _unreadable(text: str, at: int) -> SelectorError:
    return SelectorError(f"{text!r} is no selector that is understood here, from character {at + 1} on")


def select(elements: Elements, selectors: Iterable[Selector]) -> set[int]:
    """Return the indices of the elements that one of the selectors describes."""
    found: set[int] = set()
    known: dict[int, dict[str, str]] = {}
    for selector in selectors:
        found |= _select(elements, selector, known)
    return found


def _select(elements: Elements, selector: Selector, known: dict[int, dict[str, str]]) -> set[int]:
    before: list[bool] | None = None
    matched: list[bool] = []
    for compound in selector:
        allowed = _below(elements, before, compound.child) if before is not None else None
        matched = _matches(elements, compound, allowed, known)
        before = matched
    return {element for element, matches in enumerate(matched) if matches}


def _matches(
    elements: Elements, compound: Compound, allowed: Sequence[bool] | None, known: dict[int, dict[str, str]]
) -> list[bool]:
    found = [False] * len(elements.name)
    for element in range(1, len(elements.name)):
        if (allowed is not None and not allowed[element]) or (
            compound.name and elements.name[element] != compound.name
        ):
            continue
        if compound.conditions:
            if not elements.attributes[element]:
                continue
            attributes = known.get(element)
            if attributes is None:
                attributes = known[element] = attributes_of(Tag(0, 0, "", False, elements.attributes[element]))
            if not all(condition.holds(attributes) for condition in compound.conditions):
                continue
        found[element] = True
    return found


def _below(elements: Elements, matched: Sequence[bool], child: bool) -> list[bool]:
    """Return which elements have a matched parent, or ancestor; parents come before their children."""
    parents = elements.parent
    if child:
        return [parent >= 0 and matched[parent] for parent in parents]
    below = [False] * len(parents)
    for element, parent in enumerate(parents):
        below[element] = parent >= 0 and (matched[parent] or below[parent])
    return below
