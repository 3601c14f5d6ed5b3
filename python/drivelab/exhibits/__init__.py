"""Exhibits: what a report can show, as data without any drawing.

Investigations turn their results into exhibits. `drivelab.report` draws each kind of exhibit, saves
its numbers as CSV and lays out any list of them. So a new investigation needs no drawing code, and
a new drawing needs no investigation.

`table` holds numbers in named columns, `figures` the kinds of figures, `texts` words and cautions,
`report` pages and their order. `quantities` and `number_text` write values for people.
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
