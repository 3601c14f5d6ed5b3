"""A table: named columns, rows, and the CSV that stands behind a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from drivelab.csv_text import csv_text

if TYPE_CHECKING:
    from collections.abc import Iterable

Cell: TypeAlias = "str | int | float | None"


@dataclass(frozen=True)
class Table:
    """Rows that a figure draws and a person can save.

    Attributes
    ----------
    name
        Stem of the CSV file.
    columns
        Column names, the unit last where there is one.
    rows
        One tuple a row, as long as `columns`. None is an empty cell.
    digits
        Significant digits of floating-point numbers in the CSV. Nine are more than any
        measurement carries and fewer than two libraries may disagree in.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 9

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name}: a row of {len(row)} cells, {self.columns}")

    def column(self, name: str) -> list[Cell]:
        """Return the cells of one column, from the first row to the last."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def records(self, **where: Cell) -> list[dict[str, Cell]]:
        """Return the rows as dictionaries, only those whose cells equal `where`."""
        rows = (dict(zip(self.columns, row, strict=True)) for row in self.rows)
        return [row for row in rows if all(row[key] == value for key, value in where.items())]

    def with_leading(self, **cells: Cell) -> Table:
        """Return the table with the same cells in front of every row."""
        return Table(
            name=self.name,
            columns=(*cells, *self.columns),
            rows=tuple((*cells.values(), *row) for row in self.rows),
            digits=self.digits,
        )

    def csv(self) -> str:
        """Return the table as CSV."""
        return csv_text(self.columns, self.rows, digits=self.digits)


def number(cell: Cell) -> float:
    """Return a cell that must hold a number.

    Raises
    ------
    TypeError
        When it is empty or a text: a figure asked for the wrong column.
    """
    if cell is None or isinstance(cell, str):
        raise TypeError(f"{cell!r} is no number")
    return float(cell)


def numbers(cells: Iterable[Cell]) -> list[float]:
    """Return the numbers among cells, leaving out what is empty."""
    return [number(cell) for cell in cells if cell is not None]
