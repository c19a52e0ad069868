"""Content negotiation: the weights and the exactness of media ranges (RFC 9110, section 12.5.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.views.accept import MEDIA_TYPES, asked_format, media_ranges, preferred_format, quality

CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", "html"),
        ("*/*", "html"),
        (CHROMIUM, "html"),
        ("text/markdown", "markdown"),
        ("text/markdown, text/html;q=0.9", "markdown"),
        ("text/markdown;q=0.3, text/html;q=0.9", "html"),
        ("TEXT/Markdown", "markdown"),
        ("application/json, */*;q=0.1", "json"),
        ("text/*;q=0.5, text/plain", "text"),
        ("text/html;q=0, */*", "markdown"),
        ("image/png", None),
        ("text/html;q=0", None),
        ('text/markdown; variant="a, b"; q=0.2, text/plain', "text"),
        ("text/markdown;q=nonsense, text/html;q=0.1", "html"),
        (", ,text/markdown,", "markdown"),
    ],
)
def test_the_format_with_the_highest_weight_wins(accept: str, wanted: str | None) -> None:
    assert preferred_format(accept) == wanted


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", None),
        ("*/*", None),
        (CHROMIUM, None),
        ("text/*", None),
        ("text/markdown", "markdown"),
        ("text/markdown, */*;q=0.1", "markdown"),
        ("text/markdown, text/html", None),
        ("text/markdown;q=0.5, text/html;q=0.6", None),
        ("application/json", "json"),
        ("text/plain", None),
    ],
)
def test_only_who_names_a_format_above_html_asks_for_it(accept: str, wanted: str | None) -> None:
    assert asked_format(accept) == wanted


def test_the_most_exact_range_counts_whatever_its_weight() -> None:
    assert quality("text/html;q=0.1, text/*;q=0.5, */*", "text/html") == (0.1, 3)
    assert quality("text/html;q=0.1, text/*;q=0.5, */*", "text/plain") == (0.5, 2)


@given(st.text(alphabet='text/html*;q=0.19, "\\\n') | st.text())
def test_any_field_has_an_answer(accept: str) -> None:
    assert all(0.0 <= found.weight <= 1.0 for found in media_ranges(accept))
    assert preferred_format(accept) in (None, *MEDIA_TYPES)
