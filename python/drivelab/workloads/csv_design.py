"""A user's own design: a CSV file with one workload per row.

Columns have the names of the characteristics, in any order. Sizes and strides may have a unit
(``64KiB``), and their columns may end in ``_bytes``. An empty cell means that the characteristic
has no effect. A run's ``measurements.csv`` is such a file too; its results are ignored. Every error
names the file, the line and what to do.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from drivelab.errors import UsageError
from drivelab.named_file import reason_unread
from drivelab.near_names import meant
from drivelab.units import parse_size
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.given import shown
from drivelab.workloads.listed import ListedDesign

SUFFIX: Final = ".csv"
MAX_FILE_BYTES: Final = 256 * 2**20
MAX_ROWS: Final = 1_000_000

_SIZES: Final = tuple(name for name in FIELDS if name.endswith(("_size", "_stride")))
_RATIO: Final = re.compile(r"[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?|\.[0-9]{1,20}")
# Some programs write a column of whole numbers with gaps as 4.0.
_WHOLE: Final = re.compile(r"([0-9]{1,18})(?:\.0{0,20})?")
# No longer text is a number; it would only fill the message.
_LONGEST_NUMBER: Final = 60
# A run's export begins with these columns; the others depend on the drive.
_EXPORT_BEGINS: Final = ["drive", "drive_kind", "index"]


def csv_design(path_text: str) -> ListedDesign:
    """Read a file of workloads.

    Raises
    ------
    UsageError
        When the file cannot be read, or a row is not a workload.
    """
    data = _read(Path(path_text))
    workloads = [row.workload for row in _rows(path_text, data, ())]
    digest = hashlib.sha256(data).hexdigest()
    population = f"the {len(workloads)} rows of {path_text} (SHA-256 {digest[:16]})"
    return ListedDesign(path_text, workloads, population, calibrates=True)


@dataclass(frozen=True)
class Row:
    """A row of a file of workloads.

    Attributes
    ----------
    where
        The file and the line, for errors.
    workload
        The workload.
    cells
        Texts of the further columns by name, without surrounding space.
    """

    where: str
    workload: Characteristics
    cells: Mapping[str, str]


def csv_rows(path_text: str, others: Sequence[str]) -> list[Row]:
    """Read a file of workloads that may have these further columns.

    Raises
    ------
    UsageError
        As `csv_design`.
    """
    return _rows(path_text, _read(Path(path_text)), others)


def _rows(path_text: str, data: bytes, others: Sequence[str]) -> list[Row]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{path_text}, line {line}: not UTF-8 text; save the table as CSV in UTF-8"
        ) from error
    rows = list(_each_row(path_text, text, others))
    if not rows:
        raise UsageError(
            f"{path_text} contains no workload; write one per line below the column names"
        )
    return rows


def _read(path: Path) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UsageError(f"{path} is a folder; name a CSV file of workloads")
        # Reading a pipe or a device may never end.
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is not a regular file; name a CSV file of workloads")
        if status.st_size > MAX_FILE_BYTES:
            raise UsageError(
                f"{path} is larger than 256 MiB; {MAX_ROWS:,} workloads are the most: split it"
            )
        return path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}; name a CSV file of workloads") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {reason_unread(error)}") from error


def _each_row(path: str, text: str, others: Sequence[str]) -> Iterator[Row]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    places: Mapping[str, int] | None = None
    columns = 0
    count = 0
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            where = f"{path}, line {rows.line_num}"
            if places is None:
                places, columns = column_places(where, cells, others), len(cells)
                continue
            count += 1
            if count > MAX_ROWS:
                raise UsageError(f"{where}: {MAX_ROWS:,} workloads are the most: split the file")
            if len(cells) != columns:
                raise UsageError(
                    f"{where}: {len(cells)} cells where {columns} columns are named; write a "
                    "cell, which may be empty, for each"
                )
            named = {name: cells[place] for name, place in places.items()}
            further = {name: named.pop(name) for name in others if name in named}
            yield Row(where, workload_of_cells(where, named), further)
    except csv.Error as error:
        raise UsageError(
            f"{path}, line {rows.line_num}: {error}; write plain numbers separated by commas"
        ) from error


def column_places(where: str, names: Sequence[str], others: Sequence[str] = ()) -> dict[str, int]:
    """Return the position of each characteristic's column in the header row.

    Parameters
    ----------
    where
        The file and the line, for errors.
    names
        The header row.
    others
        Further columns that may be there, and are returned too.

    Raises
    ------
    UsageError
        When a column is missing or repeated, or is unknown and not from a run's export.
    """
    if len(names) == 1 and re.search("[;\t|]", names[0]):
        raise UsageError(f"{where}: no commas; separate the columns by commas")
    places: dict[str, int] = {}
    for place, written in enumerate(names):
        name = written
        if written not in others:
            name = written.removesuffix("_bytes") if written.endswith("_bytes") else written
            if name not in FIELDS or (written != name and name not in _SIZES):
                if names[:3] == _EXPORT_BEGINS:
                    continue
                raise UsageError(f"{where}: {_unknown(written, others)}")
        if name in places:
            raise UsageError(f"{where}: two columns are {name}; keep one")
        places[name] = place
    missing = [name for name in FIELDS if name not in places]
    if missing:
        raise UsageError(f"{where}: no column {', '.join(missing)}; needed are {', '.join(FIELDS)}")
    return places


def _unknown(written: str, others: Sequence[str]) -> str:
    guess = meant(written, (*FIELDS, *others), 1)
    further = f"; {', '.join(others)}" if others else ""
    return (
        f"{shown(written)} is not a column of workloads; {guess}allowed: {', '.join(FIELDS)}, "
        f"sizes and strides also with _bytes{further}; or a run's whole measurements.csv"
    )


def workload_of_cells(where: str, cells: Mapping[str, str]) -> Characteristics:
    """Read a workload from the cells of a row, given by characteristic.

    Raises
    ------
    UsageError
        Begins with `where`, and names the characteristic and the allowed values.
    """
    values: dict[str, float | int] = {}
    for name, text in cells.items():
        if text:
            values[name] = value_of_cell(where, name, text)
    for name in ("write_ratio", "queue_depth"):
        if name not in values:
            raise UsageError(f"{where}: {name} is empty; write {_example(name)}")
    try:
        # An empty cell gets the default, which stays if the characteristic has no effect.
        workload = Characteristics(**values)  # type: ignore[arg-type]
        workload.validate()
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    for name, value in workload.canonical().items():
        if value is not None and name not in values:
            raise UsageError(
                f"{where}: {name} is empty, but has an effect in this workload; write "
                f"{_example(name)}"
            )
    return workload


def value_of_cell(where: str, name: str, text: str) -> float | int:
    """Read a characteristic from a non-empty cell; raises `UsageError` as above."""
    if name in _SIZES:
        try:
            return parse_size(text[:_LONGEST_NUMBER])
        except UsageError as error:
            raise UsageError(f"{where}: {name}: {error}") from error
    if name == "queue_depth":
        whole = _WHOLE.fullmatch(text)
        if whole is None:
            raise UsageError(
                f"{where}: queue_depth is {shown(text)}; allowed: a whole number from 1"
            )
        return int(whole[1])
    if _RATIO.fullmatch(text) is None:
        raise UsageError(f"{where}: {name} is {shown(text)}; allowed: a ratio from 0 to 1")
    return float(text)


def _example(name: str) -> str:
    if name in _SIZES:
        return "a size such as 64KiB" if name.endswith("_size") else "0 (sequential) or a gap"
    return "a whole number from 1" if name == "queue_depth" else "a ratio from 0 to 1"
