"""What drives cost, read from a table of prices."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError
from drivelab.named_file import read_text_file
from drivelab.near_names import meant
from drivelab.units import parse_size
from drivelab.workloads.given import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_REQUIRED: Final = ("drive", "price", "watts")
_COLUMNS: Final = (*_REQUIRED, "capacity")
_EXAMPLE: Final = "drive,price,watts and, if you like, capacity"
_MOST_BYTES: Final = 1 << 20
_MOST: Final = 1e12


@dataclass(frozen=True)
class Price:
    """The costs of one drive.

    Attributes
    ----------
    price
        Price in the table's own currency; more than 0.
    watts
        Power under load in watts; more than 0.
    capacity_bytes
        Capacity as sold; ``None`` if the table has no such column or cell.
    """

    price: float
    watts: float
    capacity_bytes: int | None


def read_prices(path: Path, drives: Sequence[str]) -> dict[str, Price]:
    """Read the rows of these drives. Other rows are checked too, then dropped.

    Raises
    ------
    UsageError
        When the file is no such table, or a drive has no row. The message names line, column and
        the allowed values.
    """
    text = read_text_file(path, "a table of prices", _MOST_BYTES, f"write one with {_EXAMPLE}")
    rows = csv.reader(io.StringIO(text), strict=True)
    try:
        names = [name.strip() for name in next(rows, [])]
        _check_columns(path, names)
        found: dict[str, Price] = {}
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            where = f"{path}, line {rows.line_num}"
            if len(row) != len(names):
                raise UsageError(
                    f"{where}: {len(row)} cells under {len(names)} columns; allowed: one each"
                )
            cells = {name: cell.strip() for name, cell in zip(names, row, strict=True)}
            if not cells["drive"].isprintable():
                raise UsageError(
                    f"{where}: the drive {shown(cells['drive'])} contains characters that "
                    "cannot be printed; write it as on the command line"
                )
            if cells["drive"] in found:
                raise UsageError(f"{where}: {cells['drive']} has a row already; leave one")
            found[cells["drive"]] = _price_of(cells, where)
    except csv.Error as error:
        raise UsageError(f"{path}, line {rows.line_num}: no CSV: {error}") from error
    for drive in drives:
        if drive not in found:
            raise UsageError(
                f"{path} has no row for {drive}; {meant(drive, found)}add a line with its price "
                "and watts, the drive written as on the command line"
            )
    return {drive: found[drive] for drive in drives}


def _check_columns(path: Path, names: Sequence[str]) -> None:
    for name in _REQUIRED:
        if name not in names:
            raise UsageError(f"{path}, line 1: no column {name}; allowed: {_EXAMPLE}")
    for name in names:
        if name not in _COLUMNS or names.count(name) > 1:
            problem = "twice" if name in _COLUMNS else "unknown"
            raise UsageError(
                f"{path}, line 1: column {shown(name)} is {problem}; {meant(name, _COLUMNS)}"
                f"allowed: {_EXAMPLE}"
            )


def _price_of(cells: Mapping[str, str], where: str) -> Price:
    numbers = {name: _number(cells[name], f"{where}: {name}") for name in ("price", "watts")}
    capacity = cells.get("capacity") or None
    size = None
    if capacity is not None:
        try:
            size = parse_size(capacity)
        except UsageError as error:
            raise UsageError(f"{where}: capacity: {error}") from error
        if size == 0:
            raise UsageError(f"{where}: capacity is 0; allowed: more, such as 1.92TB")
    return Price(capacity_bytes=size, **numbers)


def _number(cell: str, where: str) -> float:
    try:
        number = float(cell) if cell.isascii() and "_" not in cell else math.nan
    except ValueError:
        number = math.nan
    if not 0 < number <= _MOST:
        raise UsageError(f"{where} is {shown(cell)}; allowed: a number above 0, such as 129.90")
    return number
