"""Bandwidth over record size, closed form and simulator, as in figures 10 and 11."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits import numbers
from drivelab.report.drawing.svg import BLUE, ORANGE, document

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from drivelab.exhibits import Table

_SIZE_INCHES: Final = (6.4, 4.0)


def draw_curve(table: Table, title: str) -> str:
    """Draw bandwidth over ``record_bytes`` from both ``..._mib_per_second`` columns.

    Returns
    -------
    str
        An SVG document; equal input gives equal bytes.
    """

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("constrained")
        _draw(figure.add_subplot(), table, title)

    return document(draw, _SIZE_INCHES)


def _draw(axes: Axes, table: Table, title: str) -> None:
    records = numbers(table.column("record_bytes"))
    axes.plot(
        records,
        numbers(table.column("closed_form_mib_per_second")),
        color=BLUE,
        label="closed form (equations 6 and 7)",
    )
    axes.plot(
        records,
        numbers(table.column("simulator_mib_per_second")),
        color=ORANGE,
        linestyle="none",
        marker="o",
        markersize=7,
        markerfacecolor="none",
        markeredgewidth=1.6,
        label="simulator",
    )
    axes.set_xscale("log", base=2)
    axes.set_xticks(records, [f"{record / 1024:g}" for record in records])
    axes.set_xticks([], minor=True)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("record (KiB)")
    axes.set_ylabel("bandwidth (MiB/s)")
    axes.set_title(title)
    axes.legend(loc="upper left")
