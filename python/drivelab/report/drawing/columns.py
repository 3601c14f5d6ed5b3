"""A value for each pair of categories: 3-D columns, and the same values as a heat map.

The view is from the front right. An axis is reversed if that puts tall columns at the back. Columns
that are still hidden can be read in the table next to the drawing, whose cells have the same
colours.

    height
      |   / rows (y)
      |  /
      | /
      o------ columns (x)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from matplotlib.collections import PolyCollection

from drivelab.exhibits.number_text import number_text
from drivelab.report.drawing.cells import heat_table, pairs_table
from drivelab.report.drawing.looks import (
    WIDE_INCHES,
    Drawn,
    Panel,
    identifier,
    ramp,
    share_of_range,
)
from drivelab.report.drawing.svg import INK, panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from drivelab.exhibits import Axis, ColumnFigure

    Point = tuple[float, float]
    Color = tuple[float, float, float]

# One step along x and along y on paper, in units of the drawing.
_ALONG_X: Final = (0.92, -0.30)
_ALONG_Y: Final = (0.60, 0.42)
# Share of its cell that a column fills.
_FILLED: Final = 0.68
_FLOOR: Final = "#9AA5B1"
_WIDTH_INCHES: Final = 4.6
# With longer row names the drawing takes the full width, and the table is below.
_LONGEST_BESIDE: Final = 12
# Margins of the field: names of heights, names of rows, space above.
_LEFT_INCHES: Final = 0.85
_LABEL_INCHES: Final = 0.25
_TOP_INCHES: Final = 0.1
_LETTER_INCHES: Final = 0.062
# Width of a digit in the names of heights.
_DIGIT_INCHES: Final = 0.072
# Angle of the column names.
_TURN: Final = 38.0


def drawn_columns(figure: ColumnFigure) -> Drawn:
    """Draw a table of values as columns and as a heat map."""
    values = [value for row in figure.values for value in row if value is not None]
    panels: tuple[Panel, ...] = ()
    if values:
        field = _field(figure, values)
        svg = panel(
            lambda axes: _draw(axes, figure, field, values),
            size_inches=(field.width_inches, field.inches(field.high_up - field.low_down)),
            margins_inches=(0, 0, 0, 0),
            identifier=identifier(figure.name),
            label=f"{figure.title}, columns in three dimensions",
        )
        panels = (Panel(svg),)
    return Drawn(
        name=figure.name,
        title=figure.title,
        saved=(pairs_table(figure),),
        panels=panels,
        table=heat_table(figure, corner=f"{figure.y.label} \\ {figure.x.label}"),
        notes=(figure.note,) if figure.note else (),
        beside=bool(panels) and _longest(figure.y) <= _LONGEST_BESIDE,
    )


@dataclass(frozen=True)
class _Field:
    """The categories in drawing order, front first, and the scale of heights."""

    columns: tuple[int, ...]
    rows: tuple[int, ...]
    height: float
    low: float
    high: float
    logarithmic: bool
    letters: int
    row_letters: int

    @property
    def width_inches(self) -> float:
        """Width of the drawing."""
        return _WIDTH_INCHES if self.row_letters <= _LONGEST_BESIDE else WIDE_INCHES

    @property
    def left_inches(self) -> float:
        """Space left of the field for the names of heights and their label."""
        longest = max(len(number_text(tick)) for tick in _ticks(self))
        return max(_LEFT_INCHES, _LABEL_INCHES + 0.06 + _DIGIT_INCHES * longest)

    @property
    def unit(self) -> float:
        """Inches per unit of the drawing."""
        across = len(self.columns) * _ALONG_X[0] + len(self.rows) * _ALONG_Y[0]
        right = 0.2 + _LETTER_INCHES * max(self.row_letters, 11)
        return (self.width_inches - self.left_inches - right) / across

    @property
    def names_reach(self) -> float:
        """How far the names of columns extend below the front edge, in units."""
        return (0.22 + 0.83 * self.letters * _LETTER_INCHES) / self.unit

    @property
    def low_down(self) -> float:
        """Lower end of the drawing, with space for what is below the front edge."""
        names = math.sin(math.radians(_TURN)) * self.letters * _LETTER_INCHES + 0.2
        corner = len(self.columns) * _ALONG_X[1] - names / self.unit
        middle = self.at(len(self.columns) / 2, 0)[1]
        return min(corner, middle - self.names_reach - 0.75 / self.unit)

    @property
    def high_up(self) -> float:
        """Upper end of the drawing."""
        return len(self.rows) * _ALONG_Y[1] + self.height + _TOP_INCHES / self.unit

    def inches(self, units: float) -> float:
        """Convert a length of the drawing to inches."""
        return units * self.unit

    def at(self, x: float, y: float, up: float = 0.0) -> Point:
        """Return the position of a point of the field on paper."""
        return (
            x * _ALONG_X[0] + y * _ALONG_Y[0],
            x * _ALONG_X[1] + y * _ALONG_Y[1] + up,
        )

    def up(self, value: float) -> float:
        """Return the height of a value on paper."""
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.height * min(max(share, 0.0), 1.0)


def _draw(axes: Axes, figure: ColumnFigure, field: _Field, values: Sequence[float]) -> None:
    nx, ny = len(field.columns), len(field.rows)
    axes.set_axis_off()
    unit = field.unit
    axes.set_xlim(-field.left_inches / unit, (field.width_inches - field.left_inches) / unit)
    axes.set_ylim(field.low_down, field.high_up)
    _walls(axes, figure.z, field)
    faces: list[tuple[list[Point], Color]] = []
    for y in reversed(range(ny)):
        for x in range(nx):
            value = figure.values[field.rows[y]][field.columns[x]]
            if value is not None:
                share = share_of_range(figure.z, value, values) if value > 0 else 0.0
                up = field.up(value) if value > 0 else 0.0
                faces += _column(field, (x, y, up), ramp(share))
    # From back to front, in drawing order.
    axes.add_collection(
        PolyCollection(
            [corners for corners, _ in faces],
            facecolors=[color for _, color in faces],
            edgecolors=INK,
            linewidths=0.35,
            zorder=2,
        ),
        autolim=False,
    )
    _names(axes, figure, field)


def _field(figure: ColumnFigure, values: Sequence[float]) -> _Field:
    positive = [value for value in values if value > 0]
    logarithmic = figure.z.scale != "linear" and bool(positive)
    if logarithmic:
        # The scale starts a decade below the least value, so that its column is visible.
        low = 10.0 ** math.floor(math.log10(min(positive) / 1.5))
        high = 10.0 ** math.ceil(math.log10(max(positive)) - 1e-9)
        high = max(high, 10 * low)
    else:
        low, high = 0.0, max(1e-12, *values)
    rows = [_mean(row) for row in figure.values]
    columns = [_mean(column) for column in zip(*figure.values, strict=True)]
    # Front to back along y, and back to front along x: x grows towards the viewer.
    y_order = range(len(rows)) if _rises(rows) else reversed(range(len(rows)))
    x_order = reversed(range(len(columns))) if _rises(columns) else range(len(columns))
    across = len(columns) * _ALONG_X[0] + len(rows) * _ALONG_Y[0]
    return _Field(
        columns=tuple(x_order),
        rows=tuple(y_order),
        height=0.42 * across,
        low=low,
        high=high,
        logarithmic=logarithmic,
        letters=_longest(figure.x),
        row_letters=_longest(figure.y),
    )


def _longest(axis: Axis) -> int:
    return max(map(len, axis.categories))


def _mean(values: Sequence[float | None]) -> float:
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else 0.0


def _rises(values: Sequence[float]) -> bool:
    half = len(values) // 2
    return sum(values[len(values) - half :]) >= sum(values[:half])


def _ticks(field: _Field) -> list[float]:
    if field.logarithmic:
        decades = round(math.log10(field.high / field.low))
        step = math.ceil(decades / 6)
        return [field.low * 10.0**power for power in range(0, decades + 1, step)]
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(nbins=5).tick_values(0, field.high)
    return [float(tick) for tick in ticks if 0 <= tick <= field.high]


def _walls(axes: Axes, z: Axis, field: _Field) -> None:
    unit = field.unit
    nx, ny = len(field.columns), len(field.rows)
    corners = [field.at(0, 0), field.at(nx, 0), field.at(nx, ny), field.at(0, ny)]
    floor: dict[str, Any] = {
        "facecolor": "#F4F6F8",
        "edgecolor": _FLOOR,
        "linewidth": 0.8,
        "zorder": 0,
    }
    axes.fill(*zip(*corners, strict=True), **floor)
    for tick in _ticks(field):
        up = field.up(tick)
        line = [field.at(0, 0, up), field.at(0, ny, up), field.at(nx, ny, up)]
        axes.plot(*zip(*line, strict=True), color="#D9DFE6", linewidth=0.7, zorder=0)
        x, y = line[0]
        axes.text(
            x - 0.06 / unit,
            y,
            number_text(tick),
            horizontalalignment="right",
            verticalalignment="center",
            fontsize=8,
        )
    posts = ((0, 0), (0, ny), (nx, ny))
    for x_at, y_at in posts:
        ends = [field.at(x_at, y_at), field.at(x_at, y_at, field.height)]
        axes.plot(*zip(*ends, strict=True), color=_FLOOR, linewidth=0.8, zorder=0)
    axes.text(
        (0.13 - field.left_inches) / unit,
        field.height / 2,
        z.label,
        rotation=90,
        horizontalalignment="center",
        verticalalignment="center",
        fontsize=9,
    )


def _column(
    field: _Field, place: tuple[int, int, float], color: Color
) -> list[tuple[list[Point], Color]]:
    """Return the three visible faces of a column and their colours."""
    x, y, up = place
    gap = (1 - _FILLED) / 2
    x0, x1, y0, y1 = x + gap, x + 1 - gap, y + gap, y + 1 - gap
    faces = (
        # The front, the right side and the top, each with its own brightness.
        (((x0, y0, 0), (x1, y0, 0), (x1, y0, up), (x0, y0, up)), 0.0),
        (((x1, y0, 0), (x1, y1, 0), (x1, y1, up), (x1, y0, up)), -0.22),
        (((x0, y0, up), (x1, y0, up), (x1, y1, up), (x0, y1, up)), 0.35),
    )
    return [
        ([field.at(*corner) for corner in corners], _lit(color, light)) for corners, light in faces
    ]


def _lit(color: tuple[float, float, float], light: float) -> tuple[float, float, float]:
    red, green, blue = (
        part + light * (1 - part) if light > 0 else part * (1 + light) for part in color
    )
    return red, green, blue


def _names(axes: Axes, figure: ColumnFigure, field: _Field) -> None:
    unit = field.unit
    nx = len(field.columns)
    for place, column in enumerate(field.columns):
        x, y = field.at(place + 0.5, 0)
        axes.text(
            x,
            y - 0.05 / unit,
            figure.x.categories[column],
            horizontalalignment="right",
            verticalalignment="top",
            rotation=_TURN,
            rotation_mode="anchor",
            fontsize=8,
        )
    # With many rows the letters are smaller, so that names do not overlap.
    size = min(8.0, 72.0 * unit * _ALONG_Y[1])
    for place, row in enumerate(field.rows):
        x, y = field.at(nx, place + 0.5)
        axes.text(
            x + 0.07 / unit,
            y - 0.02 / unit,
            figure.y.categories[row],
            horizontalalignment="left",
            verticalalignment="center",
            fontsize=size,
        )
    # Below the names, along their edge.
    x, y = field.at(nx / 2, 0)
    slope = math.atan2(_ALONG_X[1], _ALONG_X[0])
    axes.text(
        x + field.names_reach * math.sin(slope),
        y - field.names_reach * math.cos(slope),
        figure.x.label,
        rotation=math.degrees(slope),
        rotation_mode="anchor",
        horizontalalignment="center",
        verticalalignment="top",
    )
    # Below the names, at their left end.
    x, y = field.at(nx, 0.5)
    axes.text(
        x + 0.07 / unit,
        y - 0.13 / unit,
        figure.y.label,
        horizontalalignment="left",
        verticalalignment="top",
    )
