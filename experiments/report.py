"""A report: text, tables and figures, as one HTML file that needs nothing else, with CSV, SVG and PNG beside.

Every number is in a CSV file; the same run gives the same bytes, measured times apart.
"""

import csv
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from experiments.plots import Figure, draw

Cell = str | int | float


@dataclass(frozen=True)
class Table:
    """Rows under a head; numbers are shown with `digits` decimals, and whole in the CSV file."""

    name: str
    title: str
    head: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    digits: int = 3


@dataclass(frozen=True)
class Section:
    """A heading, what it says, and tables and figures in order."""

    title: str
    paragraphs: Sequence[str] = ()
    items: Sequence[Table | Figure] = ()


@dataclass(frozen=True)
class Report:
    """What an experiment found, from which data and with which settings."""

    title: str
    summary: Sequence[str]
    settings: Mapping[str, Cell]
    digests: Mapping[str, str]
    sections: Sequence[Section] = field(default_factory=list)


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff; max-width: 68rem; margin: 2rem auto;
  padding: 0 1rem }
h1 { font-size: 1.8rem } h2 { font-size: 1.3rem; margin-top: 2.5rem; border-top: 1px solid #ccc; padding-top: 1rem }
.scroll { overflow-x: auto }
table { border-collapse: collapse; margin: 1rem 0; font-size: .875rem }
caption { text-align: left; font-weight: 600; padding: .3rem 0 }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
figure { margin: 1.5rem 0 } figure svg { max-width: 100%; height: auto } figcaption { font-weight: 600 }
.note { color: #444; font-size: .875rem } code { font-size: .85em; overflow-wrap: anywhere }
"""


def write(report: Report, out: Path) -> Path:
    """Write report.html, tables/*.csv and figures/*.svg, *.png, *.csv into a folder; return the HTML file's path."""
    (out / "tables").mkdir(parents=True, exist_ok=True)
    (out / "figures").mkdir(exist_ok=True)
    parts = [_head(report)]
    for section in report.sections:
        parts.append(f"<section><h2>{html.escape(section.title)}</h2>")
        parts.extend(f"<p>{html.escape(text)}</p>" for text in section.paragraphs)
        for item in section.items:
            parts.append(_table(item, out) if isinstance(item, Table) else _figure(item, out))
        parts.append("</section>")
    path = out / "report.html"
    path.write_text("\n".join([*parts, "</main></body></html>\n"]), encoding="utf-8")
    return path


def _head(report: Report) -> str:
    title = html.escape(report.title)
    rows = [*report.settings.items(), *((f"SHA-256 of {name}", digest) for name, digest in report.digests.items())]
    settings = "\n".join(
        f"<tr><th scope=row>{html.escape(name)}</th><td><code>{html.escape(_shown(value, 4))}</code></td></tr>"
        for name, value in rows
    )
    summary = "\n".join(f"<p>{html.escape(text)}</p>" for text in report.summary)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f"<body><main><h1>{title}</h1>{summary}"
        f'<div class="scroll"><table><caption>Settings and data</caption>{settings}</table></div>'
    )


def _table(table: Table, out: Path) -> str:
    _csv(out / "tables" / f"{table.name}.csv", table.head, table.rows)
    numeric = [
        bool(table.rows) and all(not isinstance(row[column], str) for row in table.rows)
        for column in range(len(table.head))
    ]
    head = "".join(
        f'<th scope="col"{_class(number)}>{html.escape(name)}</th>'
        for name, number in zip(table.head, numeric, strict=True)
    )
    rows = "\n".join(
        "<tr>"
        + "".join(
            f"<td{_class(not isinstance(cell, str))}>{html.escape(_shown(cell, table.digits))}</td>" for cell in row
        )
        + "</tr>"
        for row in table.rows
    )
    note = f'<p class="note">{html.escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="scroll"><table id="{table.name}"><caption>{html.escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )


def _class(number: bool) -> str:
    return ' class="number"' if number else ""


def _figure(figure: Figure, out: Path) -> str:
    svg = draw(figure, out / "figures")
    rows = [(name, x, y) for name, points in figure.series.items() for x, y in points]
    _csv(out / "figures" / f"{figure.name}.csv", ("series", figure.x_label, figure.y_label), rows)
    note = f'<p class="note">{html.escape(figure.note)}</p>' if figure.note else ""
    return (
        f'<figure id="{figure.name}"><figcaption>{html.escape(figure.title)}</figcaption>'
        f'<div role="img" aria-label="{html.escape(figure.title)}">{svg}</div>{note}</figure>'
    )


def _shown(cell: Cell, digits: int) -> str:
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)


def _csv(path: Path, head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
