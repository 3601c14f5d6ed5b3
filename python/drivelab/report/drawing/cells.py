"""A value for each pair of categories as a heat map: an HTML table with coloured cells.

It is text: readers can select it, a screen reader can read it, and it needs no picture.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import CellFigure, Table
from drivelab.exhibits.number_text import value_text
from drivelab.exhibits.quantities import NOTHING, TIMES, latency_text, share_text
from drivelab.report.drawing.looks import (
    Drawn,
    HtmlTable,
    cell_style,
    parted_style,
    share_of_range,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from drivelab.exhibits import Axis, ColumnFigure

#: A factor above this, or below its inverse, gets the strongest colour.
_FULLEST: Final = 8.0
# Enough digits to compare cells; the CSV has all.
_TEXTS: Final[dict[str, Callable[[float], str]]] = {
    "number": lambda value: f"{value:,.0f}" if value >= 99.95 else f"{value:.3g}",
    "duration": latency_text,
    "share": share_text,
    "times": lambda value: f"{value:,.0f}{TIMES}" if value >= 9.95 else f"{value:.2g}{TIMES}",
}


def drawn_cells(figure: CellFigure) -> Drawn:
    """Return a heat map with the values in its cells, rounded for comparison."""
    return Drawn(
        name=figure.name,
        title=figure.title,
        saved=(pairs_table(figure),),
        table=heat_table(figure, corner="", text=_TEXTS[figure.z.quantity]),
        notes=(figure.note,) if figure.note else (),
        is_heat=True,
    )


def heat_table(
    figure: CellFigure | ColumnFigure, *, corner: str, text: Callable[[float], str] = value_text
) -> HtmlTable:
    """Return a row for each category of `y`, coloured from little to much, or from 1 both ways."""
    values = [value for row in figure.values for value in row if value is not None]
    texts = figure.texts if isinstance(figure, CellFigure) else ()
    rows = []
    for place, (name, row) in enumerate(zip(figure.y.categories, figure.values, strict=True)):
        cells = [(name, "")]
        for at, value in enumerate(row):
            instead = texts[place][at] if texts else ""
            if value is None:
                cells.append((NOTHING, ""))
            else:
                looks = "" if instead else _style(figure.z, value, values)
                cells.append((instead or text(value), looks))
        rows.append(tuple(cells))
    numeric = (False,) + (True,) * len(figure.x.categories)
    return HtmlTable((corner, *figure.x.categories), tuple(rows), numeric)


def _style(z: Axis, value: float, values: Sequence[float]) -> str:
    if z.quantity == "times":
        share = math.log(value) / math.log(_FULLEST) if value > 0 else -1.0
        return parted_style(min(max(share, -1.0), 1.0))
    # A value of 0 has no place on a logarithmic scale; it is lighter than any other.
    return cell_style(share_of_range(z, value, values) if value > 0 else 0.0)


def pairs_table(figure: CellFigure | ColumnFigure) -> Table:
    """Return one row for each pair of categories."""
    rows = [
        (row_name, column_name, value)
        for row_name, row in zip(figure.y.categories, figure.values, strict=True)
        for column_name, value in zip(figure.x.categories, row, strict=True)
    ]
    return Table(figure.name, (figure.y.label, figure.x.label, figure.z.label), tuple(rows))
