"""A run's measurements as one plain table, the same bytes for the same configuration.

Every kind of run is exported by this; a kind says what its rows are (`RunKind.rows`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from drivelab._core import parquet_table
from drivelab.csv_text import csv_text
from drivelab.outputs import OutputFolder
from drivelab.runs.columns import Rows, histogram_columns, scalar_columns
from drivelab.runs.header import run_of
from drivelab.runs.kind import RunKind

EXPORT: Final = "measurements.csv"
#: What an export is, as an output.
KIND: Final = "measurements"


def write_measurements(
    rows: Rows, path: Path, header: Mapping[str, Any], *, force: bool = False
) -> Path:
    """Write ``measurements.csv`` into a run folder, whole or not at all; give its path.

    Parameters
    ----------
    rows
        What the run exports.
    path
        The run folder.
    header
        The run's.
    force
        Whether a file that somebody changed is replaced.
    """
    text = measurements_csv(rows, header["drive"])
    return OutputFolder.of_run(path, run_of(header), force=force).write(EXPORT, KIND, text)


def measurements_csv(rows: Rows, drive: Mapping[str, Any]) -> str:
    """Return one row a measurement in the order given; `scalar_columns` says which columns."""
    columns = scalar_columns(rows, drive)
    cells = zip(*(column.cells for column in columns), strict=True)
    return csv_text([column.name for column in columns], cells)


def measurements_parquet(rows: Rows, kind: RunKind, header: Mapping[str, Any]) -> bytes:
    """Return the columns of the CSV and the latency histograms as a Parquet file.

    What identifies a run of this kind, such as drive, design and plan of a campaign, is kept in
    the file, as JSON under its names. Who measured it when is not part of the table.
    """
    columns = [*scalar_columns(rows, header["drive"]), *histogram_columns(rows)]
    return parquet_table(
        [(column.name, column.kind, column.cells) for column in columns],
        [(f"drivelab.{key}", json.dumps(header[key], sort_keys=True)) for key in kind.compared],
    )
