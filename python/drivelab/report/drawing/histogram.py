"""A histogram of response times, with the confidence levels marked.

Both axes are logarithmic, because the ten slowest of a million requests are what matters. Bins
narrower than a bar are merged in the drawing; the CSV has every bin.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Table
from drivelab.exhibits.number_text import number_text
from drivelab.exhibits.quantities import latency_text
from drivelab.report.drawing.axes import logarithmic_axis
from drivelab.report.drawing.looks import WIDE_INCHES, Drawn, Panel, identifier
from drivelab.report.drawing.svg import BLUE, INK, PAPER, panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from drivelab.exhibits import HistogramFigure

_BARS_A_DECADE: Final = 20
_PLOT_INCHES: Final = 2.2
_ROW_INCHES: Final = 0.17
_LEFT_INCHES: Final = 1.1
_RIGHT_INCHES: Final = 0.25
_LETTER_INCHES: Final = 0.068
# Share of the axis: lines closer than this are drawn as one.
_SAME_PLACE: Final = 0.004
_MEAN: Final = "mean"
_MAXIMUM: Final = "max"


def drawn_histogram(figure: HistogramFigure) -> Drawn:
    """Draw a histogram of response times."""
    panels: tuple[Panel, ...] = ()
    if figure.bins:
        limits = _limits(figure)
        marks = _marks(figure, limits)
        rows = _rows_of_names(marks, limits)
        top = 0.1 + _ROW_INCHES * (1 + max(rows, default=0))
        svg = panel(
            lambda axes: _draw(axes, figure, limits, marks, rows),
            size_inches=(WIDE_INCHES, _PLOT_INCHES + 0.5 + top),
            margins_inches=(_LEFT_INCHES, 0.5, _RIGHT_INCHES, top),
            identifier=identifier(figure.name),
            label=figure.title,
        )
        panels = (Panel(svg),)
    total = sum(count for _, _, count in figure.bins)
    counted = f"{total:,} requests." if figure.bins else "No request was counted."
    return Drawn(
        name=figure.name,
        title=figure.title,
        saved=(Table(figure.name, ("from_us", "to_us", "count"), tuple(figure.bins)),),
        panels=panels,
        notes=tuple(text for text in (counted, figure.note) if text),
    )


def _limits(figure: HistogramFigure) -> tuple[float, float]:
    last = figure.bins[-1][1]
    first = next((low for low, _, _ in figure.bins if low > 0), last / 2)
    high = max(last, figure.max_us, *(time_us for _, time_us in figure.levels), 1e-3)
    low = min(first, figure.mean_us if figure.mean_us > 0 else first)
    return low / 1.25, high * 1.25


def _marks(figure: HistogramFigure, limits: tuple[float, float]) -> list[tuple[float, str]]:
    """Return positions and names of the lines; lines that would coincide are merged."""
    marks = [(figure.mean_us, _MEAN)]
    marks += [(time_us, f"{level:g} %") for level, time_us in figure.levels]
    marks.append((figure.max_us, _MAXIMUM))
    # Sorted by time only: with equal times the mean comes first, the maximum last.
    ordered = sorted((mark for mark in marks if mark[0] > 0), key=lambda mark: mark[0])
    groups: list[list[tuple[float, str]]] = []
    nearest = (limits[1] / limits[0]) ** _SAME_PLACE
    for mark in ordered:
        if groups and mark[0] < groups[-1][0][0] * nearest:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return [(group[-1][0], _joined([name for _, name in group])) for group in groups]


def _joined(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 3 else f"{names[0]} to {names[-1]}"


def _rows_of_names(marks: Sequence[tuple[float, str]], limits: tuple[float, float]) -> list[int]:
    """Return for each mark the row above the axes for its name, so that names do not touch."""
    inches = WIDE_INCHES - _LEFT_INCHES - _RIGHT_INCHES
    decades = math.log10(limits[1] / limits[0])
    free_from: list[float] = []
    rows = []
    for time_us, name in marks:
        centre = inches * math.log10(time_us / limits[0]) / decades
        half = (len(name) + 1) * _LETTER_INCHES / 2
        row = next(
            (place for place, end in enumerate(free_from) if end <= centre - half), len(free_from)
        )
        if row == len(free_from):
            free_from.append(0.0)
        free_from[row] = centre + half
        rows.append(row)
    return rows


def _bars(figure: HistogramFigure, limits: tuple[float, float]) -> list[tuple[float, float, int]]:
    """Merge bins into bars of equal width on a logarithmic axis: from, to, count."""
    counts: dict[int, int] = {}
    for low, high, count in figure.bins:
        middle = math.sqrt(max(low, limits[0]) * max(high, limits[0]))
        place = math.floor(_BARS_A_DECADE * math.log10(middle))
        counts[place] = counts.get(place, 0) + count
    return [
        (10 ** (place / _BARS_A_DECADE), 10 ** ((place + 1) / _BARS_A_DECADE), count)
        for place, count in sorted(counts.items())
    ]


def _draw(
    axes: Axes,
    figure: HistogramFigure,
    limits: tuple[float, float],
    marks: Sequence[tuple[float, str]],
    rows: Sequence[int],
) -> None:
    bars = _bars(figure, limits)
    most = max(count for _, _, count in bars)
    logarithmic_axis(axes, "x", limits, lambda value: latency_text(1000 * value))
    logarithmic_axis(axes, "y", (0.6, max(10.0, 1.8 * most)), number_text)
    axes.bar(
        [low for low, _, _ in bars],
        [count for _, _, count in bars],
        [high - low for low, high, _ in bars],
        align="edge",
        color=BLUE,
        edgecolor="white",
        linewidth=0.4,
    )
    # From the top down: names of lower rows cover the lines that pass through.
    for row, (time_us, name) in sorted(zip(rows, marks, strict=True), reverse=True):
        special = name in (_MEAN, _MAXIMUM)
        axes.axvline(
            time_us, color=INK, linewidth=0.9, linestyle="solid" if special else (0, (4, 2))
        )
        # Each line ends at its name, above the lower rows.
        axes.annotate(
            name,
            (time_us, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3 + 72 * _ROW_INCHES * row),
            textcoords="offset points",
            horizontalalignment="center",
            fontsize=8,
            bbox={"boxstyle": "square,pad=0.08", "facecolor": PAPER, "edgecolor": "none"},
            arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": INK, "shrinkA": 0}
            if row
            else None,
        )
    axes.set_xlabel(figure.what)
    axes.set_ylabel("requests per bar")
