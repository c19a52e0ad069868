"""Content that stands only in a page's JSON-LD, for scripts to show: in every format."""

import json

import pytest

from extract.views.view import FORMATS, View, view

BODY = " ".join(f"The {word} of the old harbour <b>bridge</b> is told & told again." for word in "abcdefghij")
SAID = "The c of the old harbour bridge is told"


def page(body: str, *, shown: str = "") -> bytes:
    told = json.dumps({"@type": "NewsArticle", "headline": "Bridges", "articleBody": body})
    return f'<title>T</title><script type="application/ld+json">{told}</script>{shown}'.encode()


def viewed(source: bytes, form: str) -> View:
    return view(source, url="http://a.test/", content_type=b"text/html; charset=utf-8", form=form)


@pytest.mark.parametrize("form", FORMATS)
def test_what_only_json_ld_has_is_content_in_every_format(form: str) -> None:
    found = viewed(page(BODY), form)
    assert not found.full
    assert SAID in found.body.decode()
    assert "<b>bridge" not in found.body.decode()


def test_json_says_where_the_content_is_from() -> None:
    assert json.loads(viewed(page(BODY), "json").body)["source"] == "json-ld"


def test_a_few_words_in_json_ld_are_no_content() -> None:
    assert viewed(page("Ten words."), "text").full


def test_a_page_that_shows_its_content_is_read_itself() -> None:
    shown = "<article><h1>Bridges</h1>" + f"<p>{BODY} And that is shown.</p>" * 3 + "</article>"
    found = json.loads(viewed(page(BODY, shown=shown), "json").body)
    assert found["source"] == "page"
    assert "And that is shown" in found["text"]
