"""ContentExtractor: what stands on few pages is content; similar blocks count as one; counts grow and merge."""

import pytest

from extract.methods.content import ContentExtractor
from extract.protocol import Page, page_of
from tests.extract.pages import news_page, news_pages

MENU = (
    "<p>home news sports weather politics business travel health science letters archive contact help search map jobs"
)


def pages(*bodies: str) -> list[Page]:
    return [page_of(f"http://a.test/{n}", body.encode()) for n, body in enumerate(bodies)]


def flags(page: Page, others: list[Page], **parameters: float) -> tuple[bool, ...]:
    method = ContentExtractor(**parameters)  # type: ignore[arg-type]
    return method.extract(page, method.prepare([page, *others])).flags


def test_only_what_no_other_page_has_is_content() -> None:
    first, *others = pages(f"{MENU}<p>one bridge", f"{MENU}<p>two harbours", f"{MENU}<p>three orchards")
    assert flags(first, others) == (False, True)


def test_blocks_that_differ_in_one_word_are_one_block() -> None:
    bodies = [f"{MENU} extra{n}<p>story {'abcdefg'[n] * 5}" for n in range(4)]
    first, *others = pages(*bodies)
    assert flags(first, others) == (False, True)
    assert flags(first, others, epsilon=0.99) == (True, True)


def test_theta_is_the_share_of_the_other_pages() -> None:
    bodies = ["<p>rare words here", "<p>rare words here", *(f"<p>page {'abcdefghij'[n] * 4}" for n in range(9))]
    first, *others = pages(*bodies)
    assert flags(first, others, theta=0.1) == (True,)
    assert flags(first, others, theta=0.05) == (False,)
    assert flags(first, others, theta=0.0) == (False,)


def test_a_page_captured_twice_is_not_redundant() -> None:
    page, *others = news_pages(6)
    method = ContentExtractor()
    evidence = method.prepare([page, page, page, *others])
    assert evidence.n_pages == 6
    assert "The mayor of" in method.extract(page, evidence).text


def test_a_new_page_of_a_stored_site_is_judged_by_counts() -> None:
    method = ContentExtractor()
    evidence = method.prepare(news_pages(8))
    text = method.extract(news_page(20), evidence).text
    assert "The mayor of" in text
    assert "Copyright" not in text
    assert "Weather" not in text


def test_a_template_of_few_pages_serves_all() -> None:
    method = ContentExtractor(template_pages=5)
    evidence = method.prepare(news_pages(30))
    assert evidence.n_pages == 5
    text = method.extract(news_page(29), evidence).text
    assert "The mayor of" in text
    assert "Copyright" not in text


def test_with_no_other_page_everything_is_content_and_says_why() -> None:
    page = news_page(1)
    verdicts = ContentExtractor().extract(page, ContentExtractor().prepare([page])).verdicts
    assert {(verdict.content, verdict.why) for verdict in verdicts} == {(True, "no other page to compare with")}


def test_counts_of_parts_merge_and_neither_part_changes() -> None:
    method, all_pages = ContentExtractor(), news_pages(12)
    parts = [method.prepare(all_pages[at::3]) for at in range(3)]
    merged = parts[2].merge(parts[0]).merge(parts[1])
    whole = method.prepare(all_pages)
    assert ([part.n_pages for part in parts], merged.n_pages) == ([4, 4, 4], 12)
    for page in all_pages:
        assert method.extract(page, merged).verdicts == method.extract(page, whole).verdicts


def test_the_score_is_the_inverse_block_document_frequency() -> None:
    first, *others = pages("<p>same words", "<p>same words", "<p>same words", "<p>other")
    method = ContentExtractor()
    verdict = method.extract(first, method.prepare([first, *others])).verdicts[0]
    assert verdict.score == pytest.approx(1 / 3)
    assert verdict.why == "similar on 2 of 3 other pages"
