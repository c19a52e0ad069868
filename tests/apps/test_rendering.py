"""Boxes measured by a real headless Chromium: where things stand, what is not drawn, and that nothing is fetched."""

import http.server
import shutil
import threading
from collections.abc import Iterator

import pytest

from apps.rendering import Chromium
from extract.protocol import MissingExtra, page_of
from extract.segmenters.vips import CombPS, Vips

pytestmark = pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")

PAGE = (
    b"<style>#left{position:absolute;left:0;top:100px;width:200px} #right{position:absolute;left:260px;top:100px;"
    b"width:600px;background:#eee} .gone{display:none}</style><h1>The title of the page</h1>"
    b"<div id=left>menu one<br>menu two</div><div id=right><p>First paragraph.<p>Second paragraph.</div>"
    b"<div class=gone>hidden</div>"
)


def test_a_browser_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(MissingExtra, match="does not start"), Chromium("/bin/false"):
        pass


@pytest.fixture(scope="module")
def render() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser


def test_elements_have_the_boxes_they_are_drawn_in(render: Chromium) -> None:
    page = page_of("", PAGE)
    boxes = render(page)
    places = {page.tree.attributes(node).get("id"): box for node, box in boxes.items()}
    assert (places["left"].left, places["left"].top, places["left"].width) == (0, 100, 200)
    assert places["right"].background == "rgb(238, 238, 238)"
    assert boxes[page.tree.names.index("h1")].font_size == 32


def test_visual_blocks_of_a_drawn_page(render: Chromium) -> None:
    found = [segment.text for segment in Vips(render).segment(page_of("", PAGE))]
    assert found == ["The title of the page", "menu one menu two", "First paragraph. Second paragraph."]


def test_long_blocks_are_cut_into_windows(render: Chromium) -> None:
    found = [segment.text for segment in CombPS(render, words=2).segment(page_of("", PAGE))]
    assert found[-2:] == ["First paragraph.", "Second paragraph."]


def test_no_script_runs_and_nothing_is_fetched(render: Chromium) -> None:
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        body = f"<img src={base}/img><link rel=stylesheet href={base}/css><iframe src={base}/frame></iframe>"
        body += (
            f"<script>document.body.innerHTML = ''</script><meta http-equiv=refresh content='0;url={base}/go'><p>text"
        )
        boxes = render(page_of("", body.encode()))
        server.shutdown()
    assert asked == []
    assert boxes


@pytest.mark.parametrize("body", [b"", b"\0\xff", b"<" * 500, b"<p" * 500, b"<frameset><frame src=x></frameset>"])
def test_any_page_is_measured(render: Chromium, body: bytes) -> None:
    assert all(node >= 0 for node in render(page_of("", body)))
