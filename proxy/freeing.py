"""Giving memory back to the system.

Bodies of a megabyte and more, taken and let go of between small things that stay, leave holes that the next body does
not fit: glibc's heap grows with every one, to several times what is in use.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Give back all whole pages that are free. Some milliseconds for 100 MB; only glibc can."""
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim
