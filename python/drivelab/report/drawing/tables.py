"""Tables of a report: numbers rounded for reading, texts as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits.number_text import value_text
from drivelab.exhibits.quantities import NOTHING
from drivelab.report.drawing.looks import Drawn, HtmlTable

if TYPE_CHECKING:
    from drivelab.exhibits import Cell, Table

#: Rows that a page shows at first of a table that the reader may sort.
SHOWN_ROWS: Final = 100


def drawn_table(exhibit: Table) -> Drawn:
    """Lay out a table for the page."""
    sorts = bool(exhibit.keys)
    texts = [[cell_text(cell) for cell in row] for row in exhibit.rows]
    shown = texts[:SHOWN_ROWS] if sorts else texts
    numeric = tuple(
        sorts
        or (exhibit.right and place > 0)
        or any(isinstance(row[place], (int, float)) for row in exhibit.rows)
        for place in range(len(exhibit.columns))
    )
    joined = frozenset(
        place
        for place, row in enumerate(exhibit.rows)
        if exhibit.joins and len(set(row[1:])) == 1 and row[1] is not None
    )
    return Drawn(
        name=exhibit.name,
        title=exhibit.title,
        saved=(exhibit,),
        table=HtmlTable(
            exhibit.columns,
            tuple(tuple((text, "") for text in row) for row in shown),
            numeric,
            heads=exhibit.heads,
            groups=exhibit.groups,
            marked=exhibit.marked,
            joined=joined,
            sorts=sorts,
            total=len(texts),
        ),
        notes=(exhibit.note,) if exhibit.note else (),
        sorted=(texts, [list(keys) for keys in exhibit.keys]) if sorts else None,
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
