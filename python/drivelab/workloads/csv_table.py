"""Workloads of a CSV file as tables of numbers, block by block, for files of any length.

Columns, cells and errors are those of `drivelab.workloads.csv_design`. The native core reads plain
numbers; this module handles only rows with anything else. A block consists of whole lines of about
one MiB, so that memory does not grow with the file.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from drivelab._core import MAX_QUEUE_DEPTH, MAX_REQUEST_BYTES, SECTOR_BYTES, read_cells
from drivelab.errors import UsageError
from drivelab.named_file import reason_unread
from drivelab.workloads.characteristics import FIELDS, MAX_STRIDE_BYTES
from drivelab.workloads.csv_design import column_places, value_of_cell, workload_of_cells

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

BLOCK_BYTES: Final = 2**20
_COLUMN: Final = {name: number for number, name in enumerate(FIELDS)}


@dataclass(frozen=True)
class CsvBlock:
    """Whole lines of a file, and the number of the first line, counted from 1."""

    text: bytes
    first_line: int


class WorkloadCsv:
    """A file of workloads, one per row below the header row.

    Parameters
    ----------
    file
        A file opened for reading bytes; it is read once, from its current position.
    name
        Name for error messages.

    Raises
    ------
    UsageError
        When the header row is missing or wrong.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._line = 0
        names = self._names()
        self._places = column_places(f"{name}, line {self._line}", names)
        self._width = len(names)
        self._wanted = [self._places[field] for field in FIELDS]

    def blocks(self) -> Iterator[CsvBlock]:
        """Yield the lines below the header row in blocks."""
        while text := self._read(BLOCK_BYTES):
            if not text.endswith(b"\n"):
                text += self._read_line()
            yield CsvBlock(text, self._line + 1)
            self._line += text.count(b"\n")

    def table(self, block: CsvBlock) -> FloatArray:
        """Return the workloads of a block; several threads may call this at once.

        Returns
        -------
        array of shape (n, 8)
            Columns in the order of `FIELDS`; NaN for an empty cell.

        Raises
        ------
        UsageError
            For the first row that is not a workload: its line, the error and the allowed values.
        """
        cells, odd, bad = read_cells(block.text, self._width, self._wanted)
        if bad is not None:
            # A line above it may be wrong too; that one is reported first.
            row, problem = bad
            number = _line_numbers(block.text)[row]
            above = b"\n".join(block.text.split(b"\n")[:number])
            self.table(CsvBlock(above, block.first_line))
            raise UsageError(f"{self._name}, line {block.first_line + number}: {problem}")
        table = np.frombuffer(cells).reshape(-1, len(FIELDS)).copy()
        wrong = []
        for row, column, text in odd:
            try:
                table[row, column] = _value(FIELDS[column], text)
            except UsageError:
                wrong.append(row)
                break
        wrong += np.flatnonzero(~plausible(table))[:1].tolist()
        if wrong:
            self._refuse(block, min(wrong))
        return table

    def _refuse(self, block: CsvBlock, row: int) -> None:
        """Read a row again with the slow reader, which raises a precise error."""
        number = _line_numbers(block.text)[row]
        where = f"{self._name}, line {block.first_line + number}"
        line = block.text.split(b"\n")[number].decode("utf-8", errors="replace")
        with contextlib.suppress(csv.Error, ValueError, IndexError):
            (cells,) = csv.reader([line], skipinitialspace=True)
            named = {name: cells[place].strip() for name, place in self._places.items()}
            workload_of_cells(where, named)
        raise UsageError(
            f"{where}: this is not a workload; write plain numbers separated by commas"
        )

    def _names(self) -> list[str]:
        while line := self._read_line():
            self._line += 1
            where = f"{self._name}, line {self._line}"
            try:
                (names,) = csv.reader([line.decode("utf-8-sig")], skipinitialspace=True)
            except (UnicodeDecodeError, csv.Error, ValueError) as error:
                raise UsageError(
                    f"{where}: no names of columns; save the table as CSV in UTF-8"
                ) from error
            if any(name.strip() for name in names):
                return [name.strip() for name in names]
        raise UsageError(
            f"{self._name} contains no workload; write the names of the columns, and below them "
            "one workload per line"
        )

    def _read_line(self) -> bytes:
        try:
            line = self._file.readline(BLOCK_BYTES)
        except OSError as error:
            raise self._unreadable(error) from error
        if len(line) == BLOCK_BYTES and not line.endswith(b"\n"):
            raise UsageError(
                f"{self._name}: a line is longer than 1 MiB; write one workload a line"
            )
        return line

    def _read(self, count: int) -> bytes:
        try:
            return self._file.read(count)
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> UsageError:
        return UsageError(f"{self._name} cannot be read: {error.strerror or error}")


def open_csv(path: Path) -> BinaryIO:
    """Open a file of workloads; raise `UsageError` if it cannot be one."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UsageError(f"{path} is a folder; name a CSV file of workloads")
        # Reading a pipe or a device may never end.
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is not a regular file; name a CSV file of workloads")
        return path.open("rb")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}; name a CSV file of workloads") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {reason_unread(error)}") from error


@functools.lru_cache(maxsize=2**16)
def _value(name: str, text: str) -> float:
    return float(value_of_cell("", name, text))


def _line_numbers(text: bytes) -> list[int]:
    """Return the numbers, from 0, of the lines with at least one non-empty cell."""

    def is_row(line: bytes) -> bool:
        # The number of cells does not matter: a line with a wrong number is still a row.
        cells, _, bad = read_cells(line, 1, [0])
        return bool(cells) or bad is not None

    return [number for number, line in enumerate(text.split(b"\n")) if is_row(line)]


def plausible(table: FloatArray) -> BoolArray:
    """Return which rows are workloads, as judged by `Characteristics.validate`."""

    def within(name: str, low: float, high: float, step: float = 0) -> BoolArray:
        values = table[:, _COLUMN[name]]
        good = (values >= low) & (values <= high)
        if step:
            # Infinity has no remainder.
            with np.errstate(invalid="ignore"):
                good &= np.fmod(values, step) == 0
        return good

    write = table[:, _COLUMN["write_ratio"]]
    good = within("write_ratio", 0, 1) & within("queue_depth", 1, MAX_QUEUE_DEPTH, 1)
    for direction, share in (("read", 1 - write), ("write", write)):
        used = share > 0
        random = table[:, _COLUMN[f"{direction}_random"]]
        for kind, low, high, step, effective in (
            ("size", SECTOR_BYTES, MAX_REQUEST_BYTES, SECTOR_BYTES, used),
            ("random", 0, 1, 0, used),
            ("stride", 0, MAX_STRIDE_BYTES, SECTOR_BYTES, used & ~(random >= 1)),
        ):
            name = f"{direction}_{kind}"
            empty = np.isnan(table[:, _COLUMN[name]])
            good &= within(name, low, high, step) | (empty & ~effective)
    return good
