"""Charts as SVG, made on the server. Text stands beside them as HTML, so that it stays readable at any width.

Widths are percentages or stretched view boxes; colours come from the style sheet by class. Nothing in here is taken
from a page: callers give numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

VIEW = 1000
"""Width of a stretched view box; heights are the chart's own in pixels."""

EDGE = 8
"""What a timeline leaves free on both sides."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Timed:
    """That a chart's points begin with times, in seconds since the epoch: a browser can zoom into it. `unit` is how
    values are written: share or count."""

    title: str
    unit: str = ""


def bar(share: float, before: float | None = None) -> Markup:
    """Return a horizontal bar over `share` of the width; what is lost since `before` is drawn lighter."""
    share = min(max(share, 0.0), 1.0)
    ghost = ""
    if before is not None and before > share:
        ghost = f'<rect class="gone" x="{share:.2%}" width="{min(before, 1.0) - share:.2%}" height="100%"/>'
    solid = f'<rect class="kept" width="{max(share, 0.002):.2%}" height="100%" rx="2"/>' if share else ""
    return Markup(f'<svg class="bar" aria-hidden="true">{ghost}{solid}</svg>')


def stacked(shares: Sequence[tuple[str, float]]) -> Markup:
    """Return one bar of several parts, (class, share of the width) each."""
    parts, x = [], 0.0
    for name, share in shares:
        if share > 0:
            parts.append(f'<rect class="{name}" x="{x:.2%}" width="{share:.2%}" height="100%"/>')
        x += share
    return Markup(f'<svg class="bar" aria-hidden="true">{"".join(parts)}</svg>')


def lines(
    series: Sequence[Sequence[Point]],
    label: str,
    *,
    height: int = 140,
    low: float | None = None,
    timed: Timed | None = None,
) -> Markup:
    """Return a chart of up to four series over a common axis, the first one filled. `label` says what it shows."""
    points = [point for one in series for point in one]
    if not points:
        return Markup("")
    x0, x1 = min(x for x, _ in points), max(x for x, _ in points)
    y0 = min(y for _, y in points) if low is None else low
    y1 = max(y for _, y in points)
    if y1 <= y0:  # a flat line stands in the middle
        y0, y1 = y0 - 1, y0 + 1
    parts = [f'<line class="grid" x1="0" x2="{VIEW}" y1="{h}" y2="{h}"/>' for h in (1, height / 2, height - 1)]
    for number, one in enumerate(series):
        path = _path([_placed(p, (x0, x1), (y0, y1), height) for p in one])
        if number == 0 and path:
            parts.append(f'<path class="area s{number}" d="{path} L{VIEW} {height} L0 {height} Z"/>')
        parts.append(f'<path class="line s{number}" d="{path}"/>')
    return _svg(parts, label, height, _data(timed, x0, x1, y0, y1) if timed and x1 > x0 else {})


def ticks(times: Sequence[float], sizes: Sequence[float], chosen: int, label: str, *, height: int = 72) -> Markup:
    """Return a timeline: a mark at each time, as high as its size is beside the largest; `chosen` is marked."""
    if not times:
        return Markup("")
    span, top = (max(times) - min(times)) or 1.0, max(sizes) or 1.0
    parts = [f'<line class="grid" x1="0" x2="{VIEW}" y1="{height - 1}" y2="{height - 1}"/>']
    beside = EDGE / (VIEW - 2 * EDGE) * span  # seconds between an edge and the first mark
    for number, (time, size) in enumerate(zip(times, sizes, strict=True)):
        x = EDGE + (time - min(times)) / span * (VIEW - 2 * EDGE) if len(times) > 1 else VIEW / 2
        name = "mark chosen" if number == chosen else "mark"
        y = height - 1 - max(4.0, size / top * (height - 8))
        parts.append(f'<line class="{name}" x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{height - 1}"/>')
    data = _data(Timed("captures"), min(times) - beside, max(times) + beside) if max(times) > min(times) else {}
    return _svg(parts, label, height, data)


def _data(timed: Timed, x0: float, x1: float, y0: float = 0.0, y1: float = 0.0) -> dict[str, str]:
    """Return what a script needs to zoom: the times and values at the chart's edges."""
    edges = {"from": x0, "to": x1, "low": y0, "high": y1}
    return {
        **{name: f"{value:.10g}" if name in ("low", "high") else f"{value:.3f}" for name, value in edges.items()},
        "unit": timed.unit,
        "title": timed.title,
    }


def _placed(point: Point, xs: tuple[float, float], ys: tuple[float, float], height: int) -> Point:
    width = (xs[1] - xs[0]) or 1.0
    return (point[0] - xs[0]) / width * VIEW, height - 2 - (point[1] - ys[0]) / (ys[1] - ys[0]) * (height - 4)


def _path(points: Sequence[Point]) -> str:
    return " ".join(f"{'L' if number else 'M'}{x:.2f} {y:.2f}" for number, (x, y) in enumerate(points))


def _svg(parts: Sequence[str], label: str, height: int, data: Mapping[str, str]) -> Markup:
    given = Markup("").join(Markup(' data-{}="{}"').format(name, value) for name, value in data.items())
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" height="{}" preserveAspectRatio="none" role="img" aria-label="{}"{}>'
    ).format(VIEW, height, height, label, given) + Markup(f"{''.join(parts)}</svg>")
