"""Tables as text for a terminal: numbers right-aligned, widths as the terminal shows them."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import TYPE_CHECKING, Final

from drivelab.report.drawing.tables import cell_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.exhibits import Cell, Table

#: Text of an empty cell; not every terminal can show a dash.
NOTHING: Final = "-"
_MARK: Final = " *"


def table_lines(table: Table, *, left: int = 1, head_width: int | None = None) -> list[str]:
    """Return a table as lines: title, heads, rows and note, if it has them.

    Parameters
    ----------
    table
        The table. Numbers are rounded for reading, texts stay as they are, marked cells get a star.
    left
        Number of left-aligned first columns; the others are right-aligned.
    head_width
        Longer heads are wrapped; None keeps each head on one line.
    """
    heads = [_wrapped(name, head_width) for name in table.columns]
    height = max(map(len, heads), default=0)
    above = zip(*([""] * (height - len(head)) + head for head in heads), strict=True)
    rows = [[_text(cell) for cell in row] for row in table.rows]
    lines = aligned(_starred(table, [*map(list, above), *rows], height), left=left)
    return [*_said(table.title), *(line.rstrip() for line in lines), *_said(table.note)]


def aligned(rows: Sequence[Sequence[str]], *, left: int) -> list[str]:
    """Align rows in columns: the first `left` columns left, the others right."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell + _blanks(cell, width) if place < left else _blanks(cell, width) + cell
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def display_width(text: str) -> int:
    """Return the width of a text in terminal cells; East Asian wide characters take two."""
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )


def _starred(table: Table, rows: list[list[str]], heads: int) -> list[list[str]]:
    """Add a star to marked cells, and a space to the other cells of their columns."""
    columns = {column for _, column in table.marked}
    return [
        [
            cell
            if column not in columns
            else cell + (_MARK if (row - heads, column) in table.marked else " " * len(_MARK))
            for column, cell in enumerate(cells)
        ]
        for row, cells in enumerate(rows)
    ]


def _blanks(cell: str, width: int) -> str:
    return " " * (width - display_width(cell))


def _text(cell: Cell) -> str:
    return NOTHING if cell is None else cell_text(cell)


def _wrapped(text: str, width: int | None) -> list[str]:
    return [text] if width is None else textwrap.wrap(text, width) or [""]


def _said(text: str) -> list[str]:
    return [text] if text else []
