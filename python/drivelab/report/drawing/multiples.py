"""Small figures side by side, with a common legend if possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.exhibits import LineFigure
from drivelab.report.drawing.lines import drawn_lines
from drivelab.report.drawing.looks import Drawn
from drivelab.report.drawing.scatter import drawn_scatter

if TYPE_CHECKING:
    from drivelab.exhibits import Multiples


def drawn_multiples(exhibit: Multiples) -> Drawn:
    """Draw figures side by side."""
    found = [
        drawn_lines(figure, small=True) if isinstance(figure, LineFigure) else drawn_scatter(figure)
        for figure in exhibit.figures
    ]
    entries = list(dict.fromkeys(entry for one in found for entry in one.legend))
    # If every name has one look and every look one name, one legend is enough for all panels.
    styles, labels = {style for style, _ in entries}, {label for _, label in entries}
    is_shared = len(styles) == len(labels) == len(entries)
    return Drawn(
        name=exhibit.name,
        title=exhibit.title,
        saved=tuple(table for one in found for table in one.saved),
        panels=tuple(panel for one in found for panel in one.panels),
        columns=exhibit.columns,
        legend=tuple(entries) if is_shared and len(entries) > 1 else (),
        legends=() if is_shared else tuple((one.title, one.legend) for one in found),
        notes=(exhibit.note,) if exhibit.note else (),
        tips={name: texts for one in found for name, texts in one.tips.items()},
    )
