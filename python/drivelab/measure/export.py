"""A run's measurements as one plain table, the same bytes for the same configuration."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from drivelab.drives.measurement import Measurement, OperationResult
from drivelab.whole_file import write_whole

EXPORT: Final = "measurements.csv"
PERCENTILES: Final = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9}


def write_measurements(
    measurements: Sequence[Measurement], path: Path, drive: Mapping[str, Any]
) -> Path:
    """Write ``measurements.csv`` into a run folder, whole or not at all; give its path.

    Parameters
    ----------
    measurements
        In the order of the rows.
    path
        The run folder.
    drive
        Of the run's header: its ``name`` and ``kind`` begin each row, because numbers of a
        simulated drive must not be taken for measured ones.
    """
    target = path / EXPORT
    write_whole(target, measurements_csv(measurements, drive))
    return target


def measurements_csv(measurements: Sequence[Measurement], drive: Mapping[str, Any]) -> str:
    """Give one row a measurement in the order given, units in the names of the columns."""
    extras = sorted({name for measurement in measurements for name in measurement.extra})
    origin = {"drive": drive["name"], "drive_kind": drive["kind"]}
    rows = [origin | _row(measurement) for measurement in measurements]
    columns = [*dict.fromkeys(name for row in rows for name in row), *extras]
    text = io.StringIO()
    table = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    table.writeheader()
    for row, measurement in zip(rows, measurements, strict=True):
        table.writerow(row | measurement.extra)
    return text.getvalue()


def _row(measurement: Measurement) -> dict[str, Any]:
    row: dict[str, Any] = {"index": measurement.index}
    row |= {
        f"{name}_bytes" if name.endswith(("_size", "_stride")) else name: value
        for name, value in measurement.characteristics.to_json().items()
    }
    row |= {
        "duration_ns": measurement.duration_ns,
        "requests": measurement.requests,
        "latency_ns_mean": measurement.latency_ns_mean,
        "bandwidth_bytes_per_second": measurement.bandwidth_bytes_per_second,
        "iops": measurement.iops,
    }
    row |= {
        f"latency_ns_{name}": measurement.percentile_ns(percent)
        for name, percent in PERCENTILES.items()
    }
    for direction in ("read", "write"):
        row |= _direction(direction, getattr(measurement, direction))
    return row


def _direction(direction: str, result: OperationResult | None) -> dict[str, Any]:
    if result is None:
        return dict.fromkeys(
            (f"{direction}_requests", f"{direction}_bytes", f"{direction}_latency_ns_mean"), ""
        )
    return {
        f"{direction}_requests": result.requests,
        f"{direction}_bytes": result.bytes,
        f"{direction}_latency_ns_mean": result.latency_ns_mean,
    }
