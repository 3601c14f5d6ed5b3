"""A table of settings and results that somebody measured: rows of one or several files.

Files of one call are put below each other; what a file has no column for is empty in its rows.
Every mistake is reported with the file and the line, row or job.
"""

from __future__ import annotations

import math
import stat
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from drivelab.errors import UsageError
from drivelab.models.features import UNITS, FloatArray
from drivelab.models.measured import METRICS
from drivelab.models.own.cells import CellColumn
from drivelab.models.own.names import characteristic_of, is_result, unit_of
from drivelab.models.predictor import IntArray
from drivelab.named_file import reason_unread
from drivelab.near_names import meant
from drivelab.runs.columns import exported_results
from drivelab.workloads.given import shown

MOST_BYTES: Final = 2**30
MOST_ROWS: Final = 2_000_000
MOST_COLUMNS: Final = 500
# Characters of a name in an error.
_MOST_LETTERS: Final = 100


@dataclass
class OwnTable:
    """Columns by name, as the files have them.

    Attributes
    ----------
    cells
        By column.
    usual_targets
        What the files are known to have measured; empty where nobody knows.
    results
        Columns that hold results because Drivelab wrote them, whatever they are called.
    remarks
        What was left out, a line each.
    """

    cells: dict[str, CellColumn] = field(default_factory=dict)
    usual_targets: tuple[str, ...] = ()
    results: frozenset[str] = frozenset()
    remarks: list[str] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _files: list[tuple[str, str, Sequence[object]]] = field(default_factory=list)
    _begun: frozenset[str] = frozenset()
    _are_exports: bool = True
    _named: list[frozenset[str]] = field(default_factory=list)
    rows: int = 0

    def begin(self, names: Iterable[str]) -> list[CellColumn]:
        """Return the columns that a file fills, in its order; `end` ends it.

        Names lose what is around them and breaks of lines in them.

        Raises
        ------
        UsageError
            When there are too many, one has no name, or two have the same.
        """
        listed = [" ".join(name.split()) for name in names]
        if len(listed) > MOST_COLUMNS:
            raise UsageError(f"{len(listed):,} columns; {MOST_COLUMNS} are the most")
        for number, name in enumerate(listed, 1):
            if not name:
                raise UsageError(f"column {number} has no name; write one, or remove the column")
            if len(name) > _MOST_LETTERS:
                raise UsageError(
                    f"the name of column {number} is longer than {_MOST_LETTERS} letters"
                )
            if name in listed[: number - 1]:
                raise UsageError(f"two columns are called {shown(name)}; rename one")
        self._begun = frozenset(listed)
        exported = exported_results(listed)
        self.results |= frozenset(exported)
        self._are_exports = self._are_exports and bool(exported)
        self.usual_targets = METRICS if self._are_exports else ()
        for name in listed:
            if name not in self.cells:
                self.cells[name] = CellColumn(name)
                self.cells[name].skip(self.rows)
        return [self.cells[name] for name in listed]

    def end(self, file: str, word: str, places: Sequence[object]) -> None:
        """Say which rows a file had: where each stands, as ``line 7`` where the word is line."""
        self._starts.append(self.rows)
        self._files.append((file, word, places))
        self._named.append(self._begun)
        self.rows += len(places)
        if self.rows > MOST_ROWS:
            raise UsageError(f"{file}: {MOST_ROWS:,} rows are the most; give fewer")
        for column in self.cells.values():
            column.skip(self.rows - len(column))

    def fill(self, source: str, columns: Mapping[str, Sequence[object]]) -> None:
        """Put columns of numbers, texts and None below the rows, all of one length.

        Raises
        ------
        UsageError
            When there is no column or row, columns differ in length, or a value is neither.
        """
        lengths = {len(cells) for cells in columns.values()}
        if len(lengths) > 1:
            described = ", ".join(f"{name} has {len(cells)}" for name, cells in columns.items())
            raise UsageError(f"{source}: the columns differ in length: {described}")
        if not lengths or lengths == {0}:
            raise UsageError(f"{source} contains no measurement")
        try:
            filled = self.begin(columns)
        except UsageError as error:
            raise UsageError(f"{source}: {error}") from error
        for column, cells in zip(filled, columns.values(), strict=True):
            for row, cell in enumerate(cells, 1):
                if isinstance(cell, str):
                    column.add(cell.strip())
                else:
                    column.add_number(_number(f"{source}, row {row}: {column.name}", cell))
        self.end(source, "row", range(1, lengths.pop() + 1))

    def place(self, row: int) -> str:
        """Say where a row stands."""
        number = bisect_right(self._starts, row) - 1
        file, word, places = self._files[number]
        return f"{file}, {word} {places[row - self._starts[number]]}"

    @property
    def files(self) -> list[tuple[str, int]]:
        """The files and how many rows each had."""
        return [(file, len(places)) for file, _, places in self._files]

    def files_without(self, column: str) -> list[str]:
        """Return the files that do not name a column."""
        return [
            file
            for (file, _, _), columns in zip(self._files, self._named, strict=True)
            if column not in columns
        ]

    def named(self, mapping: Sequence[tuple[str, str]]) -> NamedTable:
        """Return the columns the names that models know them by.

        Parameters
        ----------
        mapping
            Pairs of a file's column and a name; one column may have several.

        Raises
        ------
        UsageError
            For an unknown column, or two for one name.
        """
        names: dict[str, tuple[str, float]] = {}
        given = {column for column, _ in mapping}
        pairs = [*mapping, *((name, name) for name in self.cells if name not in given)]
        for column, name in pairs:
            if column not in self.cells:
                raise UsageError(
                    f"there is no column {shown(column)}; {meant(column, self.cells)}"
                    f"the columns are {listed(self.cells)}"
                )
            found = characteristic_of(name)
            known, factor = (name, 1.0) if found is None else found
            if column != name and found is not None and known == name:
                # A unit in the file's name counts, where the new one says nothing else.
                _, unit = unit_of(column)
                if unit.kind == {"bytes": "size", "ratio": "share"}.get(UNITS[known]):
                    factor = unit.factor
            if known in names:
                raise UsageError(
                    f"the columns {shown(names[known][0])} and {shown(column)} are both {known}; "
                    "keep one"
                )
            names[known] = (column, factor)
        return NamedTable(self, names)


