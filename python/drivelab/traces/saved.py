"""Windows of a trace as files: one row each, with units in the columns' names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab._core import parquet_table
from drivelab.csv_text import csv_text

if TYPE_CHECKING:
    from drivelab.traces.characterization import Characterization

#: Names in the files, if the core's own name says too little.
_NAMES: Final = {
    "counted_most": "most_requests_in_100ms",
    "dispersion": "index_of_dispersion_100ms",
    "gap_cv": "interarrival_variation",
    "footprint_bytes": "touched_bytes",
    "footprint_so_far_bytes": "touched_so_far_bytes",
}
_OPERATIONS: Final = ("read", "write", "trim", "flush", "other")
_COUNTS: Final = {
    *(f"{name}_{what}" for name in _OPERATIONS for what in ("requests", "bytes")),
    *("counted_most", "responses", "begin_ns", "duration_ns"),
    *(f"{part}_ns_{what}" for part in ("response", "queue", "device") for what in ("p50", "p99")),
    *(f"{part}_ns_max" for part in ("response", "queue", "device")),
}


def window_columns(trace: Characterization) -> list[tuple[str, str, list[Any]]]:
    """Return name, kind (``integer`` or ``real``) and cells of each column; None if unknown."""
    columns = []
    for name, values in trace.windows.items():
        is_count = name in _COUNTS
        cells = [
            None if np.isnan(value) else int(value) if is_count else float(value)
            for value in values
        ]
        columns.append((_NAMES.get(name, name), "integer" if is_count else "real", cells))
    return columns


def windows_csv(trace: Characterization) -> str:
    """Return the windows as CSV."""
    columns = window_columns(trace)
    rows = zip(*(cells for _, _, cells in columns), strict=True)
    return csv_text([name for name, _, _ in columns], rows)


def windows_parquet(trace: Characterization) -> bytes:
    """Write the windows as Parquet, with the trace they are from."""
    about = {"files": trace.checks["files"], "format": trace.checks["format"]}
    properties = [(f"drivelab.{name}", json.dumps(value)) for name, value in about.items()]
    return parquet_table(window_columns(trace), properties)
