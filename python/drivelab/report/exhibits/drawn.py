"""Which module draws which kind of exhibit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.pts.exhibits import (
    BarFigure,
    ColumnFigure,
    HistogramFigure,
    LineFigure,
)
from drivelab.report.exhibits.bars import drawn_bars
from drivelab.report.exhibits.columns import drawn_columns
from drivelab.report.exhibits.histogram import drawn_histogram
from drivelab.report.exhibits.lines import drawn_lines
from drivelab.report.exhibits.tables import drawn_table

if TYPE_CHECKING:
    from drivelab.pts.exhibits import Exhibit
    from drivelab.report.exhibits.looks import Drawn


def drawn(exhibit: Exhibit) -> Drawn:
    """Draw an exhibit; the same one is always the same bytes."""
    match exhibit:
        case LineFigure():
            return drawn_lines(exhibit)
        case ColumnFigure():
            return drawn_columns(exhibit)
        case HistogramFigure():
            return drawn_histogram(exhibit)
        case BarFigure():
            return drawn_bars(exhibit)
        case _:
            return drawn_table(exhibit)
