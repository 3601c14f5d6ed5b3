"""Choosing the module that draws an exhibit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import (
    BarFigure,
    CellFigure,
    ColumnFigure,
    HeatFigure,
    HistogramFigure,
    LaneFigure,
    LineFigure,
    Multiples,
    ScatterFigure,
    Table,
    TreeFigure,
)
from drivelab.report.drawing.bars import drawn_bars
from drivelab.report.drawing.cells import drawn_cells
from drivelab.report.drawing.columns import drawn_columns
from drivelab.report.drawing.heat import drawn_heat
from drivelab.report.drawing.histogram import drawn_histogram
from drivelab.report.drawing.lanes import drawn_lanes
from drivelab.report.drawing.lines import drawn_lines
from drivelab.report.drawing.looks import Drawn
from drivelab.report.drawing.multiples import drawn_multiples
from drivelab.report.drawing.scatter import drawn_scatter
from drivelab.report.drawing.tables import drawn_table
from drivelab.report.drawing.tree import drawn_tree

if TYPE_CHECKING:
    from drivelab.exhibits import Figure


def drawn(exhibit: Figure | Multiples | Table, *, first: bool = False) -> Drawn:
    """Draw an exhibit; the same exhibit always gives the same bytes.

    Parameters
    ----------
    exhibit
        The exhibit.
    first
        Whether it is the first picture of a page. A phone shows that one unscaled, so a wide
        drawing is made as small as a narrow one.
    """
    draw = _DRAWINGS[type(exhibit)]
    is_narrow = first and type(exhibit) in _NARROW
    drawing = draw(exhibit, is_narrow=True) if is_narrow else draw(exhibit)
    return replace(
        drawing,
        lead=exhibit.lead,
        source=exhibit.source,
        cautions=exhibit.cautions,
        saved=drawing.saved if exhibit.saved is None else exhibit.saved,
    )


#: Kinds that fill a sheet of paper, and have a second form for a phone.
_NARROW: Final = (BarFigure, HeatFigure, LaneFigure, LineFigure)
#: A new kind of exhibit needs its data in `drivelab.exhibits`, a module here, and a line here.
_DRAWINGS: Final[dict[type, Callable[..., Drawn]]] = {
    BarFigure: drawn_bars,
    CellFigure: drawn_cells,
    ColumnFigure: drawn_columns,
    HeatFigure: drawn_heat,
    HistogramFigure: drawn_histogram,
    LaneFigure: drawn_lanes,
    LineFigure: drawn_lines,
    Multiples: drawn_multiples,
    ScatterFigure: drawn_scatter,
    Table: drawn_table,
    TreeFigure: drawn_tree,
}
