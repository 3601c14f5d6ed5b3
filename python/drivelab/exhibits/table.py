"""A table: named columns and rows. It is shown by itself or is the CSV behind a figure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from drivelab.csv_text import csv_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from drivelab.exhibits.texts import Caution

Cell: TypeAlias = "str | int | float | None"


@dataclass(frozen=True, kw_only=True)
class Around:
    """The surroundings of an exhibit of any kind.

    Attributes
    ----------
    lead
        Text above it: what varies and what stays constant.
    source
        Text next to the title, such as ``figure 3``.
    cautions
        Warnings below it: one line each, with more on demand.
    saved
        Tables to save for it, if they differ from what is shown; otherwise empty.
    """

    lead: str = ""
    source: str = ""
    cautions: tuple[Caution, ...] = ()
    saved: tuple[Table, ...] | None = None


@dataclass(frozen=True)
class Table(Around):
    """Rows that a person can read, a figure can draw and a program can load.

    Attributes
    ----------
    name
        Name of the CSV file, without its suffix.
    columns
        Names of the columns; a unit comes last in the name.
    rows
        One tuple per row, as long as `columns`. None is an empty cell. The page rounds numbers
        for reading.
    digits
        Significant digits of floating-point numbers in the CSV. Nine are more than any measurement
        has, and few enough that two mathematical libraries give the same text.
    title, note
        Texts above and below the table.
    heads
        Headings above those of the columns, from the second column on, each with the number of
        columns that it spans.
    groups
        Headings between rows, each with the number of rows below it.
    marked
        Row and column of highlighted cells.
    keys
        Sort key of each cell. With keys the reader can sort the table, and the page shows only the
        first rows until asked for all.
    right
        Whether all columns except the first hold numbers that are given as texts.
    joins
        Whether to merge the cells of a row if all are equal.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 9
    title: str = field(default="", kw_only=True)
    note: str = field(default="", kw_only=True)
    heads: tuple[tuple[str, int], ...] = field(default=(), kw_only=True)
    groups: tuple[tuple[str, int], ...] = field(default=(), kw_only=True)
    marked: frozenset[tuple[int, int]] = field(default=frozenset(), kw_only=True)
    keys: tuple[tuple[float | None, ...], ...] = field(default=(), kw_only=True)
    right: bool = field(default=False, kw_only=True)
    joins: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name}: a row of {len(row)} cells, {self.columns}")

    def column(self, name: str) -> list[Cell]:
        """Return the cells of one column, from the first row to the last."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def records(self, **where: Cell) -> list[dict[str, Cell]]:
        """Return the rows as dictionaries; with `where`, only rows with these cells."""
        rows = (dict(zip(self.columns, row, strict=True)) for row in self.rows)
        return [row for row in rows if all(row[key] == value for key, value in where.items())]

    def with_leading(self, **cells: Cell) -> Table:
        """Return the table with these cells in front of every row."""
        return replace(
            self,
            columns=(*cells, *self.columns),
            rows=tuple((*cells.values(), *row) for row in self.rows),
        )

    def csv(self) -> str:
        """Return the table as CSV."""
        return csv_text(self.columns, self.rows, digits=self.digits)


def number(cell: Cell) -> float:
    """Return a cell that must be a number.

    Raises
    ------
    TypeError
        When it is empty or a text, which means that a figure uses the wrong column.
    """
    if cell is None or isinstance(cell, str):
        raise TypeError(f"{cell!r} is not a number")
    return float(cell)


def numbers(cells: Iterable[Cell]) -> list[float]:
    """Return the numbers among cells; empty cells are left out."""
    return [number(cell) for cell in cells if cell is not None]
