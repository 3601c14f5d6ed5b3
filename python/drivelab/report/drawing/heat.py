"""Counts on a grid, such as where requests go over time.

The cells are one image inside the drawing, because as many shapes would make the page slow. Colours
are those of all heat maps; empty cells show the paper. A dark page inverts the image.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.exhibits import Table
from drivelab.exhibits.number_text import number_text
from drivelab.report.drawing.axes import axis_text, left_inches, upright_label
from drivelab.report.drawing.line_styles import AreaStyle
from drivelab.report.drawing.looks import (
    FIRST_INCHES,
    WIDE_INCHES,
    Drawn,
    Panel,
    identifier,
    ramp,
    rgb_text,
)
from drivelab.report.drawing.svg import panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from drivelab.exhibits import Axis, HeatFigure
    from drivelab.report.drawing.looks import Legend

_HEIGHT_INCHES: Final = 3.3
_BOTTOM_INCHES: Final = 0.5
_RIGHT_INCHES: Final = 0.3
_TOP_INCHES: Final = 0.12
# A cell with a single request must be visible on paper.
_LEAST_SHARE: Final = 0.18
#: Number of colour samples in the legend.
_SAMPLES: Final = 5


def drawn_heat(figure: HeatFigure, *, is_narrow: bool = False) -> Drawn:
    """Draw counts on a grid, at the width of a phone if `is_narrow`."""
    panels: tuple[Panel, ...] = ()
    legend: Legend = ()
    if figure.cells:
        most = max(count for *_, count in figure.cells)
        left = left_inches(figure.y, [figure.ends[1]], _HEIGHT_INCHES)
        size = FIRST_INCHES if is_narrow else (WIDE_INCHES, _HEIGHT_INCHES)
        svg = panel(
            lambda axes: _draw(axes, figure, most, size[1]),
            size_inches=size,
            margins_inches=(left, _BOTTOM_INCHES, _RIGHT_INCHES, _TOP_INCHES),
            identifier=identifier(figure.name),
            label=f"{figure.title}: {figure.z.label}, {figure.y.label} over {figure.x.label}",
        )
        panels = (Panel(svg),)
        legend = tuple(
            (
                AreaStyle(rgb_text(ramp(_share(figure.z, count, most))), inverts=True),
                number_text(count),
            )
            for count in _samples(figure.z, most)
        )
    rows = tuple(
        (column * figure.column, row * figure.row, count) for column, row, count in figure.cells
    )
    columns = (f"{figure.x.label} from", f"{figure.y.label} from", figure.z.label)
    return Drawn(
        name=figure.name,
        title=figure.title,
        saved=(Table(figure.name, columns, rows),),
        panels=panels,
        legend=legend,
        notes=(f"Colour: {figure.z.label}.", *((figure.note,) if figure.note else ())),
    )


def _share(z: Axis, count: int, most: int) -> float:
    """Return the position of a count on the colour ramp, from 0 to 1."""
    if most <= 1:
        return 1.0
    is_log = z.scale == "log10"
    along = math.log(count) / math.log(most) if is_log else (count - 1) / (most - 1)
    return _LEAST_SHARE + (1 - _LEAST_SHARE) * along


def _samples(z: Axis, most: int) -> Sequence[int]:
    """Return round counts from the smallest to the largest."""
    if z.scale == "log10":
        decades = math.floor(math.log10(most))
        step = max(1, math.ceil(decades / _SAMPLES))
        found = [10**power for power in range(0, decades + 1, step)]
    else:
        found = [1]
    return found if found[-1] == most else [*found, most]


def _draw(axes: Axes, figure: HeatFigure, most: int, height: float) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    across = max(column for column, *_ in figure.cells) + 1
    up = max(row for _, row, _ in figure.cells) + 1
    image = np.zeros((up, across, 4), np.uint8)
    for column, row, count in figure.cells:
        red, green, blue = ramp(_share(figure.z, count, most))
        image[row, column] = (round(255 * red), round(255 * green), round(255 * blue), 255)
    axes.grid(visible=False)
    axes.imshow(
        image,
        extent=(0, across * figure.column, 0, up * figure.row),
        origin="lower",
        aspect="auto",
        interpolation="none",
    )
    axes.set_xlim(0, figure.ends[0])
    axes.set_ylim(0, figure.ends[1])
    bins_across = 8 if height == _HEIGHT_INCHES else 5
    for drawn, axis, bins in ((axes.xaxis, figure.x, bins_across), (axes.yaxis, figure.y, 6)):
        text = "{:,.10g}".format if axis.quantity == "number" else axis_text(axis)
        drawn.set_major_locator(MaxNLocator(nbins=bins, steps=(1, 2, 2.5, 5, 10)))
        drawn.set_major_formatter(FuncFormatter(lambda value, _, text=text: text(value)))
    axes.set_xlabel(figure.x.label)
    axes.set_ylabel(upright_label(figure.y, height))
