"""What large bodies leave behind goes back to the system."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proxy.live import Live
from tests.proxy.raw import CHUNKED, FRESH, OK, raw_origin, request, say

HOLES = """
import psutil
from proxy.freeing import give_back
resident = lambda: psutil.Process().memory_info().rss >> 20
large, small = [], []
for _ in range(4000):
    large.append(bytes(50_000))  # below the size that glibc maps by itself
    small.append(bytes(100))
del large
before = resident()
give_back()
print(before, resident())
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc gives back what is free between things in use"
)
def test_holes_are_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert after < before - 100


async def test_large_bodies_that_pass_are_noted(confdir: Path) -> None:
    async with raw_origin([OK + FRESH + CHUNKED + b"\r\n5\r\nhello\r\n0\r\n\r\n"]) as origin, Live(confdir) as live:
        await say(live.port, request(origin.url))
        assert live.service.passing.room.freed == 5
