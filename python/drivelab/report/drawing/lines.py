"""Line figures: convergence, the measurement window, a 2-D plot, a time series.

Data lines differ by colour, marker and dash. The mean and the 90 % and 110 % lines are thin and
dashed, with their names at their ends; the least-squares line is dotted. A gap interrupts a line;
a point alone between two gaps is a dot. A small figure has its title inside and stands in a row
with others.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Table
from drivelab.exhibits.number_text import value_text
from drivelab.report.drawing.axes import (
    MOST_TICKS,
    axis_label,
    axis_text,
    drawable,
    left_inches,
    placed,
    set_axis,
    upright_label,
)
from drivelab.report.drawing.line_styles import (
    BAND_STYLE,
    CLOUD_STYLE,
    FIT_STYLE,
    MEAN_STYLE,
    AreaStyle,
    LineStyle,
    drive_style,
    series_style,
)
from drivelab.report.drawing.looks import (
    FIRST_INCHES,
    SMALL_INCHES,
    WIDE_INCHES,
    Drawn,
    Panel,
    identifier,
)
from drivelab.report.drawing.svg import INK, dots, panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from drivelab.exhibits import Line, LineFigure

    Margins = tuple[float, float, float, float]

_HEIGHT_INCHES: Final = 2.9
_BOTTOM_INCHES: Final = 0.5
_TOP_INCHES: Final = 0.12
# Space for the title of a small figure.
_TITLE_INCHES: Final = 0.3
# Space for the names of guides; an inch holds this many letters of their size.
_LETTERS_AN_INCH: Final = 14.5
_GUIDE_GAP_INCHES: Final = 0.15
#: Most lines that the alternative text for screen readers lists.
_MOST_SAID: Final = 8
#: Most points with a tooltip in one figure.
_MOST_TIPS: Final = 1500
# Most block sizes on the axis of a small figure.
_SMALL_TICKS: Final = 7
#: More dots than this show nothing new and make a page large; the ones drawn are spread evenly.
MOST_DOTS: Final = 400
# Steps of the golden section fill an interval evenly, whatever their number.
_GOLDEN: Final = 0.618034
# Size of markers that no line joins.
_DOT_POINTS: Final = 4.0
# Size of points alone between two gaps; larger ones would hide the line if there are many. Those of
# each later line are larger by a step, so that they stick out behind those of an earlier one.
_ALONE_POINTS: Final = 2.8
_STEP_POINTS: Final = 1.0
_MOST_STEPS: Final = 4
# Dots of a cloud: size in points by the most dots of a panel.
_CLOUD_SIZES: Final = ((60, 4.6), (150, 3.6))
_CLOUD_SIZE: Final = 2.6
_FIXED: Final[dict[str, LineStyle | AreaStyle]] = {
    "fit": FIT_STYLE,
    "cloud": CLOUD_STYLE,
    "mean": MEAN_STYLE,
    "band": BAND_STYLE,
}
_SERIES: Final = ("data", "trace", "dots")


def draw_small(axes: Axes, figure: LineFigure, height_inches: float) -> None:
    """Draw a small figure into axes of a given height; lines carry their names for a legend."""
    _draw(axes, figure, _styles(figure), height_inches, small=True, pointed=False)


def drawn_lines(figure: LineFigure, *, small: bool = False, is_narrow: bool = False) -> Drawn:
    """Draw a line figure.

    Parameters
    ----------
    figure
        The figure.
    small
        Whether it stands in a row with others.
    is_narrow
        Whether it is as wide as a phone, with its title outside.
    """
    series = [line for line in figure.lines if line.role in _SERIES]
    styles = _styles(figure)
    guides = [line for line in figure.lines if line.role == "guide"]
    longest = max((len(line.label) for line in guides), default=0)
    # Half of the text "99.99 %" extends beyond the end of the axis.
    right = (0.3 if figure.x.scale == "nines" else 0.2) + longest / _LETTERS_AN_INCH
    size = SMALL_INCHES if small else FIRST_INCHES if is_narrow else (WIDE_INCHES, _HEIGHT_INCHES)
    top = _TITLE_INCHES if small else _TOP_INCHES
    plot = size[1] - _BOTTOM_INCHES - top
    heights = [y for line in figure.lines for y in (*line.y, *line.high)] + [*figure.y.also]
    margins = (left_inches(figure.y, heights, plot), _BOTTOM_INCHES, right, top)
    tips = _tips(figure, series)

    def draw(axes: Axes) -> None:
        _draw(axes, figure, styles, plot, small=small or is_narrow, pointed=bool(tips))
        if is_narrow:
            axes.set_title("")

    svg = panel(
        draw,
        size_inches=size,
        margins_inches=margins,
        identifier=identifier(figure.name),
        label=_said(figure, series),
    )
    # A line without points has no name in the legend.
    shown = [line for line in figure.lines if line.role != "guide" and _points(figure, line)]
    return Drawn(
        name=figure.name,
        title=figure.title,
        saved=(_saved(figure),),
        panels=(Panel(svg, figure.name if tips else None),),
        legend=tuple((styles[id(line)], line.label) for line in shown),
        notes=tuple(text for text in (figure.note, _left_out(figure)) if text),
        tips={figure.name: tips} if tips else {},
    )


def _said(figure: LineFigure, series: Sequence[Line]) -> str:
    """Return the alternative text of a figure: its axes, and where each line leads."""
    x_text, y_text = axis_text(figure.x), axis_text(figure.y)
    parts = []
    for line in series[:_MOST_SAID]:
        places = _points(figure, line)
        if places and line.role == "dots":
            parts.append(f"{line.label}: {len(places):,} points")
        elif places:
            first, last = places[0], places[-1]
            parts.append(
                f"{line.label} from {y_text(_rough(line.y[first]))} at "
                f"{x_text(_kept(figure, line.x[first]))} to {y_text(_rough(line.y[last]))} at "
                f"{x_text(_kept(figure, line.x[last]))}"
            )
    if len(series) > _MOST_SAID:
        parts.append(f"and {len(series) - _MOST_SAID} more lines")
    what = f"{figure.y.label} over {figure.x.label}"
    name = f"{figure.title}: " if figure.title else ""
    return f"{name}{what}. {'; '.join(parts)}." if parts else f"{name}{what}"


def _rough(value: float) -> float:
    return float(f"{value:.3g}")


def _kept(figure: LineFigure, value: float) -> float:
    """Return a value that its axis can write: categories and sizes stay as they are."""
    return value if figure.x.categories or figure.x.scale == "log2" else _rough(value)


def _styles(figure: LineFigure) -> dict[int, LineStyle | AreaStyle]:
    """Return the style of each line in the legend, by the line's `id`."""
    series = [line for line in figure.lines if line.role in _SERIES]
    styles: dict[int, LineStyle | AreaStyle] = {
        id(line): _style(line, place) for place, line in enumerate(series)
    }
    return styles | {id(line): _FIXED[line.role] for line in figure.lines if line.role in _FIXED}


