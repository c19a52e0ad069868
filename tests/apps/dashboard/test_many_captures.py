"""The dashboard of a running proxy over 3,500 imported captures, in a real Chromium."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.apps.dashboard.browser import Window
from tests.apps.warc.samples import HEAD, packed, record
from tests.end_to_end.program import CHECKOUT, Program
from tests.store.conftest import site_pages

N_SITES, N_PAGES, N_TIMES = 7, 250, 2
STAGES = ("original", "exact", "block", "ondisk")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with 3,500 captures: seven sites, 250 pages each, two captures of each page."""
    folder = tmp_path_factory.mktemp("many")
    records: list[bytes] = []
    for site in range(N_SITES):
        for page in site_pages(N_PAGES, f"site{site}.test", words=30):
            for visit in range(N_TIMES):
                body = page.body + b"<p>seen %d times</p>" % visit
                number = len(records)
                record_id = f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>"
                records.append(
                    record(HEAD + body, url=page.url, date=f"2024-0{1 + visit}-01T00:00:00Z", record_id=record_id)
                )
    (folder / "many.warc.gz").write_bytes(packed(*records))
    url = f"sqlite:///{folder / 'store.db'}"
    cli("import", str(folder / "many.warc.gz"), "--store", url)
    return url


def cli(*arguments: str) -> Any:
    """Run a command of ours; return what it prints as JSON."""
    command = [sys.executable, "-m", "apps.cli", *arguments, "--json"]
    return json.loads(subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True).stdout)


def test_3500_captures_are_shown_as_stats_counts_them(tmp_path: Path, store: str, chromium: Any) -> None:
    with Program(tmp_path, store=store) as program:
        program.settle()
        stats = cli("stats", "--store", store)
        assert stats["captures"] == N_SITES * N_PAGES * N_TIMES == 3500
        window = Window(chromium, f"http://127.0.0.1:{program.dashboard_port}")
        shown = window.show("/")
        assert {name: shown.inner_text(f'[data-value="exact-{name}"]') for name in STAGES} == {
            name: f"{stats['bytes'][name]:,}" for name in STAGES
        }
        most = max(stats["bytes"].values())
        widths = shown.eval_on_selector_all(".waterfall rect.kept", "e => e.map(r => r.getAttribute('width'))")
        assert widths == [f"{stats['bytes'][name] / most:.2%}" for name in STAGES]
        live = json.loads(program.dashboard("/live.json").body)
        assert (live["bytes"], live["captures"]) == (stats["bytes"], 3500)
        listed = {row["site"]: row for row in json.loads(program.dashboard("/sites.json").body)}
        for row in stats["by_site"]:
            if row["site"] in listed:
                assert {name: listed[row["site"]][name] for name in STAGES} == row["bytes"]
        assert len(listed) == N_SITES
        assert cli("stats", "--store", store) == stats
        for path in addresses(program):
            assert window.show(path).inner_text("main").strip(), path
        assert window.wrong == []
        window.context.close()


def addresses(program: Program) -> list[str]:
    """Return the path of a page of each kind, once the site is known."""
    url = "http://site3.test/page/7"
    one = f"/page?{urlencode({'url': url})}"
    for path in ("/site?site=site3.test", one):
        while json.loads(program.dashboard("/site/progress.json?site=site3.test").body)["progress"]:
            time.sleep(0.1)
        program.dashboard(path)
    row = json.loads(program.dashboard(f"/page/blocks.json?{urlencode({'url': url})}").body)[2]
    block = f"/block?{urlencode({'site': 'site3.test', 'block': row['block']})}"
    return ["/", "/sites", "/site?site=site3.test", one, block, f"/diff?{urlencode({'url': url})}", "/rules"]
