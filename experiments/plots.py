"""Figures with matplotlib: lines or bars, drawn to SVG and PNG, the same bytes for the same numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from extract.protocol import MissingExtra

Points = Sequence[tuple[float | str, float]]

COLOURS = ("#0b5fa5", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#be185d", "#0f766e", "#4b5563")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


@dataclass(frozen=True)
class Figure:
    """Series of points; `kind` is `lines`, or `bars` over names."""

    name: str
    title: str
    x_label: str
    y_label: str
    series: Mapping[str, Points]
    kind: str = "lines"
    note: str = ""
    y_range: tuple[float, float] | None = None


def draw(figure: Figure, folder: Path) -> str:
    """Write NAME.svg and NAME.png into a folder, and return the SVG element."""
    pyplot = _pyplot()
    drawn, axes = pyplot.subplots(figsize=(8.0, 4.5))
    try:
        (_bars if figure.kind == "bars" else _lines)(axes, figure)
        axes.set_xlabel(figure.x_label)
        axes.set_ylabel(figure.y_label)
        if figure.y_range:
            axes.set_ylim(*figure.y_range)
        axes.grid(axis="y", color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
        if len(figure.series) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0, fontsize=8, frameon=False)
        buffer = StringIO()
        drawn.savefig(
            buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")), bbox_inches="tight"
        )
        drawn.savefig(folder / f"{figure.name}.png", dpi=110, metadata={"Software": None}, bbox_inches="tight")
    finally:
        pyplot.close(drawn)
    svg = buffer.getvalue()
    (folder / f"{figure.name}.svg").write_text(svg, encoding="utf-8")
    return svg[svg.index("<svg") :]


def _pyplot() -> Any:
    """Return pyplot, drawing to files, with fixed ids in SVG. MissingExtra, in a sentence, without matplotlib."""
    try:
        import matplotlib
    except ImportError as exc:
        raise MissingExtra("figures need matplotlib: pip install 'pagemason[experiments]'") from exc
    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "pagemason"
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["font.size"] = 10
    from matplotlib import pyplot

    return pyplot


def _lines(axes: Any, figure: Figure) -> None:
    for number, (name, points) in enumerate(figure.series.items()):
        style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number // len(COLOURS) % len(MARKS)]}
        axes.plot([x for x, _ in points], [y for _, y in points], label=name, linewidth=1.6, markersize=4, **style)


def _bars(axes: Any, figure: Figure) -> None:
    names = list(dict.fromkeys(x for points in figure.series.values() for x, _ in points))
    width = 0.8 / max(len(figure.series), 1)
    for number, (label, points) in enumerate(figure.series.items()):
        values = dict(points)
        places = [place + (number - (len(figure.series) - 1) / 2) * width for place in range(len(names))]
        heights = [values.get(name, 0.0) for name in names]
        axes.bar(places, heights, width, label=label, color=COLOURS[number % len(COLOURS)])
    axes.set_xticks(range(len(names)), [str(name) for name in names], rotation=40, ha="right", fontsize=8)
