"""Import, compact, import again, purge half, collect, compact again, evict to half: every page is there."""

import random

from bench.cycle import cycle
from blocks.model import Capture
from store.opening import open_store
from tests.store.conftest import page, site_pages


def written() -> list[Capture]:
    """Return pages of several sites: templates, pages twice, tokens, other types, private ones, one that is empty."""
    pages = [c for i in range(4) for c in site_pages(15, f"site{i}.test", words=80)]
    rng = random.Random(5)
    tokens = [page(f"http://talk.test/{i}", b"<p>topic<a href='/?sid=%s'>%d</a>" % (_sid(i), i) * 9) for i in range(40)]
    own = [page(f"http://large.test/{i}", b"<p>" + rng.randbytes(6000).hex().encode(), 10**15 + i) for i in range(20)]
    others = [
        page("http://site1.test/a.css", b"body{}" * 500, headers=((b"content-type", b"text/css"),)),
        page("http://site2.test/private", b"<p>mine", private=True),
        page("http://site3.test/empty", b""),
        page("http://site1.test/page/3?x=1", pages[18].body, key="http://site1.test/page/3"),
    ]
    return [*pages, *tokens, *own, *others]


def _sid(i: int) -> bytes:
    return b"%032x" % (i * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)


def test_every_page_outlives_everything_that_is_done_to_a_store(database_url: str) -> None:
    store = open_store(database_url)
    captures = written()
    steps = list(cycle(store, captures))
    assert [step.wrong for step in steps] == [()] * 8
    by_name = {step.name: step for step in steps}
    n = len(captures)
    assert [by_name[name].captures for name in ("import", "compact", "import again")] == [n] * 3
    assert by_name["later captures"].captures == 2 * n - 1  # what is private is not captured again
    assert n // 2 < by_name["purge half"].captures < 3 * n // 2
    assert 0 < by_name["evict half"].captures < by_name["compact again"].captures
    store.close()
