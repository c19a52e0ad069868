"""What every extractor keeps to: a verdict a block, evidence that merges and pickles, no exception for any bytes."""

import pickle
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.protocol import Page, page_of
from extract.registry import extractor, names
from tests.extract.pages import BAD_BODIES, news_page, news_pages

NAMES = tuple(names("extractor"))

markup = st.lists(
    st.sampled_from(
        [f"<{slash}{name}>" for name in ("p", "div", "table", "tr", "td", "a", "ul", "li", "h1") for slash in ("", "/")]
        + ["words of a text. ", "menu ", "<img src=x>", "<br>", "<a href='y'>", "<script>", "<!--", "&nbsp;", "\u4e16"]
    ),
    max_size=40,
).map(lambda parts: "".join(parts).encode())


@pytest.mark.parametrize("name", NAMES)
def test_there_is_a_verdict_for_each_block(name: str) -> None:
    method, pages = extractor(name), news_pages(6)
    evidence = method.prepare(pages)
    extraction = method.extract(pages[2], evidence)
    assert len(extraction.verdicts) == len(pages[2])
    assert all(0.0 <= verdict.score <= 1.0 and verdict.why for verdict in extraction.verdicts)


@pytest.mark.parametrize("name", NAMES)
def test_the_article_is_content_and_the_method_is_deterministic(name: str) -> None:
    method, pages = extractor(name), news_pages(8)
    evidence = method.prepare(pages)
    texts = [method.extract(page, evidence).text for page in pages]
    assert sum("The mayor of" in text for text in texts) >= 4
    assert texts == [extractor(name).extract(news_page(n), extractor(name).prepare(pages)).text for n in range(8)]


@pytest.mark.parametrize("name", NAMES)
def test_evidence_of_parts_merges_into_that_of_the_whole(name: str) -> None:
    method, pages = extractor(name), news_pages(8)
    whole, parts = method.prepare(pages), method.prepare(pages[:3]).merge(method.prepare(pages[3:]))
    parts = parts.merge(method.prepare(()))
    assert parts.n_pages == whole.n_pages == 8
    for page in pages:
        assert method.extract(page, parts).flags == method.extract(page, whole).flags


@pytest.mark.parametrize("name", NAMES)
def test_evidence_goes_to_another_process(name: str) -> None:
    method, pages = extractor(name), news_pages(6)
    evidence = method.prepare(pages)
    copy = pickle.loads(pickle.dumps(evidence))
    assert method.extract(pages[0], copy).verdicts == method.extract(pages[0], evidence).verdicts


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("body", BAD_BODIES)
def test_a_page_without_text_among_the_others(name: str, body: bytes) -> None:
    method, bad = extractor(name), page_of("http://daily.test/bad", body)
    evidence = method.prepare([*news_pages(5), bad])
    assert len(method.extract(bad, evidence).verdicts) == len(bad)


@pytest.mark.parametrize("name", NAMES)
def test_one_page_where_many_are_needed(name: str) -> None:
    method, page = extractor(name), news_page(1)
    assert len(method.extract(page, method.prepare([page])).verdicts) == len(page)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_of_another_site_among_the_class(name: str) -> None:
    method, pages = extractor(name), news_pages(6)
    other = page_of("http://other.test/", b"<table><tr><td>Another page, of another site<td>with a table</table>")
    evidence = method.prepare([*pages, other])
    assert len(method.extract(pages[0], evidence).verdicts) == len(pages[0])
    assert len(method.extract(other, evidence).verdicts) == len(other)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_parameter_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}.*no_such"):
        extractor(name, no_such=1)


@pytest.mark.parametrize("name", NAMES)
@given(bodies=st.lists(st.binary(max_size=200) | markup, min_size=1, max_size=3))
@settings(max_examples=20, deadline=None)
def test_any_bytes_get_a_verdict(name: str, bodies: list[bytes]) -> None:
    method = extractor(name)
    pages: list[Page] = [page_of(f"http://a.test/{number}", body) for number, body in enumerate(bodies)]
    evidence = method.prepare(pages)
    assert len(method.extract(pages[0], evidence).verdicts) == len(pages[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_hundred_thousand_open_tags_take_seconds(name: str) -> None:
    method, page = extractor(name), page_of("http://a.test/deep", b"<div>" * 100_000 + b"A few words of text.")
    start = time.process_time()
    extraction = method.extract(page, method.prepare([page, news_page(1)]))
    assert len(extraction.verdicts) == len(page)
    assert time.process_time() - start < 20
