"""A run's measurements as one plain table, the same bytes for the same configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from drivelab._core import parquet_table
from drivelab.campaign.columns import histogram_columns, scalar_columns
from drivelab.csv_text import csv_text
from drivelab.drives.measurement import Measurement
from drivelab.outputs import OutputFolder
from drivelab.runs.header import run_of
from drivelab.workloads.parts import Parts

EXPORT: Final = "measurements.csv"
#: What an export is, as an output.
KIND: Final = "measurements"
# What identifies a run; who measured it when is no part of the table.
_IDENTIFYING: Final = ("drive", "design", "plan")


def write_measurements(
    measurements: Sequence[Measurement],
    path: Path,
    header: Mapping[str, Any],
    *,
    force: bool = False,
) -> Path:
    """Write ``measurements.csv`` into a run folder, whole or not at all; give its path.

    Parameters
    ----------
    measurements
        In the order of the rows.
    path
        The run folder.
    header
        The run's.
    force
        Whether a file that somebody changed is replaced.
    """
    text = measurements_csv(measurements, header["drive"], _parts(header))
    return OutputFolder.of_run(path, run_of(header), force=force).write(EXPORT, KIND, text)


def measurements_csv(
    measurements: Sequence[Measurement], drive: Mapping[str, Any], parts: Parts | None = None
) -> str:
    """Give one row a measurement in the order given; `scalar_columns` says which columns."""
    columns = scalar_columns(measurements, drive, parts)
    rows = zip(*(column.cells for column in columns), strict=True)
    return csv_text([column.name for column in columns], rows)


def measurements_parquet(measurements: Sequence[Measurement], header: Mapping[str, Any]) -> bytes:
    """Give the columns of the CSV and the latency histograms as a Parquet file.

    Drive, design and plan are kept in the file, as JSON under their names.
    """
    columns = scalar_columns(measurements, header["drive"], _parts(header))
    columns += histogram_columns(measurements)
    return parquet_table(
        [(column.name, column.kind, column.cells) for column in columns],
        [(f"drivelab.{key}", json.dumps(header[key], sort_keys=True)) for key in _IDENTIFYING],
    )


def _parts(header: Mapping[str, Any]) -> Parts:
    return Parts.from_json(header["design"]["parts"])