@dataclass(frozen=True)
class NamedTable:
    """The columns of a table by the names that models know them by.

    Attributes
    ----------
    table
        As the files have it.
    names
        By name, the file's column and the factor to its unit.
    """

    table: OwnTable
    names: Mapping[str, tuple[str, float]]

    def cells(self, name: str) -> CellColumn:
        """Return the cells of a column.

        Raises
        ------
        UsageError
            When there is none.
        """
        if name not in self.names:
            raise UsageError(
                f"there is no column {shown(name)}; {meant(name, self.names)}"
                f"the columns are {listed(self.names)}"
            )
        return self.table.cells[self.names[name][0]]

    def numbers(self, name: str) -> FloatArray:
        """Return the numbers of a column, NaN where there is none; raises for a cell of words."""
        column, factor = self.names[name]
        cells = self.cells(name)
        return cells.numbers(self.table.place, size_factor(column, factor)) * factor

    def is_result(self, name: str) -> bool:
        """Return whether a column was measured: by its name, or because Drivelab exported it."""
        return is_result(name) or self.names[name][0] in self.table.results

    def groups(self, name: str) -> IntArray:
        """Return a number from 0 on for each row's group; a row whose cell is empty is its own."""
        known: dict[str, int] = {}
        words = self.cells(name).words()
        codes = [
            known.setdefault(text, len(known)) if text else -1 - row
            for row, text in enumerate(words)
        ]
        return np.unique(np.array(codes, dtype=np.int64), return_inverse=True)[1].astype(np.int64)


def _number(where: str, cell: Any) -> float:
    # pandas has a missing value of its own, which is equal to nothing and no number.
    if cell is None or type(cell).__name__ == "NAType":
        return math.nan
    try:
        return float(cell)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError) as error:
        raise UsageError(f"{where} is {shown(cell)}; give a number or a text") from error


def size_factor(name: str, factor: float = 1.0) -> float | None:
    """Return how many bytes the unit of a column is; None where it is not a size."""
    kind = unit_of(name)[1].kind
    if kind == "size":
        return unit_of(name)[1].factor
    return factor if kind == "" else None


def listed(names: Iterable[str], most: int = 20) -> str:
    """Return names with commas between them, the first of many."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def file_bytes(path: Path, what: str) -> bytes:
    """Read a file whole.

    Raises
    ------
    UsageError
        When it is none that can be read, or too large.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UsageError(f"{path} is a folder; name {what}")
        # Reading a pipe or a device may never end.
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is not a regular file; name {what}")
        if status.st_size > MOST_BYTES:
            raise UsageError(f"{path} is larger than 1 GiB; split it, or take fewer rows")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}; name {what}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {reason_unread(error)}") from error
