"""The process that looks after the store for the writer (proxy.upkeep): `python -m proxy.chores`, told by its input."""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from typing import Any

from store.base import Budget, StoreError
from store.opening import open_store


def main() -> int:
    """Do one task. The exit code is 1 when the store did not let it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(2)  # not much below the writer, which waits for the database's lock while this process has it
    work: dict[str, Any] = json.loads(_line() or b"{}")
    if not work:
        return 1
    threading.Thread(target=_die_with_the_writer, daemon=True).start()
    try:
        store = open_store(work["url"], create=False, sites=work["sites"])
        try:
            if work["task"] == "evict":
                store.evict(Budget(**work["budget"]), int(time.time()))
            elif work["task"] == "collect":
                store.collect(purged=True)
            else:
                store.compact(gently=True)
        finally:
            store.close()
    except StoreError as exc:
        print(f"pagemason: upkeep: {exc}", file=sys.stderr)
        return 1
    return 0


def _line() -> bytes:
    line = b""
    while not line.endswith(b"\n") and (part := os.read(0, 1)):
        line += part
    return line


def _die_with_the_writer() -> None:
    while os.read(0, 1024):  # not sys.stdin: its lock would be held when the interpreter ends
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
