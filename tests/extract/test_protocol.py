"""The registry, and the page as the methods see it."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.protocol import Extraction, Verdict, page_of
from extract.registry import METHODS, extractor, names, segmenter


@given(
    st.binary(), st.sampled_from(["", "utf-8", "gb18030", "utf-16-le", "cp932", "hz", "iso2022-jp", "no-such", "\0"])
)
@settings(max_examples=100, deadline=None)
def test_any_bytes_in_any_encoding_are_a_page(body: bytes, encoding: str) -> None:
    page = page_of("http://a.test/", body, encoding=encoding)
    assert len(page.texts) == len(page) == len(page.starts) - 1


@given(st.lists(st.sampled_from(["<p>", "<div>", "</p>", "a", "ž", "漢", "😀", "\ufeff", "\xa0"])), st.booleans())
@settings(max_examples=100, deadline=None)
def test_the_source_is_that_of_the_blocks_joined(pieces: list[str], whole: bool) -> None:
    page = page_of("http://a.test/", "".join(pieces).encode() + (b"" if whole else b"\xe6\xbc"), encoding="utf-8")
    assert page.source == "".join(page.parts)
    assert [page.source[a:b] for a, b in pairwise(page.starts)] == page.parts


def test_a_wide_encoding_is_read_by_its_byte_order_mark() -> None:
    assert page_of("http://a.test/", "<p>žluť<p>kůň".encode("utf-16")).texts == ["", "žluť", "kůň"]


def test_the_text_of_an_extraction_is_that_of_the_content_blocks() -> None:
    page = page_of("http://a.test/", b"<p>menu<p>one<br>two<p>three")
    verdicts = tuple(Verdict("menu" not in text, 0.5, "") for text in page.texts)
    assert Extraction(page, verdicts).text == "one two\nthree"


def test_a_verdict_for_each_block_is_expected() -> None:
    with pytest.raises(ValueError, match="0 verdicts for the 2 blocks"):
        Extraction(page_of("http://a.test/", b"a<p>b"), ())


@pytest.mark.parametrize(
    ("name", "message"),
    [("cetr", "'cetr' is no extractor"), ("contentextractor", "did you mean ContentExtractor"), ("VIPS", "Shingling")],
)
def test_an_unknown_name_is_refused_with_the_known_ones(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extractor(name)


def test_an_extractor_is_no_segmenter() -> None:
    with pytest.raises(ValueError, match="FixedPS"):
        segmenter("Shingling")


def test_names_are_those_of_the_papers() -> None:
    assert names("segmenter") == ["FixedPS", "DomPS", "VIPS", "CombPS"]
    assert set(names()) | set(names("segmenter")) == set(METHODS)
