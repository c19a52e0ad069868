"""Changing one rule in the text of a file of rules: every other line stays as it was, comments included.

The lines of the rule concerned go through ruamel.yaml's round trip, which keeps the comments within them. What comes
out is read again: a file that is written in a way that this does not understand is written anew, without comments.
"""

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

from proxy.views.rules import Rule, read_rules, written

_NEVER = 1 << 16
"""Columns until a line would be folded."""


class _NotSo(Exception):
    """The text is written in a way that is not understood here."""


def with_rule(text: str, rule: Rule) -> str:
    """Return the text with a rule in the place of the one with its pattern, or at the end; a rule that says nothing
    takes that one away. RuleError when the text is no file of rules."""
    expected = read_rules(text).with_rule(rule)
    try:
        changed = _changed(text, rule)
        if read_rules(changed) == expected:
            return changed
    except Exception:  # whatever a library makes of a file that people wrote: there is another way
        pass
    return written(expected)


def _changed(text: str, rule: Rule) -> str:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    places = list(_places(text, lines))
    mine = [place for place in places if place[0] == rule.host]
    for _, start, stop, _ in reversed(mine[1:]):
        del lines[start:stop]
    if mine:
        _, start, stop, column = mine[0]
        lines[start:stop] = [] if rule == Rule(rule.host) else _item(lines[start:stop], column, rule)
    elif rule != Rule(rule.host):
        lines += _item([], places[0][3] if places else 0, rule)
    return "".join(lines)


def _places(text: str, lines: list[str]) -> Iterator[tuple[str, int, int, int]]:
    """Yield of each rule its pattern, its first line, the line after its last, and the column of its dash."""
    found = _yaml().load(text)
    if found is None:
        return
    if found.fa.flow_style():
        raise _NotSo
    starts = [found.lc.item(number) for number in range(len(found))]
    for number, (line, column) in enumerate(starts):
        dash = lines[line][:column].rstrip()
        if dash.strip() != "-":
            raise _NotSo
        stop = starts[number + 1][0] if number + 1 < len(starts) else len(lines)
        yield str(found[number]["host"]), line, _end(lines, line, stop, len(dash) - 1), len(dash) - 1


def _end(lines: list[str], start: int, stop: int, dash: int) -> int:
    """Return where a rule ends: blank lines and comments after it that are not indented belong to what follows."""
    last = stop
    while last > start + 1 and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1
    while last < stop and lines[last].strip() and _indent(lines[last]) > dash:
        last += 1
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _item(lines: list[str], dash: int, rule: Rule) -> list[str]:
    """Return the lines of a rule: of the one in `lines`, changed, or of a new one."""
    column = dash + 2
    found: Any = {}
    offset = 0
    if lines:
        first = lines[0][dash + 1 :]
        column = dash + 1 + _indent(first)
        inner = [lines[0][column:], *(line[min(column, _indent(line)) :] for line in lines[1:])]
        found = _yaml().load("".join(inner))
        offset = 2 if any(re.match(" +- ", line) for line in inner) else 0
    _set(found, rule)
    out = StringIO()
    yaml = _yaml()
    yaml.indent(mapping=2, sequence=2 + offset, offset=offset)
    yaml.dump(found, out)
    first, *rest = out.getvalue().splitlines(keepends=True)
    start = " " * dash + "-" + " " * (column - dash - 1)
    return [start + first, *(" " * column + line if line.strip() else line for line in rest)]


def _set(found: Any, rule: Rule) -> None:
    found["host"] = rule.host
    for name in ("view", "method"):
        value = getattr(rule, name)
        if not value:
            found.pop(name, None)
        elif found.get(name) != value:
            found[name] = value
    for name in ("keep", "drop"):
        values = getattr(rule, name)
        if not values:
            found.pop(name, None)
        elif isinstance(found.get(name), list):
            _set_items(found[name], values)
        elif (found.get(name),) != values:
            found[name] = list(values)


def _set_items(items: Any, values: tuple[str, ...]) -> None:
    """Make a list hold these values; those that stay keep their lines."""
    for number in reversed(range(len(items))):
        if items[number] not in values:
            _drop(items, number)
    for number, value in enumerate(values):
        if number >= len(items) or items[number] != value:
            items.insert(number, value)
    del items[len(values) :]


def _drop(items: Any, number: int) -> None:
    """Delete from a list; comments on lines after what is deleted, which ruamel takes for its own, stay."""
    token = (items.ca.items.get(number) or [None])[0]
    after = token.value.splitlines()[1:] if token else []
    comments = [line.strip().removeprefix("#").removeprefix(" ") for line in after if line.strip()]
    del items[number]
    if comments and number < len(items):
        items.yaml_set_comment_before_after_key(number, before="\n".join(comments), indent=items.lc.col)


def _yaml() -> Any:
    from ruamel.yaml import YAML

    yaml = YAML(pure=True)
    yaml.preserve_quotes = True
    yaml.width = _NEVER
    return yaml
