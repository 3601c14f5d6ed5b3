"""A forecast of a trace as numbers: of the whole, and a row a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.exhibits import Table
from drivelab.exhibits.quantities import PROVENANCE
from drivelab.workloads.characteristics import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.models.features import FloatArray
    from drivelab.models.trace_forecast import TraceForecast
    from drivelab.workloads.trace import Trace

_OPERATIONS: Final = ("read", "write")
# Six digits are far below any error.
_DIGITS: Final = 6
_COUNTS: Final = {
    *("begin_ns", "asked_requests", "asked_bytes", "requests", "bytes", "late_requests"),
    *("read_requests", "write_requests", "due_requests"),
}
_SWITCHES: Final = {"saturated", "outside_training"}


def forecast_answer(
    forecast: TraceForecast, trace: Trace, provenance: Mapping[str, Any], model: str | None
) -> dict[str, Any]:
    """Return what ``predict --trace --json`` prints.

    Parameters
    ----------
    forecast, trace
        The result and the question.
    provenance
        Of the model; whoever wrote its file may have written anything there.
    model
        Where its file is; ``None`` of one in memory.
    """
    drive = provenance.get("drive")
    name, kind = (
        value if isinstance(drive, dict) and isinstance(value := drive.get(key), str) else None
        for key in ("name", "kind")
    )
    return {
        "model": model,
        "drive": name,
        "kind": kind if kind in PROVENANCE else None,
        "trace": trace.to_json(),
        **forecast_values(forecast),
    }


def forecast_values(forecast: TraceForecast) -> dict[str, Any]:
    """Return what ``predict --trace --json`` prints of a forecast (docs/json-trace.md)."""
    requests = forecast.requests.sum(axis=0)
    latency = np.nan_to_num(forecast.latency_ns_mean) * forecast.requests
    late = float(forecast.late_requests.sum())
    total = float(requests.sum())
    return {
        "window_ns": forecast.window_ns,
        "requests": int(total),
        "latency_ns_mean": float(latency.sum()) / total,
        **{
            name: {
                "requests": int(count),
                "latency_ns_mean": float(spent) / count if count else None,
            }
            for name, count, spent in zip(_OPERATIONS, requests, latency.sum(axis=0), strict=True)
        },
        "late_ratio": late / total,
        "late_ns_mean": float(forecast.late_ns.sum()) / total,
        "window_count": len(forecast.begin_ns),
        "saturated_windows": int(forecast.saturated.sum()),
        "outside_windows": int(forecast.outside.sum()),
        "windows": {
            name: [_cell(name, value) for value in values]
            for name, values in _columns(forecast).items()
        },
    }


def forecast_table(forecast: TraceForecast) -> Table:
    """Return the windows, a row each; an empty cell is unknown."""
    columns = _columns(forecast)
    rows = zip(
        *([_cell(name, value) for value in values] for name, values in columns.items()),
        strict=True,
    )
    return Table("windows", tuple(columns), tuple(rows), _DIGITS)


def _columns(forecast: TraceForecast) -> dict[str, FloatArray]:
    names = [f"{name}_bytes" if name.endswith(("_size", "_stride")) else name for name in FIELDS]
    return {
        "begin_ns": forecast.begin_ns,
        "asked_requests": forecast.asked_requests,
        "asked_bytes": forecast.asked_bytes,
        **dict(zip(names, forecast.characteristics.T, strict=True)),
        "requests": forecast.completed,
        "bytes": forecast.bytes.sum(axis=1),
        "read_requests": forecast.requests[:, 0],
        "write_requests": forecast.requests[:, 1],
        "latency_ns_mean": forecast.latency_ns,
        "read_latency_ns_mean": forecast.latency_ns_mean[:, 0],
        "write_latency_ns_mean": forecast.latency_ns_mean[:, 1],
        "latency_ns_max": np.fmax(*forecast.latency_ns_max.T),
        "iops": forecast.iops,
        "bandwidth_bytes_per_second": forecast.bandwidth_bytes_per_second,
        "due_requests": forecast.due_requests,
        "late_requests": forecast.late_requests,
        "saturated": forecast.saturated.astype(float),
        "outside_training": forecast.outside.astype(float),
    }


def _cell(name: str, value: float) -> float | int | bool | None:
    if np.isnan(value):
        return None
    if name in _SWITCHES:
        return bool(value)
    return round(value) if name in _COUNTS else float(value)
