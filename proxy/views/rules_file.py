"""The file of rules as a running program follows it: read anew when it has changed, in a thread."""

import asyncio
import logging
from pathlib import Path

from proxy.views.rules import RuleError, Rules, load_rules

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.3
"""How often the file is looked at."""


class RulesFile:
    """The rules in force. A file that cannot be understood leaves those that were, and `error` says why."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rules = Rules()
        self.error = ""
        self._seen: tuple[int, int, int] | None = None
        self._read()

    async def follow(self) -> None:
        """Look after the file for as long as the program runs."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._state() != self._seen:
                await asyncio.to_thread(self._read)

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
