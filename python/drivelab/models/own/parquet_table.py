"""A Parquet file as a table, by pyarrow where it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from drivelab.errors import UsageError
from drivelab.models.own.table import MOST_ROWS, OwnTable, file_bytes

#: How a Parquet file begins.
MAGIC: Final = b"PAR1"


def read_parquet(path: Path, table: OwnTable) -> None:
    """Put the rows of a Parquet file below those of a table.

    Columns of numbers, truth values and texts are read; others, such as lists, are left out.

    Raises
    ------
    UsageError
        When pyarrow is not installed, or the file cannot be read.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(
            f"reading {path} needs pyarrow: `pip install pyarrow`, or save the table as CSV"
        ) from error
    data = file_bytes(path, "a Parquet file of measurements")
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
        rows = file.metadata.num_rows
        if rows > MOST_ROWS:
            raise UsageError(f"{path}: {MOST_ROWS:,} rows are the most; give fewer")
        schema = file.schema_arrow
        names = [one.name for one in schema if _is_read(one.type)]
        left_out = [one.name for one in schema if not _is_read(one.type)]
        columns = [file.read(columns=[name]).column(0).to_pylist() for name in names]
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
        said = " ".join(str(error).split())[:200]
        raise UsageError(f"{path} is not a Parquet file that can be read: {said}") from error
    if not names:
        raise UsageError(f"{path} contains no column of numbers or text")
    table.fill(str(path), dict(zip(names, columns, strict=True)))
    if left_out:
        table.remarks.append(
            f"{path}: columns that are not numbers or texts: {', '.join(left_out)}"
        )


def _is_read(kind: Any) -> bool:
    import pyarrow

    types = pyarrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        is_kind(kind)
        for is_kind in (
            *(types.is_integer, types.is_floating, types.is_boolean, types.is_decimal),
            *(types.is_string, types.is_large_string, types.is_null),
        )
    )
