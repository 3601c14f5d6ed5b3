"""Series over a common axis: convergence, the measurement window, a 2-D plot, a time series.

Lines of data are told apart by colour, marker and dash; the mean and the 90 % and 110 % lines
are thin, dashed and named where they end, the least-squares line is dotted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.report.exhibits.axes import (
    axis_label,
    axis_text,
    drawable,
    left_inches,
    set_axis,
    upright_label,
    value_text,
)
from drivelab.report.exhibits.looks import WIDE_INCHES, Drawn, identifier
from drivelab.report.figures import Panel
from drivelab.report.line_styles import FIT_STYLE, series_style
from drivelab.report.svg import INK, dots, panel
from drivelab.report.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from drivelab.pts.exhibits import Line, LineFigure
    from drivelab.report.line_styles import LineStyle

_HEIGHT_INCHES: Final = 2.9
_BOTTOM_INCHES: Final = 0.5
_TOP_INCHES: Final = 0.12
# Where names of guides stand; an inch holds this many letters of their size.
_LETTERS_AN_INCH: Final = 14.5
_GUIDE_GAP_INCHES: Final = 0.15
#: Points that can be pointed at, of one figure.
_MOST_TIPS: Final = 1500


def drawn_lines(figure: LineFigure) -> Drawn:
    """Draw a figure of series."""
    series = [line for line in figure.lines if line.role in ("data", "trace")]
    styles = {
        id(line): series_style(place, trace=line.role == "trace")
        for place, line in enumerate(series)
    }
    styles |= {id(line): FIT_STYLE for line in figure.lines if line.role == "fit"}
    guides = [line for line in figure.lines if line.role == "guide"]
    longest = max((len(line.label) for line in guides), default=0)
    right = 0.2 + longest / _LETTERS_AN_INCH
    size = (WIDE_INCHES, _HEIGHT_INCHES)
    plot = _HEIGHT_INCHES - _BOTTOM_INCHES - _TOP_INCHES
    heights = [y for line in figure.lines for y in (*line.y, *line.high)]
    margins = (left_inches(figure.y, heights, plot), _BOTTOM_INCHES, right, _TOP_INCHES)
    tips = _tips(figure, series)
    svg = panel(
        lambda axes: _draw(axes, figure, styles, margins, pointed=bool(tips)),
        size_inches=size,
        margins_inches=margins,
        identifier=identifier(figure.name),
        label=figure.title,
    )
    shown = [line for line in figure.lines if line.role != "guide"]
    return Drawn(
        name=figure.name,
        title=figure.title,
        saved=_saved(figure),
        panels=(Panel(svg, figure.name if tips else None),),
        legend=tuple((styles[id(line)], line.label) for line in shown),
        notes=tuple(text for text in (figure.note, _left_out(figure)) if text),
        tips={figure.name: tips} if tips else {},
    )


def _points(figure: LineFigure, line: Line) -> list[tuple[float, float]]:
    return [
        (x, y)
        for x, y in zip(line.x, line.y, strict=True)
        if drawable(figure.x, x) and drawable(figure.y, y)
    ]


def _draw(
    axes: Axes,
    figure: LineFigure,
    styles: dict[int, LineStyle],
    margins: tuple[float, float, float, float],
    *,
    pointed: bool,
) -> None:
    across = [x for line in figure.lines for x in line.x]
    up = [y for line in figure.lines for y in (*line.y, *line.low, *line.high)]
    # A window is looked at closely; anything else is judged by its height.
    windowed = any(line.role == "guide" for line in figure.lines)
    set_axis(axes, "x", figure.x, across)
    set_axis(axes, "y", figure.y, up, from_zero=not windowed)
    height = _HEIGHT_INCHES - margins[1] - margins[3]
    axes.set_ylabel(upright_label(figure.y, height))
    ends = []
    for line in figure.lines:
        points = _points(figure, line)
        if not points:
            continue
        x, y = zip(*points, strict=True)
        if line.role == "guide":
            axes.plot(x, y, color=INK, linewidth=0.9, linestyle=(0, (5, 3)))
            ends.append((y[-1], line.label))
        else:
            _draw_series(axes, line, x, y, styles[id(line)])
    _name_guides(axes, ends, height)
    if pointed:
        every = [
            point
            for line in figure.lines
            if line.role in ("data", "trace")
            for point in _points(figure, line)
        ]
        dots(
            axes,
            [x for x, _ in every],
            [y for _, y in every],
            color=INK,
            size=6,
            opacity=0,
            name="points",
            front=True,
        )


def _draw_series(
    axes: Axes, line: Line, x: Sequence[float], y: Sequence[float], style: LineStyle
) -> None:
    options = style.options()
    if line.low and len(line.low) == len(y):
        below = [one - low for one, low in zip(y, line.low, strict=True)]
        above = [high - one for one, high in zip(y, line.high, strict=True)]
        axes.errorbar(
            x,
            y,
            yerr=(below, above),
            fmt="none",
            ecolor=style.color,
            elinewidth=1,
            capsize=2.5,
        )
    if len(x) == 1 and not style.marker:
        # A line of one point would not be seen.
        options["marker"] = "o"
    options["linewidth"] = {"trace": 1.1, "fit": 1.2}.get(line.role, 1.8)
    axes.plot(x, y, markersize=4.5, **options)


def _name_guides(axes: Axes, ends: Sequence[tuple[float, str]], height_inches: float) -> None:
    """Write each guide's name behind its end, moved apart where they would touch."""
    if not ends:
        return
    inches = [
        height_inches * axes.transAxes.inverted().transform(axes.transData.transform((1, y)))[1]
        for y, _ in ends
    ]
    order = sorted(range(len(ends)), key=lambda place: inches[place])
    heights: list[float] = []
    for place in order:
        least = heights[-1] + _GUIDE_GAP_INCHES if heights else inches[place]
        heights.append(max(inches[place], least))
    for place, height in zip(order, heights, strict=True):
        axes.text(
            1.01,
            height / height_inches,
            ends[place][1],
            transform=axes.transAxes,
            verticalalignment="center",
            fontsize=8.5,
        )


def _tips(figure: LineFigure, series: Sequence[Line]) -> list[str]:
    if sum(len(line.x) for line in series) > _MOST_TIPS:
        return []
    x_text, y_text = axis_text(figure.x), value_text
    x_label, y_label = axis_label(figure.x), axis_label(figure.y)
    return [
        f"{line.label}\n{x_label}: {x_text(x)}\n{y_label}: {y_text(y)}"
        for line in series
        for x, y in _points(figure, line)
    ]


def _left_out(figure: LineFigure) -> str:
    count = sum(len(line.x) - len(_points(figure, line)) for line in figure.lines)
    if not count:
        return ""
    points = "1 point has" if count == 1 else f"{count:,} points have"
    return f"{points} no place on a logarithmic axis (0 or below); the CSV has all."


def _saved(figure: LineFigure) -> Table:
    rows = []
    for line in figure.lines:
        low = line.low or (None,) * len(line.x)
        high = line.high or (None,) * len(line.x)
        for x, y, least, most in zip(line.x, line.y, low, high, strict=True):
            name = figure.x.categories[round(x)] if figure.x.categories else x
            rows.append((line.label, line.role, name, y, least, most))
    columns = ("line", "role", figure.x.label, figure.y.label, "low", "high")
    return Table(figure.name, columns, tuple(rows))
