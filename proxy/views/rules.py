"""Rules per host: which view its pages are given, by which method, and which parts people keep or drop.

A file of rules is a YAML list:

    - host: "*.example.org"        # a glob, or a regular expression between slashes
      view: content                # or full
      method: Pagemason
      keep: ["main", "#comments"]  # selectors, or block:DIGEST
      drop: [".share"]

Every rule that matches a host applies, in order: a later rule's view and method win, what is kept and dropped adds
up. A pattern is compared with the host and with the host without `www.`.
"""

import re
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import blake2b
from io import StringIO
from pathlib import Path
from typing import Any

from extract.registry import DEFAULT_METHOD, names
from extract.views.ruling import read_parts

VIEWS = ("full", "content")

_KEYS = ("host", "view", "method", "keep", "drop")

MAX_FILE_BYTES = 1 << 20


class RuleError(ValueError):
    """A rule cannot be understood; the message is one sentence for people."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is ruled about the hosts that a pattern matches; empty where nothing is. Making an invalid one raises
    RuleError."""

    host: str
    view: str = ""
    method: str = ""
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.host:
            raise RuleError("a rule names no host")
        if self.view and self.view not in VIEWS:
            raise RuleError(f"{self.host}: {self.view!r} is no view: full or content expected")
        if self.method and self.method not in names():
            raise RuleError(f"{self.host}: {self.method!r} is no method; `pagemason methods` lists them")
        try:
            read_parts((*self.keep, *self.drop))
            _expression(self.host)
        except (ValueError, re.error) as exc:
            raise RuleError(f"{self.host}: {exc}") from exc

    def matches(self, host: str) -> bool:
        """Tell whether the rule is about a host, given in lower case."""
        expression = _expression(self.host)
        named = (host, host.removeprefix("www."))
        if expression is not None:
            return any(expression.search(name) for name in named)
        return any(fnmatchcase(name, self.host.lower()) for name in named)


def _expression(pattern: str) -> "re.Pattern[str] | None":
    if len(pattern) > 2 and pattern[0] == pattern[-1] == "/":
        return re.compile(pattern[1:-1], re.IGNORECASE)
    return None


@dataclass(frozen=True, slots=True)
class EffectiveRule:
    """What all rules together decide about a host; `digest` tells two decisions about what is content apart."""

    view: str = ""
    method: str = DEFAULT_METHOD
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    digest: bytes = b""


@dataclass(frozen=True)
class Rules:
    """Rules in order. What is ruled about a host is remembered."""

    rules: tuple[Rule, ...] = ()
    _known: dict[str, EffectiveRule] = field(default_factory=dict, repr=False, compare=False)

    def about(self, host: str) -> EffectiveRule:
        """Return what is ruled about a host."""
        host = host.lower().rstrip(".")
        found = self._known.get(host)
        if found is None:
            if len(self._known) >= 1000:
                self._known.clear()
            found = self._known[host] = self._decide(host)
        return found

    def _decide(self, host: str) -> EffectiveRule:
        view, method = "", DEFAULT_METHOD
        keep: list[str] = []
        drop: list[str] = []
        for rule in self.rules:
            if rule.matches(host):
                view, method = rule.view or view, rule.method or method
                keep += rule.keep
                drop += rule.drop
        said = repr((method, keep, drop)).encode("utf-8", "backslashreplace")
        return EffectiveRule(view, method, tuple(keep), tuple(drop), blake2b(said, digest_size=8).digest())

    @cached_property
    def by_host(self) -> dict[str, Rule]:
        """The last rule of each pattern."""
        return {rule.host: rule for rule in self.rules}

    def with_rule(self, rule: Rule) -> "Rules":
        """Return the rules with one in the place of those with its pattern, or at the end."""
        kept = [each for each in self.rules if each.host != rule.host]
        at = next((n for n, each in enumerate(self.rules) if each.host == rule.host), len(kept))
        if rule == Rule(rule.host):
            return Rules(tuple(kept))
        return Rules((*kept[:at], rule, *kept[at:]))


NOTHING = EffectiveRule()


def read_rules(text: str) -> Rules:
    """Return the rules of a file. RuleError says what is wrong."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        found = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as exc:
        raise RuleError(f"is not YAML: {' '.join(str(exc).split())}") from exc
    if found is None:
        return Rules()
    if not isinstance(found, list):
        raise RuleError("is no list of rules, each beginning with `- host:`")
    return Rules(tuple(_rule(number, each) for number, each in enumerate(found, 1)))


def _rule(number: int, found: Any) -> Rule:
    if not isinstance(found, dict) or not isinstance(found.get("host"), str):
        raise RuleError(f"rule {number} has no host")
    for name in found:
        if name not in _KEYS:
            raise RuleError(f"rule {number}: {name!r} is unknown: one of {', '.join(_KEYS)} expected")
    texts = {name: str(found.get(name) or "") for name in ("host", "view", "method")}
    return Rule(**texts, keep=_texts(number, "keep", found), drop=_texts(number, "drop", found))


def _texts(number: int, name: str, found: dict[str, Any]) -> tuple[str, ...]:
    value = found.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise RuleError(f"rule {number}: {name} is no list of texts")
    return tuple(value)


def written(rules: Rules) -> str:
    """Return the text of a file with these rules."""
    from ruamel.yaml import YAML

    rows = [{k: list(v) if isinstance(v, tuple) else v for k, v in asdict(rule).items() if v} for rule in rules.rules]
    out = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.dump(rows, out)
    return HEADER + (out.getvalue() if rows else "")


HEADER = "# Rules for the content view, written by the dashboard; edit as you like: changes take effect at once.\n"


def load_rules(path: Path) -> Rules:
    """Return the rules of a file, none when it is not there. RuleError names the file."""
    try:
        return read_rules(load_text(path))
    except OSError as exc:
        raise RuleError(f"{path}: cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise RuleError(f"{path}: {exc}") from exc


def load_text(path: Path) -> str:
    """Return the text of a file of rules, empty when it is not there. OSError, ValueError when it is none."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return ""
    if len(data) > MAX_FILE_BYTES:
        raise RuleError(f"is larger than {MAX_FILE_BYTES} bytes")
    return data.decode("utf-8")


def save_text(path: Path, text: str) -> None:
    """Write a file of rules, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, "utf-8", newline="")
    new.replace(path)
