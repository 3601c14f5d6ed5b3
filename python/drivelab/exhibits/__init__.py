"""What can be shown, as data: exhibits know nothing of paper or screen.

Investigations make exhibits of their results; `drivelab.report` draws each kind, saves the numbers
behind it as CSV and lays any list of them out. So a new investigation needs no drawing, and a new
drawing no investigation.

`table` is numbers with named columns, `figures` what is drawn, `texts` what is said, `report` how
they stand together; `quantities` and `number_text` write values for people.
"""

from drivelab.exhibits.figures import (
    Axis,
    BarFigure,
    CellFigure,
    ColumnFigure,
    Figure,
    HeatFigure,
    HistogramFigure,
    LaneBar,
    LaneFigure,
    Line,
    LineFigure,
    Multiples,
    ScatterFigure,
    TreeFigure,
    TreeNode,
)
from drivelab.exhibits.report import Exhibit, First, Page, Report
from drivelab.exhibits.table import Cell, Table, number, numbers
from drivelab.exhibits.texts import Card, Cards, Caution, Cautions, Document, Facts, Text
from drivelab.exhibits.what_if import WhatIf

__all__ = [
    "Axis",
    "BarFigure",
    "Card",
    "Cards",
    "Caution",
    "Cautions",
    "Cell",
    "CellFigure",
    "ColumnFigure",
    "Document",
    "Exhibit",
    "Facts",
    "Figure",
    "First",
    "HeatFigure",
    "HistogramFigure",
    "LaneBar",
    "LaneFigure",
    "Line",
    "LineFigure",
    "Multiples",
    "Page",
    "Report",
    "ScatterFigure",
    "Table",
    "Text",
    "TreeFigure",
    "TreeNode",
    "WhatIf",
    "number",
    "numbers",
]
