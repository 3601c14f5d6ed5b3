"""A run's measurements as columns: the same names, order and cells in every export.

An empty cell says that there is no such thing: a characteristic without effect, a direction
without requests, a counter that this drive does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from drivelab._core import histogram_range
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.workloads.characteristics import FIELDS
from drivelab.workloads.parts import Parts

Kind = Literal["text", "integer", "real", "integers"]
Direction = Literal["read", "write"]

PERCENTILES: Final = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9}
_RATIOS: Final = ("write_ratio", "read_random", "write_random")


@dataclass(frozen=True)
class Column:
    """One value of each measurement.

    Attributes
    ----------
    name
        The unit last.
    kind
        Of its cells.
    cells
        One a measurement, `None` where it is empty.
    """

    name: str
    kind: Kind
    cells: list[Any]


def scalar_columns(
    measurements: Sequence[Measurement], drive: Mapping[str, Any], parts: Parts | None = None
) -> list[Column]:
    """Give everything about each measurement that is one value.

    Parameters
    ----------
    measurements
        In the order of the rows.
    drive
        Of the run's header: its ``name`` and ``kind`` begin each row, because numbers of a
        simulated drive must not be taken for measured ones.
    parts
        What the measurements are for; empty cells without them.
    """

    def part_of(one: Measurement) -> str | None:
        return None if parts is None else parts.part_of(one.index)

    described: list[tuple[str, Kind, Callable[[Measurement], Any]]] = [
        ("drive", "text", lambda _: drive["name"]),
        ("drive_kind", "text", lambda _: drive["kind"]),
        ("index", "integer", lambda one: one.index),
        ("part", "text", part_of),
    ]
    described += [(*_named(name), partial(_characteristic, name)) for name in FIELDS]
    described += [
        ("duration_ns", "integer", lambda one: one.duration_ns),
        ("requests", "integer", lambda one: one.requests),
        ("stopped_by", "text", lambda one: one.stopped_by),
        ("latency_ns_mean", "real", lambda one: one.latency_ns_mean),
        ("latency_half_width_ratio", "real", lambda one: one.half_width_ratio),
        ("bandwidth_bytes_per_second", "real", lambda one: one.bandwidth_bytes_per_second),
        ("iops", "real", lambda one: one.iops),
    ]
    described += [
        (f"latency_ns_{name}", "integer", partial(_percentile, percent))
        for name, percent in PERCENTILES.items()
    ]
    for direction in ("read", "write"):
        described += [
            (f"{direction}_{name}", kind, partial(_result, direction, name))
            for name, kind in _RESULTS.items()
        ]
    described += [
        (name, "real", partial(_extra, name))
        for name in sorted({name for one in measurements for name in one.extra})
    ]
    return [Column(name, kind, [of(one) for one in measurements]) for name, kind, of in described]


def histogram_columns(measurements: Sequence[Measurement]) -> list[Column]:
    """Give the latencies of each direction, counted: lists of bins and of requests in them.

    A bin counts latencies from its first to its last nanosecond; bins without requests are
    left out.
    """
    columns = []
    for direction in ("read", "write"):
        found = [getattr(one, direction) for one in measurements]
        for name, of in _BINS.items():
            cells = [None if result is None else of(result) for result in found]
            columns.append(Column(f"{direction}_latency_bin_{name}", "integers", cells))
    return columns


_RESULTS: Final[dict[str, Kind]] = {
    "requests": "integer",
    "bytes": "integer",
    "latency_ns_mean": "real",
    "latency_ns_min": "integer",
    "latency_ns_max": "integer",
}
_BINS: Final[dict[str, Callable[[OperationResult], list[int]]]] = {
    "first_ns": lambda result: [histogram_range(number)[0] for number in sorted(result.histogram)],
    "last_ns": lambda result: [histogram_range(number)[1] for number in sorted(result.histogram)],
    "requests": lambda result: [result.histogram[number] for number in sorted(result.histogram)],
}


def _named(characteristic: str) -> tuple[str, Kind]:
    if characteristic in _RATIOS:
        return characteristic, "real"
    ending = "_bytes" if characteristic.endswith(("_size", "_stride")) else ""
    return f"{characteristic}{ending}", "integer"


def _characteristic(name: str, measurement: Measurement) -> float | int | None:
    return measurement.characteristics.canonical()[name]


def _percentile(percent: float, measurement: Measurement) -> int:
    return measurement.percentile_ns(percent)


def _result(direction: Direction, name: str, measurement: Measurement) -> Any:
    result = getattr(measurement, direction)
    return None if result is None else getattr(result, name)


def _extra(name: str, measurement: Measurement) -> float | None:
    return measurement.extra.get(name)
