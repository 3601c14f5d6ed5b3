"""The content of a column's cells: numbers, sizes with a unit, words, or nothing.

The type of a column is decided at its end. If most cells are numbers, any other cell is reported as
a mistake; if few are, all cells are words.
"""

from __future__ import annotations

import math
import re
import sys
from array import array
from collections.abc import Callable
from typing import Final

import numpy as np

from drivelab.errors import UsageError
from drivelab.models.features import FloatArray
from drivelab.units import parse_size
from drivelab.workloads.given import shown

#: What says that there is no value, in any letters.
MISSING: Final = ("", "nan", "na", "n/a", "null", "-")
#: A number that is not 0 lies between these: beyond, squares leave double precision.
LEAST: Final = 1e-30
MOST: Final = 1e30

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]+)?")
_INFINITE: Final = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_SIZE: Final = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})? ?(?:[kKMGT](?:i?B)?|B)")
# Up to this many different texts are parsed only once.
_REMEMBERED: Final = 2**16


class CellColumn:
    """The cells of one column, row by row.

    Parameters
    ----------
    name
        Of the column.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._values = array("d")
        self._odd: dict[int, str] = {}
        self._present = 0
        self._known: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._values)

    def add(self, text: str) -> None:
        """Take the text of the next row."""
        value = self._known.get(text)
        if value is None:
            value = self._read(text)
            if value is not None and len(self._known) < _REMEMBERED:
                self._known[text] = value
        if value is None:
            self._odd[len(self._values)] = sys.intern(" ".join(text.split()))
            value = math.nan
            self._present += 1
        elif not math.isnan(value):
            self._present += 1
        self._values.append(value)

    def add_number(self, value: float) -> None:
        """Take the number of the next row, NaN where there is none."""
        if not math.isnan(value):
            self._present += 1
            if not _is_within(value):
                self._odd[len(self._values)] = f"{value:g}"
                value = math.nan
        self._values.append(value)

    def skip(self, rows: int) -> None:
        """Leave so many rows empty."""
        self._values.extend([math.nan] * rows)

    @property
    def is_empty(self) -> bool:
        """Whether no row has anything."""
        return self._present == 0

    @property
    def is_words(self) -> bool:
        """Whether its cells are words: more than half of those that hold something are not numbers.

        What is a number too large is not a word.
        """
        words = sum(not _is_number(text) for text in self._odd.values())
        return 2 * words > self._present

    def numbers(self, place: Callable[[int], str], size_factor: float | None = 1.0) -> FloatArray:
        """Return the numbers, NaN where a cell is empty, shape (n,).

        Parameters
        ----------
        place
            Says where a row stands.
        size_factor
            Bytes of the column's unit, for cells such as ``64KiB``; None where it is not a size.

        Raises
        ------
        UsageError
            For the first cell that is not a number.
        """
        values = np.array(self._values, dtype=np.float64)
        for row, text in self._odd.items():
            if size_factor is not None and _SIZE.fullmatch(text):
                values[row] = _size_of(text) / size_factor
                if _is_within(values[row]):
                    continue
            where = f"{place(row)}: {self.name} is {shown(text)}"
            if _is_number(text):
                raise UsageError(f"{where}; numbers are 0, or {LEAST:g} to {MOST:g} in size")
            raise UsageError(
                f"{where}; a number is expected, as in most rows; leave the cell empty where there "
                "is none"
            )
        return values

    def words(self) -> list[str]:
        """Return the text of every row, empty where there is none."""
        return [
            self._odd.get(row, "" if math.isnan(value) else f"{value:.15g}")
            for row, value in enumerate(self._values)
        ]

    def _read(self, text: str) -> float | None:
        if _NUMBER.fullmatch(text):
            value = float(text)
            return value if _is_within(value) else None
        return math.nan if text.lower() in MISSING else None


def cell_number(name: str, text: str, size_factor: float | None = 1.0) -> float:
    """Read one value that somebody gives, NaN for a missing one.

    Raises
    ------
    UsageError
        When it is not a number.
    """
    column = CellColumn(name)
    column.add(text.strip())
    if column.is_words and not (size_factor is not None and _SIZE.fullmatch(text.strip())):
        raise UsageError(f"{name} is {shown(text)}; give a number")
    return float(column.numbers(lambda _: "what is asked", size_factor)[0])


def _is_within(value: float) -> bool:
    return value == 0 or LEAST <= abs(value) <= MOST


def _is_number(text: str) -> bool:
    return any(kind.fullmatch(text) is not None for kind in (_NUMBER, _INFINITE, _SIZE))


def _size_of(text: str) -> float:
    try:
        return float(parse_size(text))
    except UsageError:
        return math.inf