def _style(line: Line, place: int) -> LineStyle:
    if line.origin:
        return drive_style(place, line.origin)
    style = series_style(place, trace=line.role == "trace")
    return replace(style, joins=False) if line.role == "dots" else style


def _points(figure: LineFigure, line: Line) -> list[int]:
    """Return the indices of the points that the axes can show."""
    return [
        place
        for place, (x, y) in enumerate(zip(line.x, line.y, strict=True))
        if drawable(figure.x, x) and drawable(figure.y, y)
    ]


def _draw(
    axes: Axes,
    figure: LineFigure,
    styles: dict[int, LineStyle | AreaStyle],
    height: float,
    *,
    small: bool,
    pointed: bool,
) -> None:
    across = [x for line in figure.lines for x in line.x]
    up = [y for line in figure.lines for y in (*line.y, *line.low, *line.high)]
    # A measurement window is examined closely; other figures are judged by their height.
    windowed = any(line.role == "guide" for line in figure.lines)
    set_axis(axes, "x", figure.x, across, most_ticks=_SMALL_TICKS if small else MOST_TICKS)
    set_axis(axes, "y", figure.y, up, from_zero=not windowed)
    axes.set_ylabel(upright_label(figure.y, height))
    ends = []
    series = [line for line in figure.lines if line.role in _SERIES]
    for line in figure.lines:
        places = _points(figure, line)
        if not places:
            continue
        x = placed(figure.x, [line.x[place] for place in places])
        y = [line.y[place] for place in places]
        match line.role:
            case "guide":
                axes.plot(x, y, color=INK, linewidth=0.9, linestyle=(0, (5, 3)))
                ends.append((y[-1], line.label))
            case "band":
                low, high = ([side[place] for place in places] for side in (line.low, line.high))
                color = BAND_STYLE.color
                axes.fill_between(x, low, high, color=color, linewidth=0, label=line.label)
            case "cloud":
                _draw_cloud(axes, figure, x, y)
            case _:
                style = styles[id(line)]
                number = series.index(line) if line in series else 0
                if isinstance(style, LineStyle):
                    _draw_series(axes, figure, line, style, number=number, small=small)
    _name_guides(axes, ends, height)
    for line in series:
        _name_points(axes, figure, line)
    if small:
        axes.set_title(figure.title)
    if pointed:
        every = [(line, place) for line in series for place in _points(figure, line)]
        dots(
            axes,
            placed(figure.x, [line.x[place] for line, place in every]),
            [line.y[place] for line, place in every],
            color=INK,
            size=6,
            opacity=0,
            name="points",
            front=True,
        )


