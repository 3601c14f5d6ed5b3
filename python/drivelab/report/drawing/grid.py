"""Small line figures on a grid, as an SVG file of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits import LineFigure
from drivelab.report.drawing.axes import left_inches
from drivelab.report.drawing.lines import draw_small
from drivelab.report.drawing.looks import SMALL_INCHES
from drivelab.report.drawing.svg import document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure

    from drivelab.exhibits import Multiples

    Row = Sequence[LineFigure]

_HEAD_INCHES: Final = 0.55
_BOTTOM_INCHES: Final = 0.55
_RIGHT_INCHES: Final = 0.2
# Space above the axes of each figure for its title and its legend.
_TITLE_INCHES: Final = 0.34
_LEGEND_ROW_INCHES: Final = 0.19


def _rows(exhibit: Multiples) -> Iterator[Row]:
    """Yield the figures row by row."""
    figures = [figure for figure in exhibit.figures if isinstance(figure, LineFigure)]
    for start in range(0, len(figures), exhibit.columns):
        yield figures[start : start + exhibit.columns]


def grid_document(exhibits: Sequence[Multiples], heading: str, note: str) -> str:
    """Draw line figures as one SVG document, each with its legend above its axes.

    Parameters
    ----------
    exhibits
        Groups of line figures; each group starts a new row.
    heading, note
        Title of the document, and a line below it.

    Returns
    -------
    str
        Equal input gives equal bytes.
    """
    grid = [row for exhibit in exhibits for row in _rows(exhibit)]
    columns, rows = max(map(len, grid)), len(grid)
    figures = [
        (row, column, one) for row, ones in enumerate(grid) for column, one in enumerate(ones)
    ]
    legend_rows = max(-(-len(figure.lines) // 2) for _, _, figure in figures)
    above = _TITLE_INCHES + _LEGEND_ROW_INCHES * legend_rows
    plot = SMALL_INCHES[1] - _BOTTOM_INCHES
    row_inches = above + plot + _BOTTOM_INCHES
    width, height = columns * SMALL_INCHES[0], _HEAD_INCHES + rows * row_inches

    def draw(drawing: Figure) -> None:
        drawing.text(0.1 / width, 1 - 0.24 / height, heading, fontsize=11, fontweight="bold")
        drawing.text(0.1 / width, 1 - 0.44 / height, note, fontsize=8.5)
        for row, column, figure in figures:
            heights = [y for line in figure.lines for y in (*line.y, *line.high)]
            left = left_inches(figure.y, [*heights, *figure.y.also], plot)
            axes = drawing.add_axes(
                (
                    (column * SMALL_INCHES[0] + left) / width,
                    ((rows - 1 - row) * row_inches + _BOTTOM_INCHES) / height,
                    (SMALL_INCHES[0] - left - _RIGHT_INCHES) / width,
                    plot / height,
                )
            )
            draw_small(axes, figure, plot)
            # No corner of the frame is free for certain: lines and bands may be anywhere.
            axes.set_title(figure.title, pad=4 + 72 * _LEGEND_ROW_INCHES * legend_rows)
            axes.legend(
                loc="lower left",
                bbox_to_anchor=(0, 1),
                ncols=2,
                borderaxespad=0.2,
                columnspacing=1.2,
            )

    return document(draw, (width, height))
