"""Writing rows as CSV. All CSV files of Drivelab are written here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

# A spreadsheet takes a text that begins with one of these for a formula and runs it.
_BEGIN_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")
# Before 3.13 Python's writer does not quote a lone carriage return, which then starts a new row.
_PLAIN: Final = re.compile(r'[^,"\r\n]*')


def csv_text(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, digits: int | None = None
) -> str:
    """Write a table as CSV (RFC 4180, lines ended by a line feed).

    Parameters
    ----------
    columns
        Names of the columns.
    rows
        Texts, numbers or None; None is an empty cell. A text that a spreadsheet would run as a
        formula gets an apostrophe in front, which spreadsheets do not show: names come from
        outside. Numbers stay numbers.
    digits
        Significant digits of floating-point numbers. Without it, as many digits as are needed to
        read the same number back.
    """
    return "".join(_line(row, digits) for row in (columns, *rows))


def _line(row: Sequence[Any], digits: int | None) -> str:
    # A reader would skip an empty line, so a row of one empty cell is quoted.
    return (",".join(_cell(cell, digits) for cell in row) or '""') + "\n"


def _cell(cell: Any, digits: int | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and digits is not None:
        return f"{cell:.{digits}g}"
    if not isinstance(cell, str):
        return str(cell)
    # A name may contain bytes that are not UTF-8; they could not be written.
    text = cell.encode(errors="backslashreplace").decode()
    if text.startswith(_BEGIN_FORMULAS):
        text = f"'{text}"
    return text if _PLAIN.fullmatch(text) else '"{}"'.format(text.replace('"', '""'))
