"""A table: named columns and rows, the CSV behind a figure, or an exhibit of its own."""

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
    """What stands around an exhibit of any kind.

    Attributes
    ----------
    lead
        Above it: what is varied and what is held.
    source
        Beside the title, such as ``figure 3``.
    cautions
        Below it: what limits it, a line each with more on demand.
    saved
        The tables behind it, where they are others than what is shown; none where it is empty.
    """

    lead: str = ""
    source: str = ""
    cautions: tuple[Caution, ...] = ()
    saved: tuple[Table, ...] | None = None


@dataclass(frozen=True)
class Table(Around):
    """Rows that a person can read, a figure draw and a program load.

    Attributes
    ----------
    name
        Stem of the CSV file.
    columns
        Names, each with the unit last where there is one.
    rows
        One tuple a row, as long as `columns`. None is an empty cell. Shown are numbers with the
        digits that they deserve.
    digits
        Significant digits of floating-point numbers in the CSV. Nine are more than any
        measurement carries and fewer than two libraries may disagree in.
    title, note
        Above and below it where it is shown.
    heads
        Headings above those of the columns, from the second on, each over so many columns.
    groups
        Headings between rows, each above so many of them.
    marked
        Row and column of cells that stand out.
    keys
        What each cell is sorted by: the reader may sort the table, of which the page shows the
        first rows until asked for all.
    right
        Whether all columns but the first hold numbers, written as texts.
    joins
        Whether the cells of a row that are all equal are set as one.
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
        """Return the rows as dictionaries, only those whose cells equal `where`."""
        rows = (dict(zip(self.columns, row, strict=True)) for row in self.rows)
        return [row for row in rows if all(row[key] == value for key, value in where.items())]

    def with_leading(self, **cells: Cell) -> Table:
        """Return the table with the same cells in front of every row."""
        return replace(
            self,
            columns=(*cells, *self.columns),
            rows=tuple((*cells.values(), *row) for row in self.rows),
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
