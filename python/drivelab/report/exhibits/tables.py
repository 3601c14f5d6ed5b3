"""Tables of a report: numbers with the digits that they deserve, words as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.report.exhibits.axes import value_text
from drivelab.report.exhibits.looks import Drawn, HtmlTable
from drivelab.report.quantities import NOTHING
from drivelab.report.table import Table

if TYPE_CHECKING:
    from drivelab.pts.exhibits import Cell
    from drivelab.pts.exhibits import Table as Exhibited


def drawn_table(exhibit: Exhibited) -> Drawn:
    """Set a table."""
    rows = tuple(tuple((cell_text(cell), "") for cell in row) for row in exhibit.rows)
    numeric = tuple(
        any(isinstance(row[place], (int, float)) for row in exhibit.rows)
        for place in range(len(exhibit.columns))
    )
    return Drawn(
        name=exhibit.name,
        title=exhibit.title,
        saved=Table(exhibit.name, exhibit.columns, exhibit.rows),
        table=HtmlTable(exhibit.columns, rows, numeric),
        notes=(exhibit.note,) if exhibit.note else (),
    )


def cell_text(cell: Cell) -> str:
    """Write a cell for people."""
    if cell is None:
        return NOTHING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return value_text(cell) if isinstance(cell, float) else cell
