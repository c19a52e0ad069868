"""Rules of people over a method's verdicts."""

import pytest

from blocks.model import body_digest
from extract.registry import extractor
from extract.views.ruling import read_parts, ruled
from extract.views.selectors import SelectorError
from extract.views.view import FORMATS, view
from tests.extract.pages import news_page


def content_text(keep: tuple[str, ...] = (), drop: tuple[str, ...] = (), form: str = "text") -> str:
    page = news_page(3)
    made = view(page.body, url=page.url, form=form, keep=read_parts(keep), drop=read_parts(drop))
    assert not made.full, made.reason
    return made.body.decode()


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_kept_is_there_and_what_is_dropped_is_not(form: str) -> None:
    assert "said:" in content_text(form=form)
    kept = content_text(keep=(".menu",), form="text")
    assert "Letters to the editor" in kept
    dropped = content_text(keep=(".menu",), drop=("ul li", "h1"), form="text")
    assert "Letters to the editor" not in dropped


def test_a_block_is_named_by_the_digest_of_its_bytes() -> None:
    page = news_page(3)
    at = next(i for i, text in enumerate(page.texts) if "Copyright" in text)
    name = f"block:{body_digest(page.pieces[at]).hex()}"
    assert "Copyright" in content_text(keep=(name,), drop=("h1",))
    assert "Copyright" not in content_text(drop=(name,))
    assert "Copyright" not in content_text(keep=("p",), drop=(name,))


@pytest.mark.parametrize("method", ["Pagemason", "CETR-TM"])
def test_verdicts_say_that_a_rule_decided(method: str) -> None:
    page, made = news_page(3), extractor(method)
    before = made.extract(page, made.prepare(()))
    after = ruled(before, read_parts([".menu"]), read_parts(["h1"]))
    changed = [v for v in after.verdicts if "by a rule" in v.why]
    assert {v.content for v in changed} == {True, False}
    assert after.score == 1.0
    assert ruled(before, read_parts(()), read_parts(())) is before


def test_everything_dropped_is_the_full_page() -> None:
    page = news_page(3)
    made = view(page.body, url=page.url, drop=read_parts(["body"]))
    assert (made.full, made.reason, made.body) == (True, "no content found", page.body)


@pytest.mark.parametrize("text", ["block:", "block:12", "block:" + "G" * 32, "p::x"])
def test_what_names_no_part_is_refused(text: str) -> None:
    with pytest.raises(SelectorError):
        read_parts([text])
