"""Captures of one page lie in one pack, however its URL is spelled."""

import random
from pathlib import Path

from blocks.model import Capture
from store.opening import open_store
from store.sql import SqlStore
from tests.store.conftest import page

STARTS = ("http://a.test", "http://www.a.test", "https://a.test", "https://www.a.test")


def spelled(start: str, later: int) -> list[Capture]:
    """Return pages with text of their own, as captured by this spelling of their URLs."""
    random_ = random.Random(1)
    texts = [b"".join(b"<p>%d" % random_.getrandbits(400) for _ in range(60)) for _ in range(200)]
    times = [(1_700_000_000 + later * 1000 + number) * 1_000_000 for number in range(len(texts))]
    return [page(f"{start}/{at}", b"%s<p>%d" % (text, later), times[at]) for at, text in enumerate(texts)]


def compacted_bytes(path: Path, captures: list[Capture]) -> int:
    store = open_store(f"sqlite:///{path}")
    assert isinstance(store, SqlStore)
    store.keep(captures)
    store.compact()
    assert store.check() == (len(captures), [])
    size = store.stats().bytes.ondisk
    store.close()
    return size


def test_a_page_by_four_urls_takes_little_more_than_by_one(tmp_path: Path) -> None:
    one = compacted_bytes(tmp_path / "one.db", spelled(STARTS[0], 0))
    kept = [capture for later, start in enumerate(STARTS) for capture in spelled(start, later)]
    four = compacted_bytes(tmp_path / "four.db", kept)
    assert four < 1.2 * one
