"""A sequentiality profile drawn: access times over size, and what order is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.report.profile import ORDERS
from drivelab.report.svg import BAND, BLUE, INK, ORANGE, document, log_axis, log_limits
from drivelab.report.table import number, numbers
from drivelab.units import format_duration_ns, format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from drivelab.report.table import Table

_SIZE_INCHES: Final = (7.4, 6.6)
_COLORS: Final = {"sequential": BLUE, "random": ORANGE}
_MARKERS: Final = {"sequential": "o", "random": "s"}
_STYLES: Final = {"sequential": "-", "random": (0, (5, 2))}
# Sizes are whole powers of two on the axis.
_FEWEST_TICKS: Final = 3
# Height of a row of a legend.
_LEGEND_ROW_POINTS: Final = 14


def draw(times: Table, ratios: Table, *, title: str, note: str) -> str:
    """Draw the access times of each direction above its ratios.

    Parameters
    ----------
    times
        As `drivelab.report.profile.access_time_table` makes it.
    ratios
        As `drivelab.report.profile.interval_table` does.
    title, note
        What the drive is, and what was measured.

    Returns
    -------
    str
        An SVG document; equal input gives equal bytes.
    """
    directions = list(dict.fromkeys(str(cell) for cell in ratios.column("direction")))

    def all_of(figure: Figure) -> None:
        figure.set_layout_engine("constrained", rect=(0, 0, 1, 0.92))
        figure.text(0.012, 0.966, title, fontsize=11, fontweight="bold")
        figure.text(0.012, 0.935, note, fontsize=8.5)
        grid = figure.subplots(2, len(directions), squeeze=False)
        for column, direction in enumerate(directions):
            _draw_times(grid[0][column], times, direction)
            _draw_ratios(grid[1][column], ratios, direction)

    return document(all_of, _SIZE_INCHES)


def _draw_times(axes: Axes, times: Table, direction: str) -> None:
    every = [
        value for name in ("access_time_ns", "measured_ns") for value in numbers(times.column(name))
    ]
    for order in ORDERS.values():
        rows = times.records(direction=direction, order=order)
        sizes = [number(row["request_bytes"]) for row in rows]
        axes.plot(
            sizes,
            [number(row["access_time_ns"]) for row in rows],
            color=_COLORS[order],
            linestyle=_STYLES[order],
            label=order,
        )
        measured = [row for row in rows if row["measured_ns"] is not None]
        if len(measured) < len(rows):
            axes.plot(
                [number(row["request_bytes"]) for row in measured],
                [number(row["measured_ns"]) for row in measured],
                color=_COLORS[order],
                linestyle="none",
                marker=_MARKERS[order],
                markersize=5.5,
                markerfacecolor="none",
                label="measured",
            )
    log_axis(axes, "y", log_limits(every), _time_text)
    _sizes(axes, [number(cell) for cell in times.column("request_bytes")])
    axes.set_ylabel("access time")
    _title_over_legend(axes, f"{direction.title()}s", rows=1 + (len(measured) < len(rows)))


def _draw_ratios(axes: Axes, ratios: Table, direction: str) -> None:
    rows = ratios.records(direction=direction)
    sizes = [number(row["request_bytes"]) for row in rows]
    if rows[0]["low_ratio"] is not None:
        axes.fill_between(
            sizes,
            [number(row["low_ratio"]) for row in rows],
            [number(row["high_ratio"]) for row in rows],
            color=BAND,
            linewidth=0,
            label="95 % interval",
        )
    axes.plot(sizes, [number(row["ratio"]) for row in rows], color=BLUE, label="ratio")
    axes.axhline(1, color=INK, linewidth=0.9, linestyle=(0, (3, 2)))
    _sizes(axes, sizes)
    highest = max(numbers(ratios.column("high_ratio")) or numbers(ratios.column("ratio")))
    if highest > 10:
        lowest = min(numbers(ratios.column("low_ratio")) or numbers(ratios.column("ratio")))
        log_axis(axes, "y", log_limits([min(0.8, lowest), highest]), lambda value: f"{value:g}")
    else:
        axes.set_ylim(0, max(1.5, 1.08 * highest))
    axes.set_ylabel("sequential / random throughput")
    _title_over_legend(axes, f"What order is worth, {direction}s", rows=1)


def _title_over_legend(axes: Axes, title: str, *, rows: int) -> None:
    """Set the legend between title and frame: lines and bands may lie anywhere in the frame."""
    axes.set_title(title, pad=4 + _LEGEND_ROW_POINTS * rows)
    legend = axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        frameon=False,
        borderaxespad=0.2,
        columnspacing=1.2,
    )
    # Its width is no reason to make the frame narrower.
    legend.set_in_layout(False)


def _sizes(axes: Axes, sizes: list[float]) -> None:
    low, high = int(min(sizes)), int(max(sizes))
    powers = [1 << power for power in range(9, 27) if low <= 1 << power <= high]
    step = max(1, round(len(powers) / 5))
    ticks = powers[::step] if len(powers) >= _FEWEST_TICKS else [low, high]
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [format_size(tick) for tick in ticks], fontsize=8)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("request size")


def _time_text(value: float) -> str:
    return format_duration_ns(value).replace("us", "µs").replace(".00", "").replace(".0 ", " ")
