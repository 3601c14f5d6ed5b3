"""Rows as CSV: the one place where cells become text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

# With these a spreadsheet takes a text for a formula, and runs it.
_BEGIN_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")
# Python's own writer leaves a carriage return bare before 3.13: what follows began a line.
_PLAIN: Final = re.compile(r'[^,"\r\n]*')


def csv_text(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, digits: int | None = None
) -> str:
    """Write a table as CSV (RFC 4180, lines ended by a line feed).

    Parameters
    ----------
    columns
        Their names.
    rows
        Texts, numbers and None, which is an empty cell. A text that would be a formula gets an
        apostrophe before it, as spreadsheets hide it: names come from outside. Numbers stay
        numbers.
    digits
        Significant digits of floating-point numbers; as many as tell it from every other one
        where not given.
    """
    return "".join(_line(row, digits) for row in (columns, *rows))


def _line(row: Sequence[Any], digits: int | None) -> str:
    # An empty line would be no row.
    return (",".join(_cell(cell, digits) for cell in row) or '""') + "\n"


def _cell(cell: Any, digits: int | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and digits is not None:
        return f"{cell:.{digits}g}"
    if not isinstance(cell, str):
        return str(cell)
    # Bytes of a name that are no UTF-8 could not be written.
    text = cell.encode(errors="backslashreplace").decode()
    if text.startswith(_BEGIN_FORMULAS):
        text = f"'{text}"
    return text if _PLAIN.fullmatch(text) else '"{}"'.format(text.replace('"', '""'))
