"""Hot pages: bounded in bytes, the least recently asked for leaves first."""

import weakref

from proxy.memory import Memory
from proxy.metrics import Metrics
from tests.proxy.making import count, entry


def test_the_least_recently_asked_for_leaves_first() -> None:
    metrics = Metrics()
    hot = Memory(50_000, metrics)
    for name in "abc":
        hot.put(name, [entry(body=bytes(10_000))], whole=True)
    assert hot.get("a") is not None
    hot.put("d", [entry(body=bytes(10_000))], whole=True)
    assert [name for name in "abcd" if hot.get(name)] == ["a", "c", "d"]
    assert hot.size < 50_000
    assert count(metrics, "pagemason_evictions_total") == 1
    assert count(metrics, "pagemason_memory_pages") == 3


def test_what_is_larger_than_the_memory_is_not_held() -> None:
    hot = Memory(5000, Metrics())
    hot.put("a", [entry(body=bytes(6000))], whole=True)
    assert (hot.get("a"), hot.size) == (None, 0)


def test_another_form_of_a_body_counts() -> None:
    hot = Memory(50_000, Metrics())
    page = entry()
    hot.put(page.key, [page], whole=True)
    before = hot.size
    page.forms["gzip"] = bytes(5000)
    hot.weigh(page.key)
    assert hot.size == before + 5000


def test_a_purge_forgets_by_url() -> None:
    hot = Memory(50_000, Metrics())
    for url in ("http://a.test/", "http://b.test/"):
        hot.put(url, [entry(url)], whole=True)
    hot.purge(lambda url: "a.test" in url)
    assert hot.get("http://a.test/") is None
    assert hot.get("http://b.test/") is not None
    hot.clear()
    assert (len(hot), hot.size) == (0, 0)


def test_what_leaves_is_gone_at_once() -> None:
    """Bodies are not to wait until garbage is collected."""
    known = Memory(1 << 20, Metrics())
    gone = weakref.ref(one := entry(body=bytes(600_000)))
    known.put("a", [one], whole=True)
    del one
    assert gone() is not None
    known.put("b", [entry("http://b.test/", body=bytes(600_000))], whole=True)
    assert gone() is None
