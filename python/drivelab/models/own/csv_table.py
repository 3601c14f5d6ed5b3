"""A CSV file as a table: the names of its columns, below them a measurement a line."""

from __future__ import annotations

import csv
import io
import re
from array import array
from pathlib import Path

from drivelab.errors import UsageError
from drivelab.models.own.cells import CellColumn
from drivelab.models.own.table import OwnTable, file_bytes


def read_csv(path: Path, table: OwnTable) -> None:
    """Put the rows of a CSV file below those of a table.

    Raises
    ------
    UsageError
        Names the file and line of what is wrong.
    """
    data = file_bytes(path, "a CSV file of measurements")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{path}, line {line}: not UTF-8 text; save the table as CSV in UTF-8"
        ) from error
    rows = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    lines = array("q")
    columns = None
    try:
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if columns is None:
                columns = _columns(f"{path}, line {rows.line_num}", row, table)
                continue
            if len(row) != len(columns):
                raise UsageError(
                    f"{path}, line {rows.line_num}: {len(row)} cells where {len(columns)} columns "
                    "are named; write a cell, which may be empty, for each"
                )
            for column, cell in zip(columns, row, strict=True):
                column.add(cell.strip())
            lines.append(rows.line_num)
    except csv.Error as error:
        raise UsageError(
            f"{path}, line {rows.line_num}: {error}; separate the cells by commas"
        ) from error
    if columns is None or not lines:
        raise UsageError(
            f"{path} contains no measurement; write the names of the columns, and below them "
            "one measurement per line"
        )
    table.end(str(path), "line", lines)


def _columns(where: str, row: list[str], table: OwnTable) -> list[CellColumn]:
    if len(row) == 1 and re.search("[;\t|]", row[0]):
        raise UsageError(f"{where}: no commas; separate the columns by commas")
    try:
        return table.begin(row)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
