"""Charts over time can be zoomed into: by keys, by dragging, and back."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from apps.dashboard import live
from tests.apps.dashboard.browser import Window
from tests.apps.dashboard.conftest import Served, serving, small

PAGE = f"/page?{urlencode({'url': 'http://a.test/page/1'})}"


def view(shown: Any) -> list[float]:
    """Return the x and the width of what the first chart shows."""
    box = shown.get_attribute("svg[data-from]", "viewBox").split()
    return [float(box[0]), float(box[2])]


def visible(shown: Any) -> list[str]:
    found: list[str] = shown.locator(".zoom button:visible").all_inner_texts()
    return found


def test_a_timeline_is_zoomed_with_keys_alone(served: Served, chromium: Any) -> None:
    window = Window(chromium, served.url)
    shown = window.show(PAGE)
    before = shown.locator(".axis").first.inner_text()
    assert (view(shown), visible(shown)) == ([0, 1000], ["+"])
    shown.focus(".zoom button")
    shown.keyboard.press("Enter")
    assert view(shown) == [250, 500]
    assert visible(shown) == ["+", "−", "←", "→", "Reset"]
    for key, expected in (
        ("ArrowLeft", [125, 500]),
        ("+", [250, 250]),
        ("ArrowRight", [312.5, 250]),
        ("-", [187.5, 500]),
    ):
        shown.keyboard.press(key)
        assert view(shown) == expected, key
    assert "UTC" in shown.locator(".axis").first.inner_text()
    for _ in range(20):
        shown.keyboard.press("+")
    assert view(shown)[1] == 10
    shown.keyboard.press("0")
    assert (view(shown), shown.locator(".axis").first.inner_text()) == ([0, 1000], before)
    assert shown.evaluate("document.activeElement.title") == "Zoom in"
    assert window.wrong == []
    window.context.close()


def test_a_part_of_the_last_hour_is_looked_at_and_stays(
    home: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "SAMPLE_SECONDS", 0.2)
    with serving(home, small()) as served:
        window = Window(chromium, served.url)
        shown = window.show("/")
        shown.wait_for_selector(".zoom button", timeout=20_000)
        chart = shown.locator("svg[data-from]").first
        box = chart.bounding_box()
        y = box["y"] + box["height"] / 2
        shown.mouse.move(box["x"] + box["width"] / 4, y)
        shown.mouse.down()
        shown.mouse.move(box["x"] + box["width"] / 2, y, steps=3)
        shown.mouse.up()
        x, width = view(shown)
        assert x == pytest.approx(250, abs=5)
        assert width == pytest.approx(250, abs=5)
        assert shown.locator(".axis").first.inner_text().count("UTC: 15") == 2, "captures at both edges"
        until = shown.evaluate("Date.now()") + 5000
        while shown.evaluate("Date.now()") < until:
            shown.wait_for_timeout(500)
            assert view(shown) == [x, width], "it is not drawn anew while somebody looks at a part"
        shown.click(".zoom button:text('Reset')")
        assert view(shown) == [0, 1000]
        assert window.wrong == []
        window.context.close()
