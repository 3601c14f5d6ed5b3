"""Figures 1 to 3 of Boito et al. 2015 from our numbers."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import numbers
from drivelab.report.drawing.svg import BLUE, GREEN, INK, ORANGE, document
from drivelab.units import format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from drivelab.exhibits import Table

    #: Class, position on the axis, error as a ratio.
    Point = tuple[str, int, float]

_LINES: Final = {
    "read_ns": ("sequential reads", BLUE, "-"),
    "random_read_ns": ("random reads", BLUE, (0, (4, 2))),
    "write_ns": ("sequential writes", ORANGE, "-"),
    "random_write_ns": ("random writes", ORANGE, (0, (4, 2))),
}
_LOOKS: Final = {"HDD": (BLUE, "o"), "RAID": (ORANGE, "s"), "SSD": (GREEN, "^")}
# Errors above this are drawn at the edge.
_MOST_PERCENT: Final = 100


def draw_access_times(table: Table, title: str) -> str:
    """Draw figure 1, access time over request size, one line per test, as an SVG document."""

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        sizes = numbers(table.column("request_bytes"))
        for column, (label, color, style) in _LINES.items():
            times = [value / 1e6 for value in numbers(table.column(column))]
            axes.plot(sizes, times, color=color, linestyle=style, label=label)
        ticks = [each << 20 for each in range(5)]
        axes.set_xticks(ticks, [format_size(tick) if tick else "0" for tick in ticks])
        axes.set_ylim(bottom=0)
        axes.set_xlabel("request size")
        axes.set_ylabel("access time (ms)")
        axes.set_title(title)
        axes.legend(loc="upper left")

    return document(draw, (6.4, 4.0))


def draw_cases(
    panels: Sequence[tuple[str, Sequence[Point]]], *, across: str, ticks: Sequence[int]
) -> str:
    """Draw figures 2 and 3: one dot per error, by what was varied, coloured by class.

    Parameters
    ----------
    panels
        Title and points of each panel.
    across
        Label of the axis across.
    ticks
        Labels of its positions.

    Returns
    -------
    str
        An SVG document.
    """

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("constrained")
        rows = (len(panels) + 1) // 2
        grid = figure.subplots(rows, 2, squeeze=False)
        for place, (title, points) in enumerate(panels):
            _draw_panel(grid[place // 2][place % 2], title, points, across, ticks)
        # A dot may be anywhere in a frame, so the legend is outside.
        figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5)

    return document(draw, (7.4, 3.4 * ((len(panels) + 1) // 2)))


def _draw_panel(
    axes: Axes, title: str, points: Sequence[Point], across: str, ticks: Sequence[int]
) -> None:
    for number, (kind, (color, marker)) in enumerate(_LOOKS.items()):
        for place in range(len(ticks)):
            errors = [100 * error for name, at, error in points if (name, at) == (kind, place)]
            # Side by side in the order of measurement, so that no dot hides another.
            step = 0.22 / max(1, len(errors))
            left = place - 0.36 + 0.25 * number
            axes.plot(
                [left + step * rank for rank in range(len(errors))],
                [min(error, _MOST_PERCENT) for error in errors],
                color=color,
                linestyle="none",
                marker=marker,
                markersize=3,
                markerfacecolor="none",
                markeredgewidth=0.8,
                label=kind if place == 0 else None,
            )
            middle = min(statistics.median(errors), _MOST_PERCENT)
            is_last = number == len(_LOOKS) - 1 and place == 0
            axes.plot(
                [left - 0.02, left + 0.22],
                [middle, middle],
                color=INK,
                linewidth=1.6,
                label="median" if is_last else None,
            )
    axes.axhline(20, color=INK, linewidth=0.9, linestyle=(0, (3, 2)), label="20 %")
    axes.set_xticks(range(len(ticks)), [str(tick) for tick in ticks])
    axes.set_ylim(0, 1.03 * _MOST_PERCENT)
    # Larger errors are drawn at this edge.
    heights = range(0, _MOST_PERCENT + 1, 20)
    axes.set_yticks(heights, [*(f"{height}" for height in heights[:-1]), f"≥ {heights[-1]}"])
    axes.set_xlabel(across)
    axes.set_ylabel("absolute error (%)")
    axes.set_title(title)
