"""The file of rules as a running program follows it: read anew when it has changed, in a thread."""

import asyncio
import logging
import threading
from pathlib import Path

from proxy.views.rules import HEADER, Rule, RuleError, Rules, load_rules, load_text, save_text
from proxy.views.rules_text import with_rule

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.3
"""How often the file is looked at."""


class RulesFile:
    """The rules in force. A file that cannot be understood leaves those that were, and `error` says why."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rules = Rules()
        self.error = ""
        self._writing = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._read()

    async def follow(self) -> None:
        """Look after the file for as long as the program runs."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await asyncio.to_thread(self.refresh)

    def refresh(self) -> None:
        """Read the file again if it has changed."""
        if self._state() != self._seen:
            self._read()

    def current(self) -> Rules:
        """Return the rules as the file has them now. RuleError when it cannot be understood."""
        self.refresh()
        if self.error:
            raise RuleError(self.error)
        return self.rules

    def put(self, rule: Rule) -> None:
        """Write a rule into the file, in the place of the one with its pattern; what else the file has, comments
        included, stays. RuleError when that cannot be done.

        A rule that says nothing takes that one away.
        """
        with self._writing:
            try:
                self.current()  # which says what is wrong with the file
                save_text(self.path, with_rule(load_text(self.path) or HEADER, rule))
            except OSError as exc:
                raise RuleError(f"{self.path}: cannot be written: {exc.strerror}") from exc
            self._read()

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> None:
        self._seen = self._state()
        try:
            self.rules, self.error = load_rules(self.path), ""
        except RuleError as exc:
            self.error = str(exc)
            logger.error("the rules stay as they were: %s", exc)
