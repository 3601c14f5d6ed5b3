"""Reading workloads from any kind of table, and returning answers as the same kind.

This module never imports pandas or pyarrow by itself: a table of theirs exists only if the caller
has loaded the library.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from drivelab.api.measurements import Measurements
from drivelab.errors import UsageError
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.csv_design import column_places, value_of_cell, workload_of_cells
from drivelab.workloads.given import shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from drivelab.drives.measurement import Measurement

    FloatArray = NDArray[np.float64]


class ArrowTable(Protocol):
    """A table of any library: pandas, Polars and pyarrow have this method."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as a capsule of the Arrow C stream interface."""
        ...


#: Several workloads: a list of them or of measurements, or a table (a mapping of columns, a
#: DataFrame, anything with ``__arrow_c_stream__``).
ManyWorkloads: TypeAlias = (
    "Iterable[Characteristics] | Iterable[Measurement] | Mapping[str, Any] | ArrowTable"
)
Workloads: TypeAlias = "Characteristics | ManyWorkloads"

_WHERE = "the table"


def workloads_of(workloads: Workloads) -> list[Characteristics]:
    """Return workloads as a list.

    Raises
    ------
    UsageError
        When it is not a table of workloads, or a row is not a workload; the error names the row and
        the column.
    """
    if isinstance(workloads, Characteristics):
        return [workloads]
    columns = columns_of(workloads)
    if columns is None:
        return _listed(workloads)
    from drivelab.models.features import characteristics_of, effective_table

    return [characteristics_of(row) for row in effective_table(_table(columns))]


def workload_rows(workloads: Workloads) -> tuple[FloatArray, Callable[[dict[str, Any]], Any]]:
    """Return workloads as rows, and a function that makes a table of answers of the same kind.

    Returns
    -------
    array of shape (n, 8), callable
        Columns in the order of `FIELDS`, NaN for an empty cell. The callable takes a mapping of
        arrays. It returns a DataFrame with the same index for a DataFrame, a pyarrow table for an
        Arrow table, and the mapping itself otherwise.

    Raises
    ------
    UsageError
        As `workloads_of`.
    """
    columns = None if isinstance(workloads, Characteristics) else columns_of(workloads)
    if columns is None:
        from drivelab.models.features import workload_table

        listed = workloads_of(workloads)
        for row, workload in enumerate(listed):
            _validate(row, workload)
        return workload_table(listed), dict
    return _table(columns), maker_like(workloads)


def _listed(workloads: Any) -> list[Characteristics]:
    if isinstance(workloads, str | bytes) or not isinstance(workloads, Iterable):
        raise UsageError(
            f"{shown(workloads)} is not a workload; give Characteristics, a list of them, or a "
            "table"
        )
    listed: list[Any] = [getattr(one, "characteristics", one) for one in workloads]
    for place, one in enumerate(listed):
        if not isinstance(one, Characteristics):
            raise UsageError(f"workload {place} is {shown(one)}; give Characteristics")
    return listed


def _is_of(frame: object, library: str, name: str) -> bool:
    module = sys.modules.get(library)
    kind = getattr(module, name, None)
    return kind is not None and isinstance(frame, kind)


def columns_of(frame: Any) -> Mapping[str, Any] | None:
    """Return the columns of a table of any library by name; `None` if it is not a table."""
    if isinstance(frame, Mapping):
        return frame
    # Measurements are read as their workloads.
    if isinstance(frame, Measurements):
        return None
    if _is_of(frame, "pandas", "DataFrame"):
        return {str(name): frame[name] for name in frame.columns}
    if hasattr(frame, "__arrow_c_stream__"):
        table = _pyarrow().table(frame)
        return {name: table.column(name).to_pylist() for name in table.column_names}
    return None


def maker_like(frame: Any) -> Callable[[dict[str, Any]], Any]:
    """Return a function that turns columns into a table of the same kind, with the same index."""
    if isinstance(frame, Mapping):
        return dict
    if _is_of(frame, "pandas", "DataFrame"):
        return lambda columns: type(frame)(columns, index=frame.index)
    pyarrow = _pyarrow()
    # An unknown value is NaN in an array and null in Arrow.
    return lambda columns: pyarrow.table(
        {name: pyarrow.array(cells, from_pandas=True) for name, cells in columns.items()}
    )


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise UsageError(
            "reading an Arrow table needs pyarrow: `pip install pyarrow`, or give a mapping of "
            "columns"
        ) from error
    return pyarrow


def _table(columns: Mapping[str, Any]) -> FloatArray:
    """Read columns, which may also be single values; missing ones have their defaults."""
    import numpy as np

    from drivelab.workloads.csv_table import plausible

    given = [str(name) for name in columns]
    known = {name.removesuffix("_bytes") for name in given}
    missing = [name for name in FIELDS if name not in known]
    if len(missing) == len(FIELDS):
        raise UsageError(f"{_WHERE} has no column of workloads; allowed: {', '.join(FIELDS)}")
    places = column_places(_WHERE, [*given, *missing])
    cells = list(columns.values())
    defaults = dataclasses.asdict(Characteristics())
    read = {
        name: _numbers(name, cells[place] if place < len(cells) else defaults[name])
        for name, place in places.items()
    }
    lengths = {name: len(values) for name, values in read.items() if values.ndim}
    if len(set(lengths.values())) > 1:
        counted = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise UsageError(f"the columns differ in length: {counted}")
    rows = next(iter(lengths.values()), 1)
    table = np.column_stack([np.broadcast_to(read[name], rows) for name in FIELDS])
    wrong = np.flatnonzero(~plausible(table))
    if wrong.size:
        row = int(wrong[0])
        _refuse(row, dict(zip(FIELDS, table[row].tolist(), strict=True)))
    return table


def _numbers(name: str, cells: Any) -> FloatArray:
    """Read a column or a single value as numbers, NaN if empty; sizes may be text."""
    import numpy as np

    if isinstance(cells, str) or not hasattr(cells, "__len__"):
        return np.array(_number(f"{name} of {_WHERE}", name, cells))
    if getattr(getattr(cells, "dtype", None), "kind", "O") in "fiu":
        # A pandas column of integers with missing values is not an array, but its cells can be
        # read.
        with contextlib.suppress(TypeError, ValueError):
            return np.asarray(cells, dtype=np.float64)
    return np.array(
        [_number(f"row {row} of {_WHERE}", name, cell) for row, cell in enumerate(cells)],
        dtype=np.float64,
    )


def _number(where: str, name: str, cell: Any) -> float:
    if isinstance(cell, str):
        return float(value_of_cell(where, name, cell.strip()))
    # The missing value of pandas is not a number and equals nothing.
    if cell is None or type(cell).__name__ == "NAType":
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{where}: {name} is {shown(cell)}; give a number") from error


def _refuse(row: int, values: Mapping[str, float]) -> None:
    """Raise the error that says what is wrong with a row."""
    where = f"row {row} of {_WHERE}"
    # The usual checks need whole numbers as `int`; other values get a message of their own.
    texts = {
        name: "" if math.isnan(value) else f"{int(value)}" if value % 1 == 0 else repr(value)
        for name, value in values.items()
    }
    workload_of_cells(where, texts)
    raise UsageError(f"{where} is not a workload: {shown(dict(values))}")


def _validate(row: int, workload: Characteristics) -> None:
    try:
        workload.validate()
    except UsageError as error:
        raise UsageError(f"workload {row}: {error}") from error
