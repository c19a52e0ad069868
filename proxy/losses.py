"""What was not kept and why: each counted, and said in the log, but not a thousand times a second."""

import logging
import threading
import time

from proxy.metrics import Metrics

logger = logging.getLogger(__name__)

LINES_A_SECOND = 5


class Losses:
    """Counts and logs captures and changes that do not reach the store. From any thread."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._lock = threading.Lock()
        self._second = 0.0
        self._lines = 0
        self._unsaid = 0

    def report(self, reason: str, what: str, sentence: str = "") -> None:
        """Count one under `reason`, a label; `what` is a URL or pattern, `sentence` the error's own words."""
        self._metrics.not_kept.labels(reason).inc()
        unsaid = 0
        with self._lock:
            now = time.monotonic()
            if now - self._second >= 1:
                self._second, self._lines = now, 0
                unsaid, self._unsaid = self._unsaid, 0
            self._lines += 1
            if self._lines > LINES_A_SECOND:
                self._unsaid += 1
                return
        if unsaid:
            logger.warning("not kept: %d more", unsaid)
        logger.warning("not kept (%s): %s%s", reason, what, f": {sentence}" if sentence else "")