def _draw_cloud(axes: Axes, figure: LineFigure, x: Sequence[float], y: Sequence[float]) -> None:
    # Dots of one category are spread sideways in order, without random numbers.
    spread = 0.5 if figure.x.categories else 0.0
    beside = [at + spread * ((_GOLDEN * place) % 1.0 - 0.5) for place, at in enumerate(x)]
    step = max(1, -(-len(x) // MOST_DOTS))
    size = next((size for most, size in _CLOUD_SIZES if len(x) <= most), _CLOUD_SIZE)
    dots(axes, beside[::step], list(y)[::step], color=CLOUD_STYLE.color, size=size)


def _draw_series(
    axes: Axes,
    figure: LineFigure,
    line: Line,
    style: LineStyle,
    *,
    number: int,
    small: bool,
) -> None:
    """Draw one line; where lines coincide, the first is in front and other markers stick out.

    Without markers, a dashed line is in front of a solid one, which shows through the gaps.
    """
    behind = number if small else 0
    places = _points(figure, line)
    x = placed(figure.x, [line.x[place] for place in places])
    y = [line.y[place] for place in places]
    options = style.options()
    if line.low:
        # NaN stays NaN: nothing is drawn there.
        below = [max(line.y[place] - line.low[place], 0.0) for place in places]
        above = [max(line.high[place] - line.y[place], 0.0) for place in places]
        axes.errorbar(
            x,
            y,
            yerr=(below, above),
            fmt="none",
            color=style.color,
            elinewidth=1,
            capsize=2.5,
        )
    options["linewidth"] = {"trace": 1.1, "fit": 1.2}.get(line.role, 1.8)
    options["markersize"] = _DOT_POINTS if line.role == "dots" else 4.5 + 0.9 * behind
    in_front = line.role in ("trace", "fit") and bool(style.dash)
    stretches = _stretches(line, places)
    label: str | None = line.label
    if not style.marker:
        # A line needs two points.
        alone = [start for start, end in stretches if end - start == 1]
        stretches = [(start, end) for start, end in stretches if end - start > 1]
        _draw_alone(
            axes,
            [x[at] for at in alone],
            [y[at] for at in alone],
            color=style.color,
            number=number,
            label=None if stretches else label,
        )
    for start, end in stretches:
        axes.plot(
            x[start:end],
            y[start:end],
            zorder=(4 if line.role == "mean" else 3) + in_front / 2 - behind / 100,
            label=label,
            clip_on=line.role not in ("data", "dots") and not style.marker,
            **options,
        )
        label = None


def _draw_alone(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    *,
    color: str,
    number: int,
    label: str | None,
) -> None:
    """Draw the points of a line without markers that have no neighbour to be joined with."""
    if not x:
        return
    axes.plot(
        x,
        y,
        color=color,
        linestyle="none",
        marker="o",
        markersize=_ALONE_POINTS + _STEP_POINTS * min(number, _MOST_STEPS),
        markeredgewidth=0,
        zorder=4 - number / 100,
        label=label,
        clip_on=False,
    )


def _name_points(axes: Axes, figure: LineFigure, line: Line) -> None:
    """Write the names of points: the first to its lower right, the others to their upper left."""
    if not line.names:
        return
    for at, place in enumerate(_points(figure, line)):
        if line.names[place]:
            axes.annotate(
                line.names[place],
                (placed(figure.x, [line.x[place]])[0], line.y[place]),
                xytext=(6, -4) if at == 0 else (-6, 4),
                textcoords="offset points",
                horizontalalignment="left" if at == 0 else "right",
                verticalalignment="top" if at == 0 else "bottom",
                fontsize=8,
            )


def _stretches(line: Line, places: Sequence[int]) -> list[tuple[int, int]]:
    """Split a line into stretches at points whose y is NaN."""
    cuts = [
        at + 1
        for at, (one, other) in enumerate(pairwise(places))
        if any(math.isnan(y) for y in line.y[one + 1 : other])
    ]
    return list(pairwise([0, *cuts, len(places)]))


def _name_guides(axes: Axes, ends: Sequence[tuple[float, str]], height_inches: float) -> None:
    """Write each guide's name behind its end; move names apart so that they do not touch."""
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
    x_text = axis_text(figure.x)
    y_text = value_text if figure.y.quantity == "number" else axis_text(figure.y)
    x_label, y_label = axis_label(figure.x), axis_label(figure.y)
    return [
        line.texts[place]
        if line.texts
        else f"{line.label}\n{x_label}: {x_text(line.x[place])}\n{y_label}: {y_text(line.y[place])}"
        for line in series
        for place in _points(figure, line)
    ]


def _left_out(figure: LineFigure) -> str:
    count = sum(
        not (drawable(figure.x, x) and drawable(figure.y, y))
        for line in figure.lines
        for x, y in zip(line.x, line.y, strict=True)
        if not math.isnan(y)
    )
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
