"""What many pages would take, by arithmetic, from what was measured here:

    python -m bench.scale --json scale.json
    python -m bench.batch report --json report.json
    python -m bench.batch extract --json extract.json
    python -m bench.plan scale.json report.json extract.json [--pages 1e9] [--days 30]

Everything is taken to grow in proportion to the pages, which holds while sites are like those measured: pages a site,
bytes a page, and how alike a site's pages are. The first run of bench.scale gives bytes, the last one CPU.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DAY = 86_400


def of_store(scale: dict[str, Any], n: float) -> Iterator[tuple[str, float, str]]:
    """Yield what a store of n pages occupies: what, how much, in which unit."""
    row, pages = scale["rows"][0], scale["pages"]
    yield "bodies", row["original"] / pages * n / 1e12, "TB"
    for name, (rows, n_bytes, index) in row["tables"].items():
        yield f"table {name}", n_bytes / pages * n / 1e9, "GB"
        yield f"  of which indexes (rows: {rows / pages:.3f} a page)", index / pages * n / 1e9, "GB"
    yield "on disk", row["ondisk"] / pages * n / 1e9, "GB"
    yield "bodies / on disk", row["original"] / row["ondisk"], "times"


def of_traffic(scale: dict[str, Any], n: float, days: float) -> Iterator[tuple[str, float, str]]:
    """Yield what n pages in so many days take of processors."""
    row, rate = scale["rows"][-1], n / (days * DAY)
    yield f"captures a second, for {days:g} days", rate, ""
    for name in ("proxies", "upkeep", "Postgres"):
        milliseconds = row[f"CPU {name}"]
        yield f"{name}: {milliseconds:.1f} ms a capture", rate * milliseconds / 1000, "cores"


def of_batch(measured: dict[str, Any], n: float) -> Iterator[tuple[str, float, str]]:
    """Yield what a batch job over n pages takes."""
    row = measured["rows"][0]
    seconds = row["busiest"] / measured["records"]
    yield f"batch {measured['job']}: {seconds * 1000:.1f} ms a page", seconds * n / DAY, "core days"
    yield "  input, gzipped", measured["bytes"] / measured["records"] * n / 1e12, "TB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scale", type=Path)
    parser.add_argument("batch", type=Path, nargs="*")
    parser.add_argument("--pages", type=float, default=1e9)
    parser.add_argument("--days", type=float, default=30)
    chosen = parser.parse_args()
    scale = json.loads(chosen.scale.read_text())
    lines = [*of_store(scale, chosen.pages), *of_traffic(scale, chosen.pages, chosen.days)]
    for path in chosen.batch:
        lines += of_batch(json.loads(path.read_text()), chosen.pages)
    print(f"{chosen.pages:,.0f} pages")
    for name, value, unit in lines:
        print(f"{name:52}{value:14,.1f} {unit}")


if __name__ == "__main__":
    main()
